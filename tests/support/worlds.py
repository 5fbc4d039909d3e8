"""A table, and the same without one person, with another one, or with one's rows all changed.

Whoever comes or changes does what they can to be noticed: cells that are no numbers, no text, or
without end, what terminals, spreadsheets, formats and databases take for orders, and lines that are
no rows. There are others enough in each group that noise hides one more.
"""

import datetime as dt
import functools
import gzip
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfnoise.design.design import Measurement
from halfnoise.design.group_measurement import GroupMeasurement
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.design.row_measurement import RowMeasurement
from halfnoise.noise.law import Noise
from halfnoise.workload.grid import Ring
from halfnoise.workload.totals import Totals
from support import stored

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("smoker", pa.string()),
        ("age", pa.int64()),
        ("income", pa.float64()),
        ("blood", pa.string()),
        ("item", pa.string()),
        ("day", pa.date32()),
        ("note", pa.string()),
    ]
)
COLUMNS = SCHEMA.names
DAY = dt.date(2026, 11, 15)
COMMON = 6  # lines that are no rows may be read as people of their own, but not as so many


@dataclass(frozen=True)
class Person:
    """What is in a person's cells: text, a whole number, a fraction, a day; or whole lines."""

    text: str | None
    whole: int | None = None
    fraction: float | None = None
    day: dt.date | None = None
    lines: tuple[bytes, ...] = ()

    def row(self, name: str) -> tuple[Any, ...]:
        """Return one of their rows."""
        text = self.text
        return (name, text, self.whole, self.fraction, text, text, self.day, text)


Write = Callable[["World"], bytes]
PLAIN = Person("A", 30, 12.5, DAY)
LONG = "x" * 70_000
NOTICED = [
    Person("=HYPERLINK(1)", 2**63 - 1, float("nan"), dt.date(1, 1, 1), (b"9,1\n",)),
    Person(
        "\x1b[31m\u202e\x1e\x7f", -(2**63), float("inf"), dt.date(9999, 12, 31), (b"\xff\xfe\n",)
    ),
    Person("%s %d %n {0} {note} ${x}", 0, 1e308, None, (b'"p,"q"r,\n', b'p,"open\n')),
    Person("'; drop table x; --", None, -0.0, DAY, (b",,,,,,,,,,,,,,\n", b"\n\n")),
    Person(LONG, 7, 5e-324, DAY, (b"p\0,yes,\x80,1e400\r,A,a,2026-11-15,\n",)),
    Person("", 1, -1e308, None, (b"{\n", b"[1, 2]\n", b'{"id": {"id": []}}\n')),
    Person("-99", -99, -float("inf"), dt.date(1958, 3, 2), (b"\xef\xbb\xbfid,smoker,age\n",)),
    Person("\u212a\u0130\u00df\ufffd\U0001f642", 30, 12.5, DAY, (b"id,smoker,age,income,blood\n",)),
    Person("12abc", 2**53 + 1, 2.0**63, DAY, (b"B\n" * 3,)),
    Person(None, None, None, None, (b"nan,nan,nan,nan,nan,nan,nan,nan\n",)),
]


@dataclass(frozen=True)
class World:
    """The rows of a table: of others and, at some place among them, of who makes the difference.

    ``lines``: rows, too, where a table is text.
    """

    rows: tuple[tuple[Any, ...], ...]
    lines: tuple[bytes, ...] = ()

    @functools.cached_property
    def table(self) -> pa.Table:
        """The rows with their types."""
        return pa.Table.from_pylist(
            [dict(zip(COLUMNS, row, strict=True)) for row in self.rows], SCHEMA
        )


def others() -> list[tuple[Any, ...]]:
    """Return the rows of twelve people, ``COMMON`` of them with each blood, age and month."""
    found = []
    for i in range(12):
        text = ("yes", "no", "1", None)[i % 4]
        day = dt.date(2026, 1 + i % 2, 5)
        row = (f"o{i}", text, 20 + i % 2, 10.25 * i, "AB"[i % 2], "abc"[i % 3], day, "said")
        found += [row, row] if i % 5 == 0 else [row]
    return found


def around(rows: Sequence[tuple[Any, ...]], lines: Sequence[bytes], place: int) -> World:
    """Put somebody's rows among the others': first, last or between."""
    crowd = others()
    at = (0, len(crowd) // 2, len(crowd))[place % 3]
    return World((*crowd[:at], *rows, *crowd[at:]), tuple(lines))


def worlds(turn: int, *, replaced: bool = False) -> tuple[World, Iterator[World]]:
    """Return a table, and its neighbours: without a person, with another one, or one changed.

    ``replaced``: only the last, as where nobody comes or goes.
    """
    odd = NOTICED[turn % len(NOTICED)]
    base = around([PLAIN.row("p")], (), turn)

    def neighbours() -> Iterator[World]:
        yield around([odd.row("p")], () if replaced else odd.lines, turn)
        if not replaced:
            yield around([PLAIN.row("p"), odd.row("q"), odd.row("q")], odd.lines, turn + 1)
            yield around([], (), turn)

    return base, neighbours()


def couple(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let noise hide the one person wholly: what gets out is the same for all neighbours.

    All that is said of a release, its words and its notes included, is made of what gets out. So
    this is where anything else can be seen that is not. Groups that nobody else is in stay hidden.
    """

    def same(measure: Callable[..., list[Ring]], grid: Measurement, totals: Totals) -> list[Ring]:
        there = np.ones(len(totals.people), dtype=bool)
        if totals.keys is not None:
            there = totals.people >= COMMON
        sums = tuple(
            np.where(there[:, None], np.uint64(300 / block.quantum), np.uint64(0))
            + np.zeros_like(own)
            for block, own in zip(grid.blocks, totals.sums, strict=True)
        )
        people = np.where(there, np.uint64(1000), np.uint64(1))
        everyone = np.full_like(totals.everyone, 1500)
        return measure(grid, Totals(sums=sums, people=people, everyone=everyone))

    for kind in (CenteredMeasurement, RowMeasurement, GroupMeasurement):
        own = functools.partial(same, kind.measure)
        monkeypatch.setattr(kind, "measure", functools.partialmethod(lambda *x, own=own: own(*x)))
    monkeypatch.setattr(Noise, "draw", lambda _, scales: np.zeros(scales.shape, dtype=np.int64))


def _cell(cell: Any) -> str:
    return "" if cell is None else cell if isinstance(cell, str) else repr(_bare(cell))


def _bare(cell: Any) -> Any:
    return _Day(cell.isoformat()) if isinstance(cell, dt.date) else cell


class _Day(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def delimited(mark: str = ",", encoding: str = "utf-8", *, header: bool = True) -> Write:
    """Return a writer of lines of cells as they are: nothing in them is quoted."""

    def write(world: World) -> bytes:
        lines = [mark.join(COLUMNS)] * header
        lines += [mark.join(map(_cell, row)) for row in world.rows]
        text = "".join(f"{line}\n" for line in lines).encode(encoding, "replace")
        own = world.lines if encoding == "utf-8" else ()
        return text + b"".join(own)

    return write


def json_lines(world: World) -> bytes:
    """Write a line of JSON for each row, in Python's words where JSON has none."""
    rows = [dict(zip(COLUMNS, map(_bare, row), strict=True)) for row in world.rows]
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode() + b"".join(world.lines)


def parquet(world: World) -> bytes:
    """Write Parquet in several parts."""
    target = io.BytesIO()
    pq.write_table(world.table, target, row_group_size=len(world.rows) // 3)
    return target.getvalue()


def kept(make: Callable[[Any, Path], Path], *, typed: bool = False) -> Write:
    """Return a writer of what people keep tables in: sheets and databases."""

    def write(world: World) -> bytes:
        table = (
            world.table if typed else dict(zip(COLUMNS, zip(*world.rows, strict=True), strict=True))
        )
        with tempfile.TemporaryDirectory() as folder:
            return make(table, Path(folder)).read_bytes()

    return write


def zipped(write: Write, cut: int = 0) -> Write:
    """Return a writer of a zipped file, of which the last bytes may be missing."""
    return lambda world: gzip.compress(write(world))[: -cut or None]


def halves(write: Write) -> dict[str, Write]:
    """Write two files, with half of the rows each."""

    def half(which: int) -> Write:
        def written(world: World) -> bytes:
            middle = len(world.rows) // 2
            rows = world.rows[:middle] if which else world.rows[middle:]
            return write(World(rows, () if which else world.lines))

        return written

    return {"1": half(1), "2": half(0)}


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name, with {} for its part; how it is written, and the words for that."""

    name: str
    write: Write | dict[str, Write]
    words: str = ""

    def put(self, world: World, folder: Path) -> str:
        """Write it, and return its name, or a pattern."""
        parts = self.write if isinstance(self.write, dict) else {"": self.write}
        for part, write in parts.items():
            (folder / self.name.format(part)).write_bytes(write(world))
        return str(folder / self.name.format("*"))


CSV = delimited()
FILES: dict[str, Kind] = {
    "csv": Kind("data.csv", CSV),
    "tsv": Kind("data.tsv", delimited("\t")),
    "json lines": Kind("data.jsonl", json_lines),
    "zipped": Kind("data.csv.gz", zipped(CSV)),
    "zipped json": Kind("data.jsonl.gz", zipped(json_lines)),
    "parquet": Kind("data.parquet", parquet),
    "two files": Kind("data{}.csv", halves(CSV)),
    "two of parquet": Kind("data{}.parquet", halves(parquet)),
    "utf-16": Kind("data.csv", delimited(encoding="utf-16"), "--encoding utf-16"),
    "latin-1": Kind("data.csv", delimited(encoding="latin-1"), "--encoding latin-1"),
    "semicolons": Kind("data.txt", delimited(";"), "--delimiter ;"),
    "unquoted": Kind("data.csv", CSV, "--quote none"),
    "no header": Kind("data.csv", delimited(header=False), f"--names {','.join(COLUMNS)}"),
    "titles": Kind("data.csv", lambda world: b"A\ntitle\n" + CSV(world), "--skip 2"),
    "xlsx": Kind("data.xlsx", kept(stored.xlsx)),
    "ods": Kind("data.ods", kept(stored.ods)),
    "sqlite": Kind("data.sqlite", kept(stored.sqlite)),
    "duckdb": Kind("data.duckdb", kept(stored.duckdb_file, typed=True)),
}
# What is wrong with these is nobody's row. (With ``--names``, which says that there is no header, a
# file that is not made of the encoding's units is refused by its size: docs/sharp-edges.md.)
DAMAGED: dict[str, Kind] = {
    "header missing": Kind("data.csv", delimited(header=False)),
    "read as utf-16": Kind("data.csv", CSV, "--encoding utf-16"),
    "read as utf-8": Kind("data.csv", delimited(encoding="utf-16")),
    "read as utf-32": Kind("data.csv", CSV, "--encoding utf-32-be"),
    "other delimiter": Kind("data.csv", CSV, "--delimiter ;"),
    "end cut off": Kind("data.csv.gz", zipped(CSV, 8)),
    "not zipped": Kind("data.csv.gz", CSV),
    "zipped twice": Kind("data.csv.gz", zipped(zipped(CSV))),
    "footer cut off": Kind("data.parquet", lambda world: parquet(world)[:-4]),
    "no parquet": Kind("data.parquet", CSV),
    "parquet in csv": Kind("data.csv", parquet),
    "a column twice": Kind("data.csv", lambda world: CSV(world).replace(b"note\n", b"age\n", 1)),
    "names missing": Kind("data.csv", CSV, "--names a,b"),
    "no sheet": Kind("data.xlsx", CSV),
    "end of a sheet cut off": Kind("data.xlsx", lambda world: kept(stored.xlsx)(world)[:-99]),
    "no database": Kind("data.db", CSV),
    "unlike headers": Kind("data{}.csv", {"1": CSV, "2": delimited(";")}),
}
