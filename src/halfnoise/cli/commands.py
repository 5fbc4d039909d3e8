"""What plan and release do: thin; every word they take is one of the library's."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from halfnoise.checks import whole_number
from halfnoise.cli.books import booked, one_of_them, told
from halfnoise.cli.checking import Checked, checked, part_of, planned, rehearsed, spec_output
from halfnoise.cli.findings import to_dict, to_text
from halfnoise.cli.leaving import note
from halfnoise.cli.pages import PAGE, without_charts
from halfnoise.cli.progress import shown
from halfnoise.cli.published import marks
from halfnoise.data.groups import check_keys
from halfnoise.data.sources import Source, open_source
from halfnoise.errors import BudgetError, InvalidParameterError
from halfnoise.ledger.booking import Booking
from halfnoise.mechanism import carry_out, read_back
from halfnoise.planning.plan import Plan
from halfnoise.request import Request
from halfnoise.results.formats import Output, as_csv
from halfnoise.results.release import Released
from halfnoise.results.reliability import NO_RULE, Reliability
from halfnoise.results.sampling import caption
from halfnoise.spec.first import first_spec
from halfnoise.spec.header import Header
from halfnoise.spec.lists import Lists
from halfnoise.spec.queries import NAMELESS, Words
from halfnoise.spec.reader import reading
from halfnoise.spec.toml import gather, recorded, write_spec
from halfnoise.spec.words import read, text_format

MARKS = {"flag", "suppress"}  # words for a rule by which numbers are marked


def plan_command(words: Words, data: Sequence[str]) -> None:
    """Show what to expect; of the data, at most headers are read."""
    words = gather(words, data)
    text, how = text_format(words), reading(words)
    with open_source(data, text=text, **how) if data else nullcontext() as source:
        request = read(words, None if source is None else Header.of(source), data)
        _check_columns(source, request)
    books = booked(words, data, needed=False)
    save = _saving(words, request, [*data, *books.files])
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


def release_command(words: Words, data: Sequence[str]) -> None:
    """Open the files, check all that was said, charge, release and write."""
    own, words = words, gather(words, data)
    named = words.get("out") not in (None, "-")
    over, excel = "overwrite" in words, "excel" in words
    out = Output("--out", Path(words["out"]), over, excel) if named else None
    text, rule = text_format(words), marks(words) if MARKS & words.keys() else NO_RULE
    with open_source(data, text=text, **reading(words)) as source:
        request = read(words, Header.of(source), data, release=True)
        request = replace(request, spec=recorded(words))
        books, about = booked(words, data), (source.files, source.text)
        kept = books.stored(books.asked(request.fingerprint, about))
        inputs = [*data, *books.files]
        if out is not None:
            again = None if kept is None else _marked(read_back(kept, request), rule)
            spec = [own["spec"]] if "spec" in own else []
            out.check([*inputs, *spec, *Lists.named_in(words)], again=again)
        save = _saving(words, request, inputs)
        if "dry-run" in words:
            _rehearse(rehearsed(source, request, books, words))
        else:
            step = shown(source)
            work = partial(carry_out, source, request, about=about, step=step, booking=books)
            _released(lambda: _marked(work(), rule), books, out, words, again=kept is not None)
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
    out.check(data, a_release=False)
    out.write_bytes(first.encode())
    note(f"Written to {words['out']}.")


def _saving(words: Words, request: Request, inputs: Sequence[str]) -> Callable[[], None]:
    """Check where the spec shall go, and return what writes it once all went well."""
    if "save-spec" not in words:
        return lambda: None
    spec = spec_output(words, inputs)
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
    release: Callable[[], Released],
    books: Booking,
    out: Output | None,
    words: Words,
    *,
    again: bool,
) -> None:
    """Charge, draw, write, record: in this order, and say where a failure leaves it."""
    if out is None and sys.stdout is None:
        raise InvalidParameterError("nothing can be printed where the output is closed; say --out")
    try:
        content = _show(release(), out, words, once=books.name is not None)
        told(books, books.handed_over(content), again=again)
    except BaseException:
        if books.standing:
            note(f"halfnoise: {books.standing}")
        raise


def _marked(release: Released, rule: Reliability) -> Released:
    return release.flagged(*rule.flags, suppress=rule.suppress) if rule else release


def _show(release: Released, out: Output | None, words: Words, *, once: bool) -> bytes:
    """Write to a file, print data to a pipe, or a table to a terminal; words go to stderr."""
    if out is not None:
        content = out.write(release, once=once)
        note(f"Written to {words['out']}.")
        if out.path.suffix.lower() == PAGE:
            without_charts()
    elif words.get("out") == "-" or not sys.stdout.isatty():
        content = as_csv(release, excel="excel" in words)
        # Where nothing but text can be printed, such as in a notebook, it is text.
        typer.echo(content if hasattr(sys.stdout, "buffer") else content.decode(), nl=False)
    else:
        typer.echo(printed := repr(release))
        return printed.encode()
    for line in (
        *release.promises(),
        caption(release.sampling, weighted="weight" in release.facts),
        *release.notes(),
    ):
        note(line)
    return content
