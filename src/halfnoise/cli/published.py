"""What is done with releases that are made: they are read from files, and nothing is spent."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from halfnoise.checks import number, refuse
from halfnoise.cli.leaving import note
from halfnoise.errors import DataError
from halfnoise.ledger.ledger import Ledger
from halfnoise.report.embedded import read
from halfnoise.results.formats import COMPARED, Output
from halfnoise.results.note import Note
from halfnoise.results.note import note as note_of
from halfnoise.results.release import Released
from halfnoise.spec.queries import Words

NOTES: Mapping[str, Callable[[Note], str]] = {
    ".md": Note.markdown,
    ".html": lambda found: found.html(whole=True),
}


def compare_command(words: Words, earlier: str, later: str) -> None:
    """Print what changed from one release to another, or write it to a file."""
    out = _output(words, [earlier, later], COMPARED)
    before, after = _read(earlier), _read(later)
    level = number("--level", words["level"]) if "level" in words else None
    found = after.compare(before, level=level, shares="shares" in words)
    if out is None:
        typer.echo(found.to_json() if "json" in words else found.text())
        return
    out.write_bytes(COMPARED[out.path.suffix.lower()](found))
    note(f"Written to {words['out']}.")
    for line in found.notes():
        note(line)


def note_command(words: Words, name: str) -> None:
    """Print the method note of a release, or write it to a file."""
    out = _output(words, [name], NOTES)
    ledger = Ledger(words["ledger"]) if "ledger" in words else None
    found = note_of(read(name), words.get("language", "en"), ledger)
    if out is None:
        typer.echo(found.markdown(), nl=False)
        return
    out.write_bytes(NOTES[out.path.suffix.lower()](found).encode())
    note(f"Written to {words['out']}.")


def _read(name: str) -> Released:
    """Return a release from its file; of two, the name tells which cannot be read."""
    try:
        return read(name)
    except DataError as error:
        raise DataError(str(error) if name in str(error) else f"{name!r}: {error}") from None


def _output(words: Words, inputs: Sequence[str], endings: Mapping[str, Any]) -> Output | None:
    """Return the file to be written, if one is named, checked before anything is done."""
    if "out" not in words:
        return None
    out = Output("--out", Path(words["out"]), "overwrite" in words)
    if out.path.suffix.lower() not in endings:
        raise refuse("--out", f"a file ending in {', '.join(endings)}", words["out"])
    out.check(inputs, a_release=False)
    return out
