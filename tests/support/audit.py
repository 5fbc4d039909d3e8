"""What an attacker learns from releases of two neighbouring tables: a lower bound on the loss.

The attacker knows both tables and the design, sees one release, and guesses which table it is of.
Many releases of each show how often the best guess is wrong, and so how much is lost at least:

- Gaussian noise: the likelihood ratio is a direction. With alpha the probability that a release of
  the first table lies beyond a point on it, and beta that one of the second does not,
  mu >= Phi^-1(1 - alpha) - Phi^-1(beta), and both probabilities are bounded from above.
- Laplace noise: epsilon >= ln P(E of the second) - ln P(E of the first) for any event E. The best E
  is that each number lies beyond its value in the second table. Numbers have independent noises, so
  P(E) is a product: one power for all numbers that move by as much. E is too rare to be counted.

All bounds are exact (Clopper and Pearson), at points that the design alone fixes.
"""

import functools
import itertools
import math
import operator
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import beta, binom

from halfnoise import GaussianDP, Neighbors, PureDP, Workload, plan
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.mechanism import noisy
from halfnoise.noise.law import Noise
from halfnoise.planning.plan import Plan
from halfnoise.request import Request
from halfnoise.workload.grid import Ring
from halfnoise.workload.totals import Totals
from support.brute_force import Person, people
from support.loss import declared
from support.measured import grid_for
from support.quanta import in_quanta

Floats = NDArray[np.float64]
PARTS = 4  # in which releases are drawn, to save memory
MU, EPSILON = GaussianDP(mu=2), PureDP(epsilon=2.5)  # where 5% show best


@dataclass(frozen=True)
class Counted:
    """Of so many draws, how often an event was seen; and bounds on its probability.

    ``power``: how many such events, which are independent, there are in each release.
    """

    seen: int
    draws: int
    power: int = 1

    def most(self, level: float) -> float:
        """Return a bound from above that fails with this probability."""
        return float(beta.ppf(1 - level, self.seen + 1, self.draws - self.seen))

    def least(self, level: float) -> float:
        """Return a bound from below that fails with this probability."""
        return float(beta.ppf(level, self.seen, self.draws - self.seen + 1))


class SeenError(Exception):
    """Carries what a release would be made of, as soon as it has its noise."""

    def __init__(self, rings: list[Ring]) -> None:
        """Take it."""
        super().__init__()
        self.rings = rings


class Watched:
    """A measurement that is taken many times at once, and shown before it comes back."""

    def __init__(self, measurement: CenteredMeasurement, draws: int) -> None:
        """Stand where a measurement does."""
        self.own, self.draws = measurement, draws

    def __getattr__(self, name: str) -> Any:
        """Be like the measurement in all other things."""
        return getattr(self.own, name)

    def shapes(self, groups: int) -> list[tuple[int, ...]]:
        """Say that it is repeated."""
        return [(self.draws, *shape) for shape in self.own.shapes(groups)]

    def measure(self, totals: Totals) -> list[Ring]:
        """Measure once, and repeat it."""
        rings = self.own.measure(totals)
        return [np.broadcast_to(ring, (self.draws, *ring.shape)) for ring in rings]

    def recover(self, rings: list[Ring], _known: float | None = None) -> None:
        """Show what has its noise."""
        raise SeenError(rings)

    passed = recover


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables under a design: what is measured of each, and in which scales."""

    plan: Plan
    grid: CenteredMeasurement
    worlds: tuple[Totals, Totals]

    @functools.cached_property
    def moved(self) -> Floats:
        """How far apart they are."""
        one, other = (self.grid.measure(world) for world in self.worlds)
        return self._in_scales([b - a for a, b in zip(one, other, strict=True)])

    def _in_scales(self, rings: Sequence[Ring]) -> Floats:
        scales = self.grid.scales
        each = (r.view(np.int64) / s for r, s in zip(rings, scales, strict=True))
        return np.concatenate([x.reshape(*x.shape[:-2], -1) for x in each], axis=-1)

    @property
    def loss(self) -> float:
        """What the two cost by the design's own scales."""
        return float((np.abs(self.moved) ** self.noise.p).sum() ** (1 / self.noise.p))

    @property
    def noise(self) -> Noise:
        """The kind of noise."""
        return self.grid.design.noise

    @property
    def claim(self) -> float:
        """What is promised."""
        return declared(self.grid)

    def released(self, world: int, draws: int) -> Floats:
        """Release one of the two so often; return how far from the first table each one lies."""
        watched: Any = Watched(self.grid, draws)
        asked = Request(workload=self.plan.workload, known_size=None)
        try:
            noisy(self.plan, watched, self.worlds[world], asked)
        except SeenError as seen:
            base = self.grid.measure(self.worlds[0])
            return self._in_scales([r - b for r, b in zip(seen.rings, base, strict=True)])
        raise AssertionError

    @functools.cached_property
    def alike(self) -> list[Any]:
        """The numbers that move, in lots that move equally far."""
        far = np.abs(self.moved).round(12)
        return [np.flatnonzero(far == each) for each in np.unique(far) if each]

    def counted(self, draws: int) -> list[tuple[Counted, Counted]]:
        """Return how often releases of the first, and of the second, lie beyond the points."""
        lots = [draws // PARTS] * PARTS
        one, other = (
            [sum(each) for each in zip(*(self._beyond(world, lot) for lot in lots), strict=True)]
            for world in (0, 1)
        )
        powers = [1] if self.noise is Noise.GAUSSIAN else [len(lot) for lot in self.alike]
        return [
            (Counted(a, sum(lots) * power, power), Counted(b, sum(lots) * power, power))
            for a, b, power in zip(one, other, powers, strict=True)
        ]

    def _beyond(self, world: int, draws: int) -> list[int]:
        released = self.released(world, draws)
        if self.noise is Noise.GAUSSIAN:
            return [int((released @ self.moved > self.loss**2 / 2).sum())]
        far = (released - self.moved) * np.sign(self.moved) >= 0
        return [int(far[:, lot].sum()) for lot in self.alike]

    @property
    def bounds(self) -> int:
        """How many probabilities are bounded."""
        return 2 * (1 if self.noise is Noise.GAUSSIAN else len(self.alike))

    def least(self, counted: Sequence[tuple[Counted, Counted]], wrong: float) -> float:
        """Return a lower bound on the loss, too high with a probability of at most ``wrong``."""
        level = wrong / self.bounds
        if self.noise is Noise.GAUSSIAN:
            ((one, other),) = counted
            return float(ndtri(1 - one.most(level)) + ndtri(other.least(level)))
        return sum(b.power * math.log(b.least(level) / a.most(level)) for a, b in counted)

    def expected(self, draws: int, short: float, missed: float) -> list[tuple[Counted, Counted]]:
        """Return what is counted at worst under noise of ``short`` times its scales.

        But for a probability of ``missed``, more is seen of the second and less of the first.
        """
        level, half = missed / self.bounds, self.loss / short / 2
        chances = [(float(ndtr(-half)), float(ndtr(half)), 1)]
        if self.noise is Noise.LAPLACE:
            steps = [(abs(self.moved[lot[0]]) / short, len(lot)) for lot in self.alike]
            chances = [(math.exp(-step) / 2, 0.5, power) for step, power in steps]
        return [
            (
                Counted(int(binom.ppf(1 - level, draws * power, one)), draws * power, power),
                Counted(int(binom.ppf(level, draws * power, other)), draws * power, power),
            )
            for one, other, power in chances
        ]


def farthest(
    design: str, queries: Sequence[Any], draw: random.Random, *, known: bool = False, **rules: Any
) -> Pair:
    """Return the neighbours farthest apart under a design, in a crowd of others at random."""
    privacy = rules.pop("privacy", EPSILON if "laplace" in design else MU)
    found = plan(Workload(queries, **rules), privacy=privacy, known_size=known)
    chosen = next(each for each in found.designs if each.name == design)
    grid, everybody = grid_for(replace(found, designs=(chosen,))), list(people(found.workload))
    crowd = draw.choices(everybody, k=draw.randint(1, 20))
    pairs = (
        Pair(found, grid, (totals(grid, [*crowd, *one]), totals(grid, [*crowd, *other])))
        for one, other in neighbours(everybody, found.workload)
    )
    return max(pairs, key=lambda pair: pair.loss)


def neighbours(
    everybody: Sequence[Person], workload: Workload
) -> Iterator[tuple[list[Person], list[Person]]]:
    """List what two neighbours differ in: who is in the one, and who in the other."""
    if workload.neighbors is Neighbors.ADD_REMOVE:
        yield from (([], [person]) for person in everybody)
    else:
        yield from (([one], [other]) for one, other in itertools.combinations(everybody, 2))


def totals(grid: CenteredMeasurement, crowd: Sequence[Person]) -> Totals:
    """Return the exact totals of people, each at a corner of what one may contribute."""
    groups = len(crowd[0])
    sizes = [block.shape.size for block in grid.blocks]
    sums = [[[0] * size for _ in range(groups)] for size in sizes]
    number = [0] * groups
    for person in crowd:
        for group, corner in enumerate(person):
            if corner is None:
                continue
            number[group] += 1
            own = iter(corner)
            for block, rows in zip(grid.blocks, sums, strict=True):
                adds = in_quanta(list(itertools.islice(own, block.shape.size)), block)
                rows[group] = list(map(operator.add, rows[group], adds))
    return Totals(
        sums=tuple(_ring(rows) for rows in sums),
        people=_ring(number),
        everyone=_ring([len(crowd)]),
        keys=tuple((group,) for group in range(groups)),
    )


def _ring(values: Any) -> Ring:
    return np.array(values, dtype=np.int64).view(np.uint64)
