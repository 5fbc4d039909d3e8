"""What plan and release do: thin; every word they take is one of the library's."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import typer

from halfnoise.checks import number, refuse, whole_number
from halfnoise.cli.books import booked, one_of_them, told
from halfnoise.data.groups import check_keys
from halfnoise.data.sources import Source, open_source
from halfnoise.errors import InvalidParameterError
from halfnoise.files import same_place
from halfnoise.ledger.booking import Booking
from halfnoise.ledger.terms import Bill
from halfnoise.mechanism import Step, carry_out, shared
from halfnoise.planning.outlook import DELTA, Outlook, Terms, budget_for, plan
from halfnoise.planning.plan import Plan
from halfnoise.privacy.allowance import Allowance
from halfnoise.privacy.definitions import Privacy
from halfnoise.request import Request
from halfnoise.results import document
from halfnoise.results.formats import Output, as_csv
from halfnoise.results.release import GroupedRelease, Release
from halfnoise.results.render import NOISE_ONLY
from halfnoise.spec.header import Header
from halfnoise.spec.lists import Lists
from halfnoise.spec.queries import NAMELESS, Words
from halfnoise.spec.toml import gather, write_spec
from halfnoise.spec.words import read, text_format


def plan_command(words: Words, data: Sequence[str]) -> None:
    """Show what to expect; of the data, at most headers are read."""
    words = gather(words, data)
    text = text_format(words)
    with open_source(data, text=text) if data else nullcontext() as source:
        request = read(words, None if source is None else Header.of(source), data)
        _check_columns(source, request)
    books = booked(words, data, needed=False)
    save = _saving(words, request, [*data, *books.files])
    releases, margin = whole_number("--releases", words.get("releases", "1")), words.get("margin")
    request, releases = _part(request, books, releases)
    known = "known-size" in words
    planned = _planned(request, known=known, margin=margin, releases=releases, limit=books.limit)
    shown, commands = planned.to_dict(), list[str]()
    if releases > 1 and isinstance(planned, Plan) and "one-of" not in words:
        commands = one_of_them(words, data, request, planned.privacy, releases)
        shown["commands"] = commands
    typer.echo(json.dumps(shown, indent=2) if "json" in words else repr(planned))
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
    out = Output("--out", Path(words["out"]), "overwrite" in words) if named else None
    text = text_format(words)
    with open_source(data, text=text) as source:
        request = read(words, Header.of(source), data)
        _check_release(request, words)
        books, about = booked(words, data), (source.files, source.text)
        asked = request.fingerprint(*about, named=books.name is not None)
        kept, inputs = books.stored(asked), [*data, *books.files]
        if out is not None:
            again = None if kept is None else document.from_json(kept.decode())
            spec = [own["spec"]] if "spec" in own else []
            out.check([*inputs, *spec, *Lists.named_in(words)], again=again)
        save = _saving(words, request, inputs)
        if "dry-run" in words:
            _check_columns(source, request)
            request.check(counted=source.counted)
            _dry_run(request, books)
        else:
            release = partial(carry_out, source, request, about=about, step=_spinner())
            _released(release, books, out, words, again=kept is not None)
    save()


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


def _check_release(request: Request, words: Words) -> None:
    """Refuse what can be planned but not released."""
    for query in request.workload.queries:
        if query.column in NAMELESS:
            rule = "given a column to release"
            raise refuse(f"--{query.kind}", rule, query.label, "a plan does without")
    if "known-size" in words and request.known_size is None:
        raise InvalidParameterError("--known-size needs the number of people, for example 200000")


def _check_columns(source: Source | None, request: Request) -> None:
    """Refuse what the table's columns forbid; no row is read."""
    if source is not None and source.extract is None:
        table = source.of([name for name in request.columns if name not in NAMELESS])
        if request.workload.grouping is not None:
            check_keys(table.dtypes, request.workload.grouping)


def _part(request: Request, books: Booking, releases: int) -> tuple[Request, int]:
    """Return a request with its part of the ledger's limit, where that is its budget."""
    if request.one_of is None:
        return request, releases
    if releases > 1:
        raise InvalidParameterError("give --one-of or --releases, not both: both split a budget")
    return shared(request, books)


def _planned(
    request: Request,
    *,
    known: bool,
    margin: str | None = None,
    releases: int = 1,
    limit: Privacy | Allowance | None = None,
) -> Plan | Outlook:
    workload, delta = request.workload, DELTA if request.delta is None else request.delta
    terms: Terms = {"releases": releases, "level": request.level, "known_size": known}
    terms |= {"noise": request.noise, "i_know": request.i_know, "limit": limit}
    budget = request.privacy
    if margin is not None:
        if budget is not None:
            raise InvalidParameterError("give a budget or --margin, not both: one tells the other")
        budget = budget_for(workload, margin=number("--margin", margin), delta=delta, **terms)
    if budget is None:
        return plan(workload, delta=delta, **terms)
    return plan(workload, privacy=budget, **terms)


def _dry_run(request: Request, books: Booking) -> None:
    """Print the plan and the columns with their declared meaning; read no row, spend nothing."""
    request, times = _part(request, books, 1)
    known = request.known_size is not None
    planned = _planned(request, known=known, releases=times, limit=books.limit)
    for query in request.workload.queries:
        typer.echo(f"{query.kind} {query.label!r}: {query.meaning}")
    if request.workload.grouping is not None:
        typer.echo(request.workload.grouping.words)
    who = f"rows with the same {', '.join(request.unit)}" if request.unit else "one row"
    typer.echo(f"One person: {who}. No row was read and nothing was spent.\n\n{planned!r}")
    if isinstance(planned, Plan):
        cost, alike = planned.measurement.guarantee, request.workload.neighbors
        said: dict[str, Any] = {"request": "", "what": "", "unit": request.unit, "times": times}
        books.check(Bill(guarantee=cost, neighbors=alike, **said))


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
