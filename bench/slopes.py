"""How time and memory grow with rows, queries, categories, groups and cells: slopes, drawn.

Each size is a process of its own; what the smallest release takes is taken off. A slope is that of
logarithms between the last two sizes: 1 is in step with the size, 2 its square.
"""

import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench.made import copy
from bench.processes import Command, Took, in_turns, ours, python
from bench.sheet import Part, Sheet, held

STEEPEST = 1.1
SHORTEST = 0.05  # seconds beyond the start below which a slope says nothing
PATIENCE = 600  # seconds: the largest sizes take minutes
LARGEST = int(os.environ.get("HALFNOISE_BENCH_LARGEST", "100000000"))  # no size is beyond
GROUP_ROWS, CATEGORY_ROWS, QUERY_ROWS = 5_000_000, 1_000_000, 100
ROUNDS = 1  # the processor is asked, not the clock: one is enough
WORDS = ("--no-ledger", "--out=-")
MU = ("--row-is-person", "--mu=1", *WORDS)
DELTA = ("--row-is-person", "--epsilon=8", "--delta=1e-3", "--i-know", *WORDS)

ABOUT = "Time is that of the processor beyond the start, memory the peak of the whole process."
EXPLAINED = {
    "rows, by person": "Likely the people themselves: millions of them no longer fit into a cache "
    "of the processor, where each row looks its person up. Not proved here.",
    "queries": "A scan reads at most 4,000 columns, and for each of them DuckDB goes through all "
    "columns of the file; its plans, too, take longer than in step with their columns.",
}

Asks = Callable[[Path, int], Command]


@dataclass(frozen=True, slots=True)
class Point:
    """What one size took beyond the start, of the processor too; its peak is of all."""

    size: int
    seconds: float
    busy: float
    peak: float
    failed: str = ""


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return how steep a line in logarithms is between the last two sizes."""
    (x, y), (further, above) = list(zip(sizes, values, strict=True))[-2:]
    return math.log(above / y) / math.log(further / x)


def of_time(points: Sequence[Point]) -> float:
    """Return the slope of time, or not a number where the last sizes take too little to tell.

    Seconds of the processor count: those of the clock depend on who else uses the machine.
    """
    last = [point for point in points if not point.failed][-2:]
    if len(last) < 2 or min(point.busy for point in last) < SHORTEST:
        return math.nan
    return slope([point.size for point in last], [point.busy for point in last])


def of_memory(points: Sequence[Point]) -> float:
    """Return the slope of the peak of memory, which holds what every process holds."""
    last = [point for point in points if not point.failed][-2:]
    return math.nan if len(last) < 2 else slope([p.size for p in last], [p.peak for p in last])


def _sizes(*exponents: int) -> list[int]:
    return [10**i for i in exponents if 10**i <= LARGEST]


def rows(folder: Path, size: int, who: str = "--row-is-person") -> Command:
    """Count in five columns of so many rows: a file of at most ten million, several times."""
    own = min(size, 10**7)
    drawn = ", ".join(f"random() < 0.3 as q{i}" for i in range(5))
    person = f"floor(random() * {own / 3})::bigint as person"
    kept = folder / f"{own}.parquet"
    if not kept.exists():
        copy(f"select {person}, {drawn} from range({own})", kept, "(format parquet)")
    several = folder / str(size)
    several.mkdir()
    for i in range(size // own):
        shutil.copy(kept, several / f"{i}.parquet")  # a link would be refused: the same rows twice
    return ours(
        "release", str(several), *(f"--count=q{i}" for i in range(5)), who, "--mu=1", *WORDS
    )


def rows_by_person(folder: Path, size: int) -> Command:
    """Count people, about three rows for each, in a file of so many."""
    return rows(folder, size, "--unit=person")


def queries(folder: Path, size: int) -> Command:
    """Count in so many columns; the words stand in a spec, as a command has no room for them."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, spec = folder / f"{size}.parquet", folder / f"{size}.toml"
    drawn = np.random.default_rng(5).integers(0, 2, (size, QUERY_ROWS), dtype=np.uint8)
    pq.write_table(pa.table({f"q{i}": column for i, column in enumerate(drawn)}), path)
    spec.write_text(f"count = {json.dumps([f'q{i}' for i in range(size)])}\n")
    return ours("release", str(path), "--spec", str(spec), *MU)


def categories(folder: Path, size: int) -> Command:
    """Count a choice of so many."""
    path = folder / f"{size}.parquet"
    code = f"'code' || floor(random() * {size})::int as code"
    copy(f"select {code} from range({CATEGORY_ROWS})", path, "(format parquet)")
    listed = _listed(folder, "code", size)
    return ours("release", str(path), f"--choice=code=@{listed}", *MU)


def listed_groups(folder: Path, size: int) -> Command:
    """Count in so many groups that are listed."""
    path = _shops(folder, size)
    groups = f"--groups=@{_listed(folder, 'shop', size)}"
    return ours("release", str(path), "--count=q", "--by=shop", groups, *DELTA)


def discovered_groups(folder: Path, size: int) -> Command:
    """Count in so many groups that are discovered."""
    path = _shops(folder, size)
    return ours("release", str(path), "--count=q", "--by=shop", "--groups=discover", *DELTA)


def cells(folder: Path, size: int) -> Command:
    """Count in a table of three attributes with so many cells."""
    path, side = folder / f"{size}.parquet", max(2, round(size ** (1 / 3)))
    drawn = ", ".join(f"'c' || floor(random() * {side})::int as a{i}" for i in range(3))
    copy(f"select {drawn} from range({CATEGORY_ROWS})", path, "(format parquet)")
    return python(f"""
import halfnoise as hn
axes = [hn.Choice(f"a{{i}}", [f"c{{j}}" for j in range({side - 1})]) for i in range(3)]
hn.release(
    {str(path)!r}, [hn.Table(axes)], row_is_person=True, privacy=hn.GaussianDP(mu=1), ledger=None
)
""")


DIRECTIONS: dict[str, tuple[Asks, list[int]]] = {
    "rows": (rows, _sizes(5, 6, 7, 8)),
    "rows, by person": (rows_by_person, _sizes(5, 6, 7)),
    "queries": (queries, _sizes(0, 2, 4, 5)),
    "categories": (categories, _sizes(1, 3, 4, 5)),
    "groups, listed": (listed_groups, _sizes(0, 3, 5, 6)),
    "groups, discovered": (discovered_groups, _sizes(0, 3, 5, 6)),
    "cells of a table": (cells, _sizes(1, 3, 6, 7)),
}


def _shops(folder: Path, size: int) -> Path:
    path = folder / f"{size}.parquet"
    shop = f"'shop' || floor(random() * {size})::int as shop"
    drawn = f"select {shop}, random() < 0.3 as q from range({GROUP_ROWS})"
    copy(drawn, path, "(format parquet)")
    return path


def _listed(folder: Path, stem: str, number: int) -> Path:
    path = folder / f"{stem}s-{number}.txt"
    path.write_text("".join(f"{stem}{i}\n" for i in range(number)))
    return path


def measured(asks: Asks, sizes: Sequence[int]) -> Iterator[Point]:
    """Measure a direction size by size; after one that fails there is none."""
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as name:
        folder = Path(name)
        small = folder / "ten.csv"
        small.write_text("q\n" + "0\n1\n" * 5)
        start = ours("release", str(small), "--count=q", *MU)
        for size in sizes:
            took = in_turns({"start": start, "ours": asks(folder, size)}, ROUNDS, PATIENCE)
            beyond: Took = took["ours"].beyond(took["start"])
            yield Point(size, beyond.seconds, beyond.busy, beyond.peak / 1e6, beyond.failed)
            if beyond.failed:
                return


def part(say: Callable[[str], None] = print, wanted: Callable[[str], bool] = bool) -> Part:
    """Measure all, and return the tables."""
    found = {}
    for name, (asks, sizes) in DIRECTIONS.items():
        if wanted(f"slopes, {name}"):
            say(name)
            found[name] = list(measured(asks, sizes))
    return tabulated(found)


def tabulated(found: Mapping[str, Sequence[Point]]) -> Part:
    """Return the tables of what was measured: each size, and the slopes."""
    facts, each, steep = dict[str, float](), [], []
    for name, points in found.items():
        for point in points:
            if point.failed:
                each.append((name, f"{point.size:,}", point.failed, "", ""))
                continue
            took = (f"{point.seconds:.2f}", f"{point.busy:.2f}", f"{point.peak:.0f}")
            each.append((name, f"{point.size:,}", *took))
            facts[f"{name}: {point.size}: seconds"] = point.busy
            facts[f"{name}: {point.size}: megabytes"] = point.peak
        time, memory = of_time(points), of_memory(points)
        ended = not any(point.failed for point in points)
        judged = "" if math.isnan(time) else held(ended and max(time, memory) <= STEEPEST)
        shown = "too short to tell" if math.isnan(time) else f"{time:.2f}"
        steep.append((name, shown, f"{memory:.2f}", f"{STEEPEST:g}", judged))
    missed = [name for name, *_, judged in steep if judged == "OVER" and name in EXPLAINED]
    slopes = Sheet(
        "slopes between the last two sizes",
        ("in step with", "of time", "of memory", "at most", ""),
        steep,
        " ".join([ABOUT, *(f"{name.capitalize()}: {EXPLAINED[name]}" for name in missed)]),
    )
    columns = ("what grows", "size", "seconds beyond the start", "of the processor", "peak MB")
    return Part([slopes, Sheet("each size", columns, each)], facts)


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the tables, with those lines alone that are wanted."""
    found = part(wanted=wanted)
    if found.facts:
        for sheet in found.sheets:
            Console(width=130).print(sheet.grid())
