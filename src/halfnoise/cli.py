"""The command ``halfnoise``: thin; every word it takes is one of the library's."""

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated, Any

import typer

from halfnoise.budgeting import budget_for
from halfnoise.data.sources import open_source
from halfnoise.errors import DataError, HalfnoiseError, InvalidParameterError
from halfnoise.flags import number, whole_number
from halfnoise.options import SHOW, SPEND, with_options
from halfnoise.planning import DELTA, Outlook, Plan, plan
from halfnoise.release import carry_out, check_people
from halfnoise.result import Release
from halfnoise.spec import Request, Words, read_spec, request, write_spec
from halfnoise.writing import as_csv, check_output, write_release

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
        typer.Argument(metavar="[DATA]...", help="The files to come; only their header is read."),
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
    del out, overwrite, no_ledger  # said so that a plan becomes a release by changing one word
    words = _said(words)
    asked = request(words, _columns(data, words) if data else None)
    shared = {
        "releases": whole_number("--releases", releases),
        "level": asked.level,
        "known_size": "known-size" in words,
    }
    found = _planned(asked, margin, shared)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else repr(found))


@app.command("release")
@with_options
def release_command(
    words: Words,
    data: Annotated[
        list[str], typer.Argument(metavar="DATA...", help="CSV, TSV, JSON lines or Parquet files.")
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
    words = _said(words)
    asked = request(words, _columns(data, words))
    if "known-size" in words and asked.known_size is None:
        raise InvalidParameterError("--known-size needs the number of people, for example 200000")
    if out not in (None, "-"):
        check_output(Path(str(out)), overwrite=overwrite, inputs=[*map(Path, data)])
    if dry_run:
        _dry_run(asked, data)
        return
    _show(carry_out(data, asked, step=_spinner), out)


@app.command("demo")
def demo_command(
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where to put the survey.")] = Path(
        "halfnoise-demo"
    ),
) -> None:
    """Make a survey of 200,000 people who do not exist, release it, and compare with the truth."""
    from halfnoise.demo import demonstrate

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


def _said(words: Words) -> Words:
    """Add what a spec says to what the command line says, which wins; save it if asked to."""
    settings = [text.partition("=") for text in words.get("set", [])]
    if settings and "spec" not in words:
        raise InvalidParameterError("--set fills a place in a spec; say --spec FILE too")
    parameters = {name: value for name, _, value in settings}
    said: dict[str, Any] = read_spec(words["spec"], parameters) if "spec" in words else {}
    said |= {
        name: value for name, value in words.items() if name not in ("spec", "set", "save-spec")
    }
    if "save-spec" in words:
        try:
            Path(words["save-spec"]).write_text(write_spec(said), encoding="utf-8")
        except OSError:
            raise DataError(f"the spec {words['save-spec']!r} could not be written") from None
    return said


def _columns(data: Sequence[str], words: Words) -> list[str]:
    """Return the columns' names; nothing is read but header lines."""
    with open_source(list(data), text=request(words).text, columns=[]) as source:
        return list(source.dtypes)


def _planned(asked: Request, margin: str | None, shared: dict[str, Any]) -> Plan | Outlook:
    delta = DELTA if asked.delta is None else asked.delta
    budget = asked.privacy
    if margin is not None:
        if budget is not None:
            raise InvalidParameterError("give a budget or --margin, not both: one tells the other")
        wanted = number("--margin", margin)
        budget = budget_for(asked.workload, margin=wanted, delta=delta, **shared)
    if budget is None:
        return plan(asked.workload, delta=delta, **shared)
    return plan(asked.workload, privacy=budget, **shared)


def _dry_run(asked: Request, data: Sequence[str]) -> None:
    """Print the plan and the columns with their declared meaning; read no row, spend nothing."""
    workload = asked.workload
    check_people(asked)
    columns = [*(c for query in workload.queries for c in query.columns), *asked.unit]
    with open_source(list(data), text=asked.text, columns=columns) as source:
        source.check(columns)
    for query in workload.queries:
        condition = getattr(query, "condition", None)
        typer.echo(f"{query.kind} {query.label!r}: {condition or ', '.join(query.columns)}")
    who = f"rows with the same {', '.join(asked.unit)}" if asked.unit else "one row"
    typer.echo(f"One person: {who}. No row was read and nothing was spent.\n")
    shared = {"releases": 1, "level": asked.level, "known_size": asked.known_size is not None}
    typer.echo(repr(_planned(asked, None, shared)))


def _show(found: Release, out: str | None) -> None:
    """Write to a file, print data to a pipe, or a table to a terminal; words go to stderr."""
    if out not in (None, "-"):
        write_release(found, Path(str(out)))
        typer.echo(f"Written to {out}.", err=True)
    elif out == "-" or not sys.stdout.isatty():
        typer.echo(as_csv(found), nl=False)
    else:
        typer.echo(repr(found))
        return
    for line in (*found.promises(), *found.notes()):
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
        alone = i + 1 == len(said) or said[i + 1].startswith("-")
        if word == "--known-size" and alone:
            said[i] = "--known-size="
    return said


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; what goes wrong becomes one sentence and exit status 2."""
    try:
        app(args=_with_optional_values(sys.argv[1:] if arguments is None else arguments))
    except HalfnoiseError as error:
        typer.echo(f"halfnoise: {error}", err=True)
        sys.exit(2)
