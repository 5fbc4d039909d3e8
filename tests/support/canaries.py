"""Canaries: a table whose cells are all known by sight, however they are written, and its totals.

Text and numbers begin with letters and digits that nothing else begins with, and end differently in
each cell; days are of a century that nobody asks for. Answers and groups have to be words that are
asked for, so there the totals are what is known by sight. The noise is real, but its bits are the
same in each run (``same_bits``): what looks like a canary by chance does so always or never, and no
run raises a false alarm that another one does not. That one shows up where the code comes to draw
otherwise: nine digits of a cell in 10^5 digits of noise, 1e-4; one of five totals among a thousand
numbers with noise in the millions, rounded to whole ones in a table, 1e-3.
"""

import datetime as dt
import functools
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from halfnoise.noise import rounded
from halfnoise.workload.totals import Totals
from support.worlds import World

PEOPLE, SMOKERS, IN_A = 3_407, 2_039, 2_617
MARK, WHOLE, FRACTION = "kqzvx7w2m", 839_271_604_000_000, "27.4913604"
FIRST = dt.date(1601, 1, 1)
TEXTS = re.compile(
    rf"{MARK}|839,?271,?604|8\.39271604|27\.4913604|\b16[0-2]\d-\d\d-\d\d\b".encode(), re.IGNORECASE
)


@functools.cache
def canaries() -> World:
    """Return the table: a row for each person."""
    return World(
        tuple(
            (
                f"{MARK}i{i}",
                "yes" if i < SMOKERS else "no",
                WHOLE + 37 * i,
                float(f"{FRACTION}{i:05}"),
                "A" if i % 7 * 487 + i // 7 < IN_A else "B",
                f"{MARK}t{i}",
                FIRST + dt.timedelta(i),
                f"{MARK}n{i}",
            )
            for i in range(PEOPLE)
        )
    )


class SameBits:
    """Bits that are the same in each run."""

    def __init__(self) -> None:
        """Start anew."""
        self.draw = np.random.default_rng(11)

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Overwrite every word with the next ones."""
        words[:] = self.draw.integers(0, 2**64, len(words), dtype=np.uint64)


def same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the noise be made of the same bits in each run."""
    bits = SameBits()
    monkeypatch.setattr(rounded, "system_bits", lambda: bits)


def true_totals(totals: Totals) -> set[int]:
    """Return the exact numbers of a release, those large enough to be known by sight."""
    arrays = [*totals.sums, totals.people, totals.everyone]
    found = {int(x) for each in arrays for x in each.view(np.int64).ravel()}
    return {abs(x) for x in found if abs(x) > 1000}


def seen(text: bytes, totals: Iterable[int] = ()) -> list[bytes]:
    """Return what of the cells, of the totals and of the number of people is in some bytes."""
    found = [match.group() for match in TEXTS.finditer(text)]
    found += [
        match.group() for match in TEXTS.finditer(text.decode("utf-16-le", "ignore").encode())
    ]
    found += _numbers(text, {PEOPLE, SMOKERS, IN_A, PEOPLE - IN_A, *totals})
    return found + [str(x).encode() for x in sorted(_held(text, set(totals)))]


def _numbers(text: bytes, totals: set[int]) -> Iterator[bytes]:
    """Find whole numbers, with commas or without, and .0 after them or not."""
    listed = {str(x).encode() for x in totals}
    for match in re.finditer(rb"(?<![\w.,-])\d[\d,]*(?=(\.0+)?(?![\w.,]|\.\d))", text):
        if match.group().replace(b",", b"") in listed:
            yield match.group()


def _held(text: bytes, totals: set[int]) -> set[Any]:
    """Find numbers as machines hold them: of eight bytes, whole or a fraction, in either order."""
    words = [
        np.frombuffer(text, "<u8", (len(text) - start) // 8, start)
        for start in range(min(8, max(0, len(text) - 7)))
    ]
    there = {int(x) for x in np.concatenate(words or [np.zeros(0)])}
    known = {_word(form, x): x for x in totals for form in ("<q", ">q", "<d", ">d")}
    return {known[x] for x in there & known.keys()} | {_cells()[x] for x in there & _cells().keys()}


@functools.cache
def _cells() -> dict[int, Any]:
    forms = ((row[place], form) for row in canaries().rows for place, form in _PLACES)
    return {_word(form, x): x for x, form in forms}


_PLACES = ((2, "<q"), (2, ">q"), (3, "<d"), (3, ">d"))


def _word(form: str, x: float) -> int:
    return int.from_bytes(struct.pack(form, x), "little")


def files_in(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Go through all files below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path, path.read_bytes()


# A table is not text: what an engine holds is the caller's own, or a way to it, and is not shown by
# anything of ours. All else that a frame of ours knows is what a traceback with locals would print.
ENGINES = ("pandas", "polars", "pyarrow", "duckdb", "_duckdb", "narwhals", "ibis", "pyspark")


def known_to(error: BaseException | None) -> Iterator[str]:
    """Go through all that frames of ours know, on the way of an error and of those before it."""
    walked: list[BaseException] = []
    waiting = [error]
    while waiting:
        each = waiting.pop()
        if each is None or each in walked:
            continue
        walked.append(each)
        waiting += [each.__cause__, each.__context__]
        yield from map(repr, each.args)
        trace = each.__traceback__
        while trace is not None:
            if str(trace.tb_frame.f_globals.get("__name__")).startswith("halfnoise"):
                for value in trace.tb_frame.f_locals.values():
                    yield from _texts(value)
            trace = trace.tb_next


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for pair in value.items() for each in pair for text in _texts(each))
    elif type(value) in (list, tuple, set, frozenset):
        yield from (text for each in value for text in _texts(each))  # type: ignore[attr-defined]
    elif type(value).__module__.partition(".")[0] not in ENGINES:
        yield repr(value)
