"""The command ``halfnoise``: thin; every word it takes is one of the library's."""

import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib.metadata import version as installed
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from halfnoise.checks import refuse, whole_number
from halfnoise.cli.books import app as ledger_app
from halfnoise.cli.books import booked, one_of_them, told
from halfnoise.cli.checking import Checked, checked, part_of, planned, rehearsed
from halfnoise.cli.findings import to_dict, to_text
from halfnoise.cli.leaving import left_properly
from halfnoise.cli.options import CHECK, PLAN, RELEASE, SPEC, Once, with_options
from halfnoise.data.groups import check_keys
from halfnoise.data.sources import Source, open_source
from halfnoise.errors import BudgetError
from halfnoise.files import same_place
from halfnoise.ledger.booking import Booking
from halfnoise.mechanism import Step, carry_out
from halfnoise.planning.plan import Plan
from halfnoise.request import Request
from halfnoise.results import document
from halfnoise.results.formats import Output, as_csv
from halfnoise.results.release import GroupedRelease, Release
from halfnoise.results.render import NOISE_ONLY
from halfnoise.spec.first import first_spec
from halfnoise.spec.header import Header
from halfnoise.spec.lists import Lists
from halfnoise.spec.queries import NAMELESS, Words
from halfnoise.spec.toml import gather, write_spec
from halfnoise.spec.words import read, text_format

HELP = {"help_option_names": ["-h", "--help"]}
STATUS = (
    "Exit status: 0 done, 2 wrong use, 3 the data cannot be read, 4 the budget refuses, 5 try again"
    " (disk full, locked, interrupted), 130 for Ctrl-C."
)
app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, context_settings=HELP, epilog=STATUS
)
app.add_typer(ledger_app, name="ledger")
FOLDER = typer.Option(metavar="DIR", help="Where to put the survey.")
FILES = typer.Argument(metavar="DATA", help="CSV, TSV, JSON lines or Parquet files.")
VERSION = typer.Option("--version", metavar="", help="Show the version and stop.")
FIGURES = typer.Argument(metavar="DIR", help="Where to put them.")
HEADERS = typer.Argument(metavar="DATA", help="The files to come; only their header is read.")


@app.callback(invoke_without_command=True)
def halfnoise(*, version: Annotated[bool, VERSION] = False) -> None:
    """Publish counts and sums about people, privately, with about half the usual noise."""
    if version:
        typer.echo(f"halfnoise {installed('halfnoise')}")
        raise typer.Exit


@app.command("plan", cls=Once)
@with_options(PLAN)
def plan_command(words: Words, data: Annotated[list[str] | None, HEADERS] = None) -> None:
    """Show how accurate a release would be, before any data is touched.

    With a budget: every way to add the noise, and the best one. Without: what each budget brings.

    Example: halfnoise plan --count smoker --sum visits=0:20 --epsilon 1 --delta 1e-6
    """
    words = gather(words, data or [])
    text = text_format(words)
    with open_source(data, text=text) if data else nullcontext() as source:
        request = read(words, None if source is None else Header.of(source), data or [])
        _check_columns(source, request)
    books = booked(words, data or [], needed=False)
    save = _saving(words, request, [*(data or []), *books.files])
    releases, margin = whole_number("--releases", words.get("releases", "1")), words.get("margin")
    request, releases = part_of(request, books, releases)
    known = "known-size" in words
    found = planned(request, known=known, margin=margin, releases=releases, limit=books.limit)
    shown, commands = found.to_dict(), list[str]()
    if releases > 1 and isinstance(found, Plan) and "one-of" not in words:
        commands = one_of_them(words, data or [], request, found.privacy, releases)
        shown["commands"] = commands
    typer.echo(json.dumps(shown, indent=2) if "json" in words else repr(found))
    if commands and "json" not in words:
        init, one = commands
        typer.echo(
            f"\nA ledger for all of them, once:\n  {init}\nEach of them (--name=2, ...):\n  {one}"
        )
    save()


@app.command("release", cls=Once)
@with_options(RELEASE)
def release_command(words: Words, data: Annotated[list[str], FILES]) -> None:
    """Release a private table from files: counts, sums and means with honest margins of error.

    Example: halfnoise release survey.csv --count smoker --sum visits=0:20 --unit person_id
    --epsilon 1 --delta 1e-6 --out table.csv
    """
    own, words = words, gather(words, data)
    named = words.get("out") not in (None, "-")
    out = Output("--out", Path(words["out"]), "overwrite" in words) if named else None
    text = text_format(words)
    with open_source(data, text=text) as source:
        request = read(words, Header.of(source), data, release=True)
        books, about = booked(words, data), (source.files, source.text)
        asked = request.fingerprint(*about, named=books.name is not None)
        kept, inputs = books.stored(asked), [*data, *books.files]
        if out is not None:
            again = None if kept is None else document.from_json(kept.decode())
            spec = [own["spec"]] if "spec" in own else []
            out.check([*inputs, *spec, *Lists.named_in(words)], again=again)
        save = _saving(words, request, inputs)
        if "dry-run" in words:
            _rehearse(rehearsed(source, request, books, words))
        else:
            release = partial(carry_out, source, request, about=about, step=_spinner())
            _released(release, books, out, words, again=kept is not None)
    save()


@app.command("check", cls=Once)
@with_options(CHECK)
def check_command(words: Words, data: Annotated[list[str], FILES]) -> None:
    """Say what a release would read as what, what it would cost, and all that it would refuse.

    Only header lines are read; nothing is spent and nothing written. A release becomes a check by
    changing one word.

    Example: halfnoise check survey.csv --spec smokers.toml
    """
    found = checked(words, data)
    typer.echo(json.dumps(to_dict(found), indent=2) if "json" in words else to_text(found))
    if found.refused:
        typer.echo("halfnoise: a release would be refused for what is listed", err=True)
    raise typer.Exit(found.status)


@app.command("spec", cls=Once)
@with_options(SPEC)
def spec_command(words: Words, data: Annotated[list[str], FILES]) -> None:
    """Write a first spec from the header: every column is listed, and nothing decided.

    Fill it in from the codebook, and look at it with halfnoise check.

    Example: halfnoise spec survey.csv --out smokers.toml
    """
    with open_source(data, text=text_format(words)) as source:
        first = first_spec(source, words, data)
    if words.get("out", "-") == "-":
        typer.echo(first, nl=False)
        return
    out = Output("--out", Path(words["out"]))
    out.check(data, a_release=False)
    out.write_bytes(first.encode())
    typer.echo(f"Written to {words['out']}.", err=True)


@app.command("demo", cls=Once)
def demo_command(folder: Annotated[Path, FOLDER] = Path("halfnoise-demo")) -> None:
    """Make a survey of 200,000 people who do not exist, release it, and compare with the truth."""
    from halfnoise.cli.demo import demonstrate

    for line in demonstrate(folder):
        typer.echo(line)


@app.command("doctor", cls=Once)
def doctor_command() -> None:
    """Say which versions are at work, and try each engine on people who do not exist.

    No data is touched. What it prints belongs into a report of something unforeseen.
    """
    from halfnoise.cli.doctor import examine

    healthy = True
    for line, fine in examine():
        typer.echo(line)
        healthy &= fine
    raise typer.Exit(0 if healthy else 2)


@app.command("figures", cls=Once)
def figures_command(folder: Annotated[Path, FIGURES]) -> None:
    """Redraw the paper's figures as SVG and PNG, with the plotted numbers as CSV."""
    from halfnoise.report import draw_figures

    for path in draw_figures(folder):
        typer.echo(path)


def _saving(words: Words, request: Request, inputs: Sequence[str]) -> Callable[[], None]:
    """Check where the spec shall go, and return what writes it once all went well."""
    if "save-spec" not in words:
        return lambda: None
    spec = Output("--save-spec", Path(words["save-spec"]), "overwrite" in words)
    spec.check([*inputs, *Lists.named_in(words)], a_release=False)
    written = [words["out"]] if words.get("out", "-") != "-" else []
    if any(same_place(spec.path, Path(each)) for each in (*inputs, *written)):
        # A ledger that is not there yet would be, once the spec is written.
        rule = "another file than --out, the input and its ledger"
        raise refuse("--save-spec", rule, str(spec.path))
    text = write_spec(words, request, spec.path.parent)
    return lambda: spec.write_bytes(text.encode())


def _check_columns(source: Source | None, request: Request) -> None:
    """Refuse what the table's columns forbid; no row is read."""
    if source is not None and source.extract is None:
        table = source.of([name for name in request.columns if name not in NAMELESS])
        if request.workload.grouping is not None:
            check_keys(table.dtypes, request.workload.grouping, table.text.spelling)


def _rehearse(found: Checked) -> None:
    """Print what would be done; refuse what would be refused, that it costs too much last."""
    costs = [error for error in found.refused if isinstance(error, BudgetError)]
    for error in found.refused:
        if error not in costs:
            raise error
    typer.echo(to_text(replace(found, refused=[])))
    for error in costs:
        raise error


def _released(
    release: Callable[..., Release | GroupedRelease],
    books: Booking,
    out: Output | None,
    words: Words,
    *,
    again: bool,
) -> None:
    """Charge, draw, write, record: in this order, and say where a failure leaves it."""
    try:
        content = _show(release(booking=books), out, words, once=books.name is not None)
        told(books, books.handed_over(content), again=again)
    except BaseException:
        if books.standing:
            typer.echo(f"halfnoise: {books.standing}", err=True)
        raise


def _show(
    release: Release | GroupedRelease, out: Output | None, words: Words, *, once: bool
) -> bytes:
    """Write to a file, print data to a pipe, or a table to a terminal; words go to stderr."""
    if out is not None:
        content = out.write(release, once=once)
        typer.echo(f"Written to {words['out']}.", err=True)
    elif words.get("out") == "-" or not sys.stdout.isatty():
        typer.echo(printed := as_csv(release), nl=False)
        content = printed.encode()
    else:
        typer.echo(printed := repr(release))
        return printed.encode()
    for line in (*release.promises(), NOISE_ONLY, *release.notes()):
        typer.echo(line, err=True)
    return content


def _spinner() -> Step:
    """Return what shows the step that the work is in, on a terminal only."""
    if not sys.stderr.isatty():
        return nullcontext
    from rich.console import Console

    return lambda step: Console(stderr=True).status(f"halfnoise: {step}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; what goes wrong becomes one sentence and an exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # In a plan --known-size may stand alone, as the number itself does not matter.
    for i, (word, after) in enumerate(pairwise([*words, "--"])):
        if word == "--known-size" and re.match(r"-\D", after):
            words[i] = "--known-size="
    with left_properly():
        app(args=words, prog_name="halfnoise")
