"""What was found out about a release before it is made: as lines, and as JSON."""

import math
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from halfnoise.cli.checking import Checked
from halfnoise.data.codebook import open_questions
from halfnoise.data.meaning import Types, condition, kind_of, readings, weighed
from halfnoise.data.sources.files import ending_of, unused
from halfnoise.data.sources.source import PLACES, Source, TextFormat
from halfnoise.data.spelling import BLANKS, Spelling
from halfnoise.ledger.booking import NO_LEDGER
from halfnoise.ledger.words import left
from halfnoise.request import Request
from halfnoise.spec.queries import Words
from halfnoise.spec.vocabulary import TEXT
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.nested import Nested
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.queries import Asked, Query, each_alone
from halfnoise.workload.tables import Table
from halfnoise.workload.workload import Workload

_FORMATS = {".jsonl": "JSON lines", ".ndjson": "JSON lines", ".parquet": "Parquet"}
_NAMES = "columns: are they spelled as in the file? JSON lines have no header that could tell."
NOTHING = "No row was read and nothing was spent."


def to_dict(found: Checked) -> dict[str, Any]:
    """Return all that was found as plain values, ready for JSON."""
    shown: dict[str, Any] = {
        "file": None if found.source is None else _file(found.source, found.words)
    }
    if found.request is not None:
        shown |= _asked(found, found.request)
    shown["plan"] = None if found.planned is None else found.planned.to_dict()
    shown["ledger"] = _ledger(found)
    return shown | {"refused": [str(error) for error in found.refused]}


def to_text(found: Checked) -> str:
    """Return all that was found, in plain lines."""
    shown, lines = to_dict(found), list[str]()
    if file := shown["file"]:
        names = ", ".join(file["names"])
        lines.append(f"{names}: {file['format']}" + (", zipped" if file["zipped"] else ""))
        for how, said in (("As declared", file["declared"]), ("By default", file["default"])):
            marks = ", ".join(f"{n.replace('_', '-')} {_word(value)}" for n, value in said.items())
            lines += [f"  {how}: {marks}"] if said else []
    for query in shown.get("queries", ()):
        lines.append(f"{query['kind']} {query['name']!r}: {query['meaning']}")
        held = [f"{column} ({kind})" for column, kind in query["columns"].items()]
        lines += [f"  reads {', '.join(held)}"] if held else []
        lines += [f"  {line}" for line in query["read_as"]]
    if found.request is not None:
        lines += _people(shown)
    if questions := shown.get("look_up"):
        lines += ["", "Look up in the codebook:", *(f"  {question}" for question in questions)]
    if found.planned is not None:
        lines += ["", repr(found.planned)]
    lines += [shown["ledger"]] if shown["ledger"] else []
    if found.refused:
        lines += ["", "Refused:", *(f"  {error}" for error in found.refused)]
    return "\n".join(lines)


def _file(source: Source, words: Words) -> dict[str, Any]:
    """Return which files there are, and how their text is read: by declaration, or by default."""
    names = [Path(name).name for name in source.files[:3]]
    names += [f"and {len(source.files) - 3:,} more"] if len(source.files) > 3 else []
    first = Path(source.files[0])
    zipped, ending = first.suffix.lower() == ".gz", ending_of(first)
    text, plain = source.text, TextFormat()
    others = {*unused(ending), "comma"}  # which is what the delimiter is by default
    marks = {n: getattr(text, n) for n in (each.name for each in fields(text)) if n not in others}
    settled = ("delimiter", *PLACES)  # what the file itself may have told
    said = {n for n, v in marks.items() if n not in settled and v != getattr(plain, n)}
    said |= {"delimiter"} if text.delimiter == text.comma != plain.comma else set()  # by a dialect
    named = {name.removeprefix("file-").replace("-", "_") for name in words if name in TEXT}
    said |= named  # or by another word that stands for it
    declared = {n: _plain(v) for n, v in marks.items() if n in said}
    default = {n: _plain(v) for n, v in marks.items() if n not in declared and v not in (None, ())}
    return {
        "names": names,
        "format": _FORMATS.get(ending, ending[1:].upper()),
        "zipped": zipped,
        "declared": declared,
        "default": default,
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _word(value: Any) -> str:
    """Write a mark as an option has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return (BLANKS | {"\t": "tab", None: "none"}).get(value, str(value))


def _asked(found: Checked, request: Request) -> dict[str, Any]:
    workload, types = request.workload, found.types
    text = TextFormat() if found.source is None else found.source.text
    queries = [
        {
            "kind": query.kind,
            "name": query.label,
            "meaning": query.meaning,
            "columns": {c: kind_of(types[c]) for c in query.columns if c in types},
            "read_as": [*_read_as(query, workload, types, text.spelling)],
        }
        for query in workload.queries
    ]
    who = [
        {"condition": str(each), "read_as": [*condition(each, types, text.spelling)]}
        for each in workload.who
        if each.column in types
    ]
    own = workload.weight
    weight = own and {
        "meaning": own.meaning,
        "read_as": [*weighed(own, types, text.spelling)] if own.column in types else [],
    }
    return {
        "queries": queries,
        "unit": list(request.unit) or ("row" if request.row_is_person else None),
        "where": who,
        "weight": weight,
        "groups": None if workload.grouping is None else workload.grouping.words,
        "weights": dict(workload.importance),
        "look_up": [
            *open_questions(workload, types, text, request.unit, rows=request.row_is_person),
            *([_NAMES] if found.source is not None and found.source.extract is not None else []),
        ],
    }


def _read_as(query: Asked, workload: Workload, types: Types, spelling: Spelling) -> Iterator[str]:
    """Say how the columns of a query are read, or of a table how many cells it has."""
    if isinstance(query, Table):
        yield from _cells_of(query, workload)
    elif query.columns and all(column in types for column in query.columns):
        for each in each_alone([query]) if isinstance(query, Nested) else [query]:
            yield from (*readings(each, types, spelling), *_broken(each))
        if isinstance(query, Nested):
            yield ", ".join(f"{len(each.names):,} of {each.label}" for each in query.levels)


def _cells_of(table: Table, workload: Workload) -> Iterator[str]:
    """Say how many cells a table has, and how many each of its axes."""
    blocks = [block for block in workload.blocks if isinstance(block, TableBlock)]
    levels = {axis.label: len(axis.names) for block in blocks for axis in block.axes}
    each = [levels[label] for label in table.labels]
    by = " x ".join(map(str, each))
    yield f"{math.prod(each):,} cells: {by}, with what is missing or not listed"


def _broken(query: Query) -> Iterator[str]:
    """Say by which cells a number is broken down."""
    if isinstance(query, Count | Sum | Mean) and query.by:
        tables = [" x ".join(labels) for labels in (query.by, *query.within)]
        yield f"in each cell of {', of '.join(tables)}, with all margins"


def _people(shown: dict[str, Any]) -> Iterator[str]:
    unit = shown["unit"]
    if isinstance(unit, list):
        yield f"One person: rows with the same {', '.join(unit)}. {NOTHING}"
    else:
        yield f"One person: {'one row' if unit else 'not said yet'}. {NOTHING}"
    for who in shown["where"]:
        yield f"In the table: {who['condition']}"
        yield from (f"  {line}" for line in who["read_as"])
    if shown["weight"]:
        yield f"Each counts as often as {shown['weight']['meaning']}"
        yield from (f"  {line}" for line in shown["weight"]["read_as"])
    if shown["groups"]:
        yield shown["groups"]
    for name, weight in shown["weights"].items():
        yield f"A squared error of {name!r} weighs {weight:g}."


def _ledger(found: Checked) -> str | None:
    """Say what would be charged where, and what would be left."""
    books = found.books
    if books is None or found.request is None or found.source is None:
        return None
    if books.ledger is None:
        return NO_LEDGER
    place = books.ledger.store.name
    if books.charge is not None:
        state = f"{books.charge.name!r} is {books.charge.state}"
        return f"Ledger {place}: {state}; nothing more would be charged."
    if found.after is not None:
        after = left(found.after)
        return f"Ledger {place}: with this release, {after[:1].lower()}{after[1:]}."
    return None if books.ledger.is_there() else f"A new ledger would be made: {place}."
