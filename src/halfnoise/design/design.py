"""The contract of a design, and of a design made ready: all that the house may know of them."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Protocol, Self

from flint import arb

from halfnoise.design.covariance import Covariance, Shared
from halfnoise.design.threshold import Threshold
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import DiscoveryDP, GaussianDP, Guarantee, PureDP
from halfnoise.proof import ball, round_up
from halfnoise.values import dataclass
from halfnoise.workload.block import Block, Line
from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.sets.base import Parts
from halfnoise.workload.totals import Totals
from halfnoise.workload.weights import Weighing
from halfnoise.workload.workload import Workload

MOST_STRETCHES = 40  # one or two are usual


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The estimates: all sums and, where measured, the size of each group, and all people."""

    estimates: Floats
    sizes: Floats | None = None
    people: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What designs are offered for: a workload, one kind of noise, and what it may cost.

    ``largest``: the workload whose largest error is to be least, where the first weighs its goals
    so that they come out alike. ``varied``: its blocks, where their sets are measured in another
    way.
    """

    workload: Workload
    noise: Noise
    budget: float
    known_size: bool = False
    largest: Workload | None = None
    varied: tuple[Block, ...] = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is to be measured."""
        return self.varied or self.workload.blocks


class Measurement(Protocol):
    """A design ready to be carried out on exact totals: everything in whole steps modulo 2^64.

    ``design``: as it is carried out, its loss proved for the grid. ``blocks``: what is read, with
    bounds and quanta. ``threshold``: what the noisy size of a group must reach to be discovered.
    """

    design: "Design"
    blocks: tuple[Block, ...]
    threshold: Threshold | None

    @property
    def scales(self) -> list[Floats]:
        """The scales of the noise on each row of what is measured, in steps."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What is public about the grid, for the record."""

    def measure(self, totals: Totals) -> list[Ring]:
        """Return what gets noise: arrays with a row for each group, or for all people."""

    def shapes(self, groups: int) -> list[tuple[int, ...]]:
        """Return the shapes of what is measured: first that with a row for each group."""
        return [(1 if i else groups, len(own)) for i, own in enumerate(self.scales)]

    def recover(self, noisy: list[Ring], known_size: float | None = None) -> Recovered:
        """Return the estimates from what was measured, with its noise."""

    def discovering(self, most: int, delta: float) -> Self:
        """Return the same with the threshold at which groups of people in ``most`` groups show."""

    def passed(self, noisy: list[Ring]) -> list[int]:
        """Return the rows of the groups whose noisy size, the last entry, reaches the threshold."""
        return [] if self.threshold is None else self.threshold.passed(noisy[0][:, -1])

    @property
    def drawn(self) -> "Design":
        """The design with the errors of what is drawn, rounding included.

        Rounding adds 1/12 of a squared step to a variance: the largest part to the smallest scale,
        and no larger part to any.
        """
        least = min(float(scales.min()) for scales in self.scales)
        more = 1 / (12 * self.design.noise.unit_variance * least**2)
        return self.design.stretched(math.sqrt(1 + more))

    @property
    def guarantee(self) -> Guarantee:
        """What the release promises; where groups are discovered, but for the threshold's delta."""
        kept, limit = self.design.guarantee, self.threshold
        return kept if limit is None else DiscoveryDP(kept=kept, delta=limit.delta)


class Design(Protocol):
    """Which noise to add to what, and what comes of it.

    A design is made from a workload and a budget alone: it never sees data. It describes one group;
    every group gets the same, independently but for what they share (``common``).

    ``takes_weights``: whether its grid has room for people who do not count once.
    ``size_is_given``: whether the number of people has to be given, as it is leaned on but not
    measured. ``people_std``: the standard error of the number of all people, if measured; its noise
    is what sizes of groups share: the covariance with each is ``sqrt(common) * people_std``.
    """

    name: str
    noise: Noise
    takes_weights: ClassVar[bool] = False
    size_is_given: bool = False
    people_std: float | None = None

    @classmethod
    def offers(cls, setting: Setting) -> "Iterator[Design]":
        """List designs of this kind that apply, each at the whole budget; none where none does."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the workload, in order."""

    @property
    def size_scale(self) -> float | None:
        """The scale of the noise on the number of people; None where it is not measured."""

    @property
    def seen_scale(self) -> float | None:
        """The scale of the noise on what groups are found by: on their sizes."""
        return self.size_scale

    @property
    def covariance(self) -> Covariance:
        """The joint error of all estimates, the number of people last where it is measured."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """What there is to say an error of: a line for each block, for tables one for each."""
        return tuple(line for block in self.blocks for line in block.lines)

    @property
    def weighing(self) -> Weighing:
        """How often people count: the same in all blocks."""
        return self.blocks[0].weighing

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each line, the scales of the independent noises in its estimates."""

    def worst(self) -> arb:
        """Return what the worst person of weight one costs: mu, or epsilon with Laplace noise."""

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""

    def on_grid(self, workload: Workload, budget: float) -> Measurement:
        """Put the design on the grid: bounds and centres first, then the scales that fit them.

        **Guarantee.** The design of the measurement has its loss proved for the bounds and centres
        on the grid; the scales in steps are rounded up.
        """

    def loss(self) -> float:
        """Return what the worst person costs, rounded up.

        **Guarantee.** The worst case over all corners of K, at the highest weight, proved in ball
        arithmetic; the release is mu-GDP (or epsilon-DP) at this value, and at no smaller one.
        """
        return round_up(lambda: ball(self.weighing.heaviest) * self.worst())

    @property
    def common(self) -> float:
        """The variance of the noise that the sizes of all groups share."""
        return 0.0

    @property
    def between(self) -> tuple[Shared, ...]:
        """What the estimates of any two groups share otherwise, as a sum of terms."""
        return ()

    @property
    def gives_size(self) -> bool:
        """Whether the number of people comes out, or is given."""
        return self.size_scale is not None or self.size_is_given

    def remark(self, _errors: Mapping[str, float]) -> str:
        """Say what else to know of it where it is chosen, beside the errors of all designs."""
        return ""

    def certified(self, budget: float) -> Self:
        """Stretch all scales by a few units in the last place until the loss is proved."""
        design = self
        for doublings in range(MOST_STRETCHES):
            if (loss := design.loss()) <= budget:
                return design
            design = design.stretched(loss / budget * (1 + 2.0 ** (doublings - 52)))
        raise AssertionError(self.name)

    @property
    def guarantee(self) -> GaussianDP | PureDP:
        """What the release promises."""
        gaussian, loss = self.noise is Noise.GAUSSIAN, self.loss()
        return GaussianDP(mu=loss) if gaussian else PureDP(epsilon=loss)

    @property
    def query_std(self) -> tuple[float, ...]:
        """The standard error of an estimated sum, for each line."""
        return tuple(self.noise.std(parts["sum"]) for parts in self.parts())

    @property
    def size_std(self) -> float | None:
        """The standard error of the number of people; None where it is not measured."""
        return None if self.size_scale is None else self.noise.std([self.size_scale])

    def margins(self, level: float) -> tuple[float, ...]:
        """Return the margin of error of each line; of a mean, times the number who answered."""
        noise = self.noise
        return tuple(noise.margin(ps.get("mean", ps["sum"]), level) for ps in self.parts())

    def total_error(self, size_importance: float) -> float:
        """Return the sum of all squared errors, each times its importance."""
        seen = zip(self.lines, self._squares(self.lines), strict=True)
        total = sum(line.importance * line.queries * error for line, error in seen)
        return total + size_importance * (self.size_std or 0.0) ** 2

    def errors(self, workload: Workload) -> list[float]:
        """Return the squared error of each line and of the size, each times its importance."""
        seen = zip(workload.lines, self._squares(workload.lines), strict=True)
        size, found = workload.size_weight, [line.goal * error for line, error in seen]
        return [*found, size * (self.size_std or 0.0) ** 2] if size else found

    def error(self, workload: Workload) -> float:
        """Return what the workload wants to be least, in squares."""
        if workload.objective == "largest":
            return max(self.errors(workload))
        return self.total_error(workload.size_weight)

    def _squares(self, lines: Iterable[Line]) -> Iterator[float]:
        """Go through the squared errors of a query of each line."""
        std = self.noise.std
        for line, parts in zip(lines, self.parts(), strict=True):
            if "mean" in parts:
                spread = std(parts.get("spread", [0.0])) / line.width
                answered = line.width * std(parts["answered"])
                yield std(parts["mean"]) ** 2 + answered**2 + spread**2
            else:
                yield std(parts["sum"]) ** 2
