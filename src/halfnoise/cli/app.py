"""What can be said to ``halfnoise``: its commands, their options and their help.

What a command does is imported when it runs: help, and mistakes in the words, need none of it.
"""

import copy
import functools
import gc
import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from halfnoise.cli.leaving import gone_at_once, left_properly
from halfnoise.cli.options import (
    CHECK,
    COMPARE,
    INIT,
    NOTE,
    PLAN,
    RELEASE,
    REPORT,
    SPEC,
    Once,
    Several,
    with_options,
)
from halfnoise.versions import VERSION

HELP = {"help_option_names": ["-h", "--help"]}
STATUS = (
    "Exit status: 0 done, 2 wrong use, 3 the data cannot be read, 4 the budget refuses, 5 try again"
    " (disk full, locked, interrupted), 130 for Ctrl-C."
)
LEDGERS = "Keep account of what releases cost: a limit that cannot be overspent by accident."
MADE = 250_000  # objects: twice as many as a small release makes, with all that is imported
Words = dict[str, Any]  # what was said, by option
app = typer.Typer(
    cls=Several,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=HELP,
    epilog=STATUS,
)
ledgers = typer.Typer(cls=Several, no_args_is_help=True, help=LEDGERS)
app.add_typer(ledgers, name="ledger")
FOLDER = typer.Option(metavar="DIR", help="Where to put the survey.")
FILES = typer.Argument(
    metavar="DATA", help="Files or folders: CSV, TSV, JSON lines, Parquet, sheets, databases."
)
SHOW_VERSION = typer.Option("--version", metavar="", help="Show the version and stop.")
FIGURES = typer.Argument(metavar="DIR", help="Where to put them.")
HEADERS = typer.Argument(metavar="DATA", help="The files to come; only their header is read.")
EARLIER = typer.Argument(metavar="EARLIER", help="The earlier release: .json, or a page.")
LATER = typer.Argument(metavar="LATER", help="The later one.")
TABLE = typer.Argument(metavar="TABLE", help="A release: .json, or a page of one.")
LEDGER = typer.Argument(metavar="LEDGER", help="Its file, or postgresql://host/database#name.")
AS_JSON = typer.Option("--json", metavar="", help="Print JSON.")
HEAD = typer.Option("--head", metavar="HASH", help="A head that was printed: it must be in it.")


@app.callback(invoke_without_command=True)
def halfnoise(*, version: Annotated[bool, SHOW_VERSION] = False) -> None:
    """Publish counts and sums about people, privately, with about half the usual noise."""
    if version:
        typer.echo(f"halfnoise {VERSION}")
        raise typer.Exit


@app.command("plan", cls=Once)
@with_options(PLAN)
def plan(words: Words, data: Annotated[list[str] | None, HEADERS] = None) -> None:
    """Show how accurate a release would be, before any data is touched.

    With a budget: every way to add the noise, and the best one. Without: what each budget brings.

    Example: halfnoise plan --count smoker --sum visits=0:20 --epsilon 1 --delta 1e-6
    """
    from halfnoise.cli.commands import plan_command

    plan_command(words, data or [])


@app.command("release", cls=Once)
@with_options(RELEASE)
def release(words: Words, data: Annotated[list[str], FILES]) -> None:
    """Release a private table from files: counts, sums and means with honest margins of error.

    Example: halfnoise release survey.csv --count smoker --sum visits=0:20 --unit person_id
    --epsilon 1 --delta 1e-6 --out table.csv
    """
    from halfnoise.cli.releasing import release_command

    if "dry-run" not in words:
        release_command(words, data)
        return
    from halfnoise.cli.commands import rehearse

    release_command(words, data, instead=rehearse)


@app.command("check", cls=Once)
@with_options(CHECK)
def check(words: Words, data: Annotated[list[str], FILES]) -> None:
    """Say what a release would read as what, what it would cost, and all that it would refuse.

    Only header lines are read; nothing is spent and nothing written. A release becomes a check by
    changing one word.

    Example: halfnoise check survey.csv --spec smokers.toml
    """
    from halfnoise.cli.commands import check_command

    check_command(words, data)


@app.command("spec", cls=Once)
@with_options(SPEC)
def spec(words: Words, data: Annotated[list[str], FILES]) -> None:
    """Write a first spec from the header: every column is listed, and nothing decided.

    Fill it in from the codebook, and look at it with halfnoise check.

    Example: halfnoise spec survey.csv --out smokers.toml
    """
    from halfnoise.cli.commands import spec_command

    spec_command(words, data)


@app.command("compare", cls=Once)
@with_options(COMPARE)
def compare(words: Words, earlier: Annotated[str, EARLIER], later: Annotated[str, LATER]) -> None:
    """Say what changed from one release to another, and whether that is more than noise.

    Numbers are matched by name and group; differences and ratios come with intervals.

    Example: halfnoise compare 2025.json 2026.json
    """
    from halfnoise.cli.published import compare_command

    compare_command(words, earlier, later)


@app.command("note", cls=Once)
@with_options(NOTE)
def note(words: Words, table: Annotated[str, TABLE]) -> None:
    """Write the method note of a release: what readers and experts need to know, in Markdown.

    Example: halfnoise note table.json --language de
    """
    from halfnoise.cli.published import note_command

    note_command(words, table)


@app.command("report", cls=Once)
@with_options(REPORT)
def report(words: Words, table: Annotated[str, TABLE]) -> None:
    """Write a release that is kept in a file as a page: tables, charts, how people are protected.

    The page is one file that needs no other, and holds the release itself. Other endings of --out
    write the other formats.

    Example: halfnoise report table.json --out report.html --title "Health survey 2026"
    """
    from halfnoise.cli.pages import report_command

    report_command(words, table)


@app.command("demo", cls=Once)
def demo(folder: Annotated[str, FOLDER] = "halfnoise-demo") -> None:
    """Make a survey of 200,000 people who do not exist, release it, and compare with the truth."""
    from halfnoise.cli.demo import demonstrate

    for line in demonstrate(Path(folder)):
        typer.echo(line)


@app.command("doctor", cls=Once)
def doctor() -> None:
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
def figures(folder: Annotated[str, FIGURES]) -> None:
    """Redraw the paper's figures as SVG and PNG, with the plotted numbers as CSV."""
    from halfnoise.report import draw_figures

    for path in draw_figures(Path(folder)):
        typer.echo(path)


@ledgers.command("init", cls=Once)
@with_options(INIT)
def ledger_init(words: Words, ledger: Annotated[str, LEDGER]) -> None:
    """Make a ledger. What is said here holds for good.

    Example: halfnoise ledger init survey.ledger --epsilon 3 --delta 1e-6 --unit person_id
    """
    from halfnoise.cli.books import init

    init(words, ledger)


@ledgers.command("show", cls=Once)
def ledger_show(
    ledger: Annotated[str, LEDGER], *, as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """Show what was spent on what, and what is left."""
    from halfnoise.cli.books import show

    show(ledger, as_json=as_json)


@ledgers.command("verify", cls=Once)
def ledger_verify(ledger: Annotated[str, LEDGER], head: Annotated[str | None, HEAD] = None) -> None:
    """Check every entry and every result that is kept; with a head, that no old copy was put back.

    An old copy cannot be told from inside: keep the head that each release prints.
    """
    from halfnoise.cli.books import verify

    verify(ledger, head)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; what goes wrong becomes one sentence and an exit status."""
    if arguments is None:  # it has the process to itself
        _hardly_any_garbage()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # our matrices are small
        with gone_at_once():
            _run(sys.argv[1:])
    else:
        _run(arguments)


def _run(arguments: Sequence[str]) -> None:
    words = list(arguments)
    # In a plan --known-size may stand alone, as the number itself does not matter.
    for i, (word, after) in enumerate(pairwise([*words, "--"])):
        if word == "--known-size" and re.match(r"-\D", after):
            words[i] = "--known-size="
    with left_properly():
        _said(words[0] if words else "")(args=words, prog_name="halfnoise")


@functools.cache
def _said(word: str) -> typer.Typer:
    """Return the app with the command that a word names alone, or with all if it names none.

    Typer makes every option of every command before it looks at what is said; where it is asked
    for help, commands have none.
    """
    commands, groups = app.registered_commands, app.registered_groups
    if named := [command for command in commands if command.name == word]:
        commands, groups = named, []
    elif word in HELP["help_option_names"]:
        commands = [_outlined(command) for command in commands]
    else:
        return app
    alone = copy.copy(app)
    alone.registered_commands, alone.registered_groups = commands, groups
    return alone


def _outlined(command: Any) -> Any:
    """Return a command of which only its name and what it is for are known."""

    def outline() -> None:
        raise AssertionError

    outlined = copy.copy(command)
    outline.__doc__, outlined.callback = command.callback.__doc__, outline
    return outlined


def _hardly_any_garbage() -> None:
    """Let Python look for garbage rarely.

    Nearly all that a command makes is what it imports, which stays: to look through that again and
    again takes a fifth of a small release.
    """
    gc.set_threshold(MADE, *gc.get_threshold()[1:])
