"""The command ``halfnoise``: thin; every word it takes is one of the library's."""

import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated, Any

import typer

from halfnoise.checks import refuse
from halfnoise.cli.options import SHOW, SPEND, with_options
from halfnoise.data.groups import check_keys
from halfnoise.data.sources import Source, open_source
from halfnoise.errors import HalfnoiseError, InvalidParameterError
from halfnoise.mechanism import carry_out
from halfnoise.planning.outlook import DELTA, Outlook, budget_for, plan
from halfnoise.planning.plan import Plan
from halfnoise.request import Request
from halfnoise.results.formats import as_csv, check_output, check_place, write_file, write_release
from halfnoise.results.release import GroupedRelease, Release
from halfnoise.results.render import NOISE_ONLY
from halfnoise.spec.queries import NAMELESS, Words, nameless, number, whole_number
from halfnoise.spec.toml import gather, write_spec
from halfnoise.spec.words import read, text_format

app = typer.Typer(
    name="halfnoise",
    help="Publish counts and sums about people, privately, with about half the usual noise.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def halfnoise(
    *,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Show the version and stop.")
    ] = False,
) -> None:
    """Publish counts and sums about people, privately, with about half the usual noise."""
    if version:
        typer.echo(f"halfnoise {installed('halfnoise')}")
        raise typer.Exit


@app.command("plan")
@with_options
def plan_command(
    words: Words,
    data: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATA", help="The files to come; only their header is read."),
    ] = None,
    *,
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="M",
            rich_help_panel=SPEND,
            help="The other way round: the budget for a margin of error of M.",
        ),
    ] = None,
    releases: Annotated[
        str,
        typer.Option(
            metavar="N", rich_help_panel=SPEND, show_default=False, help="Split over N releases."
        ),
    ] = "1",
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", rich_help_panel=SHOW, help="Print JSON.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", rich_help_panel=SHOW, help="For release.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", metavar="", rich_help_panel=SHOW, help="For release.")
    ] = False,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", metavar="", rich_help_panel=SPEND, help="For release.")
    ] = False,
) -> None:
    """Show how accurate a release would be, before any data is touched.

    With a budget: every way to add the noise, and the best one. Without: what each budget brings.

    Example: halfnoise plan --count smoker --sum visits=0:20 --epsilon 1 --delta 1e-6
    """
    del out, no_ledger  # said so that a plan becomes a release by changing one word
    said = gather(words)
    text = text_format(said)
    if data:
        with open_source(list(data), text=text) as source:
            request = read(said, source.columns)
            _check_columns(source, request)
    else:
        request = read(said)
    save = _saving(words, said, request, overwrite=overwrite, others=data or [])
    shared = {
        "releases": whole_number("--releases", releases),
        "level": request.level,
        "known_size": "known-size" in said,
    }
    planned = _planned(request, margin, shared)
    typer.echo(json.dumps(planned.to_dict(), indent=2) if as_json else repr(planned))
    save()


@app.command("release")
@with_options
def release_command(
    words: Words,
    data: Annotated[
        list[str], typer.Argument(metavar="DATA", help="CSV, TSV, JSON lines or Parquet files.")
    ],
    *,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=SHOW,
            help="Where to: .csv, .json, .jsonl, .parquet or .md; - prints CSV.",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", metavar="", rich_help_panel=SHOW, help="Replace an output that exists."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            metavar="",
            rich_help_panel=SHOW,
            help="Say what would be done; no row is read.",
        ),
    ] = False,
    no_ledger: Annotated[
        bool,
        typer.Option(
            "--no-ledger",
            metavar="",
            rich_help_panel=SPEND,
            help="Do not keep account of the budget.",
        ),
    ] = False,
) -> None:
    """Release a private table from files: counts, sums and means with honest margins of error.

    Example: halfnoise release survey.csv --count smoker --sum visits=0:20 --unit person_id
    --epsilon 1 --delta 1e-6 --out table.csv
    """
    del no_ledger  # there is no ledger yet: nothing is kept either way
    said = gather(words)
    with open_source(list(data), text=text_format(said)) as source:
        request = read(said, source.columns)
        _check_release(request, said)
        written = [] if out in (None, "-") else [str(out)]
        for path in map(Path, written):
            check_output(path, overwrite=overwrite, inputs=data)
        save = _saving(words, said, request, overwrite=overwrite, others=[*data, *written])
        if dry_run:
            _check_columns(source, request)
            request.check()
            _dry_run(request)
        else:
            _show(carry_out(source, request, step=_spinner), out, overwrite=overwrite)
    save()


@app.command("demo")
def demo_command(
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where to put the survey.")] = Path(
        "halfnoise-demo"
    ),
) -> None:
    """Make a survey of 200,000 people who do not exist, release it, and compare with the truth."""
    from halfnoise.cli.demo import demonstrate

    for line in demonstrate(folder):
        typer.echo(line)


@app.command("figures")
def figures_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put them.")],
) -> None:
    """Redraw the paper's figures as SVG and PNG, with the plotted numbers as CSV."""
    from halfnoise.report.figures import draw_figures

    for path in draw_figures(folder):
        typer.echo(path)


def _saving(
    words: Words, said: Words, request: Request, *, overwrite: bool, others: Sequence[str]
) -> Callable[[], None]:
    """Check where the spec shall go, and return what writes it once all went well."""
    if "save-spec" not in words:
        return lambda: None
    path = Path(words["save-spec"])
    check_place("--save-spec", path, overwrite=overwrite, inputs=others)
    workload = request.workload
    groups = workload.groups if len(workload.group_columns) < 2 else None
    return lambda: write_file(path, write_spec(said, groups).encode())


def _check_release(request: Request, words: Words) -> None:
    """Refuse what can be planned but not released."""
    for query in request.workload.queries:
        if nameless(query):
            what, remedy = f"--{query.kind}", "a plan does without"
            raise refuse(what, "given a column to release", query.label, remedy)
    if "known-size" in words and request.known_size is None:
        raise InvalidParameterError("--known-size needs the number of people, for example 200000")


def _check_columns(source: Source, request: Request) -> None:
    """Refuse what the table's columns forbid; no row is read."""
    if source.columns:
        table = source.of([name for name in request.columns if name not in NAMELESS])
        if request.workload.grouping is not None:
            check_keys(table.dtypes, request.workload.grouping)


def _planned(request: Request, margin: str | None, shared: dict[str, Any]) -> Plan | Outlook:
    delta = DELTA if request.delta is None else request.delta
    budget = request.privacy
    if margin is not None:
        if budget is not None:
            raise InvalidParameterError("give a budget or --margin, not both: one tells the other")
        target = number("--margin", margin)
        budget = budget_for(request.workload, margin=target, delta=delta, **shared)
    if budget is None:
        return plan(request.workload, delta=delta, **shared)
    return plan(request.workload, privacy=budget, **shared)


def _dry_run(request: Request) -> None:
    """Print the plan and the columns with their declared meaning; read no row, spend nothing."""
    shared = {"releases": 1, "level": request.level, "known_size": request.known_size is not None}
    planned = _planned(request, None, shared)
    for query in request.workload.queries:
        typer.echo(f"{query.kind} {query.label!r}: {query.meaning}")
    if request.workload.grouping is not None:
        typer.echo(request.workload.grouping.words)
    who = f"rows with the same {', '.join(request.unit)}" if request.unit else "one row"
    typer.echo(f"One person: {who}. No row was read and nothing was spent.\n")
    typer.echo(repr(planned))


def _show(found: Release | GroupedRelease, out: str | None, *, overwrite: bool) -> None:
    """Write to a file, print data to a pipe, or a table to a terminal; words go to stderr."""
    if out not in (None, "-"):
        write_release(found, Path(str(out)), overwrite=overwrite)
        typer.echo(f"Written to {out}.", err=True)
    elif out == "-" or not sys.stdout.isatty():
        typer.echo(as_csv(found), nl=False)
    else:
        typer.echo(repr(found))
        return
    for line in (*found.promises(), NOISE_ONLY, *found.notes()):
        typer.echo(line, err=True)


def _spinner(step: str) -> AbstractContextManager[object]:
    """Show the step that the work is in, on a terminal only."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"halfnoise: {step}")


def _with_optional_values(arguments: Sequence[str]) -> list[str]:
    """Let ``--known-size`` stand alone in a plan, where the number itself does not matter."""
    said = list(arguments)
    for i, word in enumerate(said):
        alone = i + 1 == len(said) or re.match(r"-\D", said[i + 1]) is not None
        if word == "--known-size" and alone:
            said[i] = "--known-size="
    return said


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; what goes wrong becomes one sentence and exit status 2."""
    given = _with_optional_values(sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=given, prog_name="halfnoise")
    except HalfnoiseError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001
        # The words of an engine may quote cells, so nothing of them is shown.
        said = f"this went wrong in a way that was not foreseen ({type(error).__name__}); report it"
    else:
        return
    typer.echo(f"halfnoise: {said}", err=True)
    sys.exit(2)
