"""What plan, check and spec do, which read no row: thin; the words are the library's."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from halfnoise.checks import refuse, whole_number
from halfnoise.cli.books import booked, one_of_them
from halfnoise.cli.checking import checked, part_of, planned, rehearsed
from halfnoise.cli.findings import to_dict, to_text
from halfnoise.cli.leaving import note
from halfnoise.cli.outputs import saving
from halfnoise.data.groups import check_keys
from halfnoise.data.sources import Source, open_source
from halfnoise.errors import BudgetError
from halfnoise.ledger.booking import Booking
from halfnoise.planning.plan import Plan
from halfnoise.request import Request
from halfnoise.results.formats import Output
from halfnoise.spec.first import first_spec
from halfnoise.spec.header import Header
from halfnoise.spec.queries import NAMELESS, Words
from halfnoise.spec.reader import reading
from halfnoise.spec.toml import gather
from halfnoise.spec.words import read, text_format


def plan_command(words: Words, data: Sequence[str]) -> None:
    """Show what to expect; of the data, at most headers are read."""
    words = gather(words, data)
    text, how = text_format(words), reading(words)
    with open_source(data, text=text, **how) if data else nullcontext() as source:
        request = read(words, None if source is None else Header.of(source), data)
        _check_columns(source, request)
    books = booked(words, data, needed=False)
    save = saving(words, request, [*data, *books.files])
    releases, margin = whole_number("--releases", words.get("releases", "1")), words.get("margin")
    request, releases = part_of(request, books, releases)
    terms: dict[str, Any] = {"known": "known-size" in words, "people": words.get("people")}
    terms["accept"] = (words.get("accept"), words.get("ceiling"))
    found = planned(request, margin=margin, releases=releases, limit=books.limit, **terms)
    shown, commands = found.to_dict(), list[str]()
    if releases > 1 and isinstance(found, Plan) and "one-of" not in words:
        commands = one_of_them(words, data, request, found.privacy, releases)
        shown["commands"] = commands
    typer.echo(json.dumps(shown, indent=2) if "json" in words else repr(found))
    if commands and "json" not in words:
        init, one = commands
        typer.echo(
            f"\nA ledger for all of them, once:\n  {init}\nEach of them (--name=2, ...):\n  {one}"
        )
    save()


def check_command(words: Words, data: Sequence[str]) -> None:
    """Print what a release would read as what; the status is that of what it would refuse."""
    found = checked(words, data)
    typer.echo(json.dumps(to_dict(found), indent=2) if "json" in words else to_text(found))
    if found.refused:
        note("halfnoise: a release would be refused for what is listed")
    raise typer.Exit(found.status)


def spec_command(words: Words, data: Sequence[str]) -> None:
    """Write a first spec from the header, to a file or to the terminal."""
    with open_source(data, text=text_format(words), **reading(words)) as source:
        first = first_spec(source, words, data)
    if words.get("out", "-") == "-":
        typer.echo(first, nl=False)
        return
    out = Output("--out", Path(words["out"]))
    replace(out, overwrite=True).check(data, a_release=False)
    if out.path.exists():
        raise refuse("--out", "a new file, as specs are filled in by hand", words["out"])
    out.write_bytes(first.encode())
    note(f"Written to {words['out']}.")


def _check_columns(source: Source | None, request: Request) -> None:
    """Refuse what the table's columns forbid; no row is read."""
    if source is not None and source.extract is None:
        table = source.of([name for name in request.columns if name not in NAMELESS])
        if request.workload.grouping is not None:
            check_keys(table.dtypes, request.workload.grouping, table.text.spelling)


def rehearse(source: Source, request: Request, books: Booking, words: Words) -> None:
    """Print what would be done; refuse what would be refused, that it costs too much last."""
    found = rehearsed(source, request, books, words)
    costs = [error for error in found.refused if isinstance(error, BudgetError)]
    for error in found.refused:
        if error not in costs:
            raise error
    typer.echo(to_text(replace(found, refused=[])))
    for error in costs:
        raise error
