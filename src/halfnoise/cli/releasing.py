"""What release does: thin; every word it takes is one of the library's."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import typer

from halfnoise.cli.books import booked, told
from halfnoise.cli.leaving import note
from halfnoise.cli.outputs import PAGE, marks, saving, without_charts
from halfnoise.cli.progress import shown
from halfnoise.data.sources import Source, open_source
from halfnoise.errors import InvalidParameterError
from halfnoise.ledger.booking import Booking
from halfnoise.mechanism import carry_out, read_back
from halfnoise.request import Request
from halfnoise.results.formats import Output, as_csv
from halfnoise.results.release import Released
from halfnoise.results.reliability import Reliability
from halfnoise.results.sampling import caption
from halfnoise.spec.header import Header
from halfnoise.spec.lists import Lists
from halfnoise.spec.queries import Words
from halfnoise.spec.reader import reading
from halfnoise.spec.toml import gather, recorded
from halfnoise.spec.words import read, text_format

Rehearsal: TypeAlias = Callable[[Source, Request, Booking, Words], None]


def release_command(words: Words, data: Sequence[str], instead: Rehearsal | None = None) -> None:
    """Open the files, check all that was said, charge, release and write.

    ``instead``: what is done in the place of that where nothing shall be charged.
    """
    own, words = words, gather(words, data)
    named = words.get("out") not in (None, "-")
    over, excel = "overwrite" in words, "excel" in words
    out = Output("--out", Path(words["out"]), over, excel) if named else None
    text, rule = text_format(words), marks(words)
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
        save = saving(words, request, inputs)
        if instead is not None:
            instead(source, request, books, words)
        else:
            step = shown(source, request.rows)
            work = partial(carry_out, source, request, about=about, step=step, booking=books)
            _released(lambda: _marked(work(), rule), books, out, words, again=kept is not None)
    save()


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
