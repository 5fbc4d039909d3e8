"""Sources of bits for tests: words from a script, and all scripts of a shortened sampler."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from halfnoise.noise.bits import Bits
from halfnoise.noise.exact import Point
from halfnoise.noise.sampler import Sampler
from halfnoise.noise.staircase import Layout, Table


class OutOfWordsError(Exception):
    """The script ends before the sampler is done."""


@dataclass
class Script:
    """Words given in advance."""

    words: Sequence[int]
    used: int = 0

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Hand out the next words of the script."""
        if self.used + len(words) > len(self.words):
            raise OutOfWordsError
        words[:] = self.words[self.used : self.used + len(words)]
        self.used += len(words)


@dataclass
class Tape:
    """A recorded run of words, and one fixed word for whatever else the certain path asks for."""

    words: NDArray[np.uint64]
    used: int = 0

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Hand out the next words of the tape, if more than one is wanted."""
        if len(words) == 1:
            words[0] = 0xB504_F333_F9DE_6484
            return
        words[:] = self.words[self.used : self.used + len(words)]
        self.used += len(words)


class Forgetful(Sampler):
    """Puts every draw in doubt and keeps its first bits only: the certain path draws the others.

    Were some draws decided by floats, forgetting bits of the others would not be fair.
    """

    def __init__(self, table: Table, bits: Bits, count: int) -> None:
        """Widen the margins beyond everything."""
        super().__init__(doubtful(table), bits, count)

    def point(self, place: int, *, tail: bool = False) -> Point:
        """Forget all but four bits of the place."""
        point = super().point(place, tail=tail)
        if not tail:
            point.uniform.numerator >>= self.table.layout.place_bits - 4
            point.uniform.drawn = 4
        return point


def doubtful(table: Table) -> Table:
    """Return a table with margins so wide that floats settle nothing."""
    return replace(table, margin=table.margin + 1e6, place_error=1e6)


def candidate(table: Table, scale: float, words: Sequence[int]) -> int | None:
    """Return what one candidate becomes with these words: an integer, or None if rejected."""
    sampler = Sampler(table, Script(words), 1)
    places, points = sampler.accepted(1)
    if not len(places):
        return None
    out = np.empty(1, dtype=np.int64)
    sampler.round(out, scale, places, points)
    return int(out[0])


def children(words: tuple[int, ...], layout: Layout) -> Iterator[tuple[int, ...]]:
    """Return every script that is one word longer."""
    length = layout.word_bits if words else layout.index_bits + layout.place_bits
    return ((*words, word) for word in range(1 << length))


def enumerated(
    table: Table, scale: float, depth: int
) -> tuple[dict[int | None, Fraction], list[Fraction]]:
    """Return outcomes' exact probabilities by scripts of ``depth`` words, and what is undecided.

    The list holds the undecided probability after each number of words.
    """
    layout = table.layout
    decided: dict[int | None, Fraction] = {}
    undecided = []
    frontier: list[tuple[int, ...]] = [()]
    for length in range(1, depth + 1):
        bits = layout.index_bits + layout.place_bits + (length - 1) * layout.word_bits
        waiting = []
        for words in (child for parent in frontier for child in children(parent, layout)):
            try:
                outcome = candidate(table, scale, words)
            except OutOfWordsError:
                waiting.append(words)
            else:
                decided[outcome] = decided.get(outcome, Fraction(0)) + Fraction(1, 1 << bits)
        frontier = waiting
        undecided.append(Fraction(len(frontier), 1 << bits))
    return decided, undecided
