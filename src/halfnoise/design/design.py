"""The contract of a design: all that the rest of the house may know of one."""

from abc import ABC, abstractmethod
from typing import Self, TypeVar

from halfnoise.design.covariance import Covariance
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import GaussianDP, PureDP
from halfnoise.workload.sets import Parts
from halfnoise.workload.workload import Block


class Design(ABC):
    """Which noise to add to what, and what comes of it.

    A design is made from a workload and a budget alone: it never sees data. Where people are in
    groups, it describes one group; every group gets the same, independently but for what they
    share (``common``).
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in tables and files."""

    @property
    @abstractmethod
    def noise(self) -> Noise:
        """Gaussian or Laplace."""

    @property
    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the workload, in order."""

    @property
    @abstractmethod
    def size_scale(self) -> float | None:
        """The scale of the noise on the number of people; None where it is not measured."""

    @property
    def size_is_given(self) -> bool:
        """Whether the number of people has to be given, as it is leaned on but not measured."""
        return False

    @property
    def common(self) -> float:
        """The variance of the noise that the sizes of all groups share."""
        return 0.0

    @property
    def people_std(self) -> float | None:
        """The standard error of the number of people in all groups and none; None if not measured.

        Its noise is what the sizes of the groups share: its covariance with each of them is
        ``sqrt(common) * people_std``.
        """
        return None

    @property
    @abstractmethod
    def covariance(self) -> Covariance:
        """The joint error of all estimates, the number of people last where it is measured."""

    @abstractmethod
    def parts(self) -> tuple[Parts, ...]:
        """Return, for each block, the scales of the independent noises in its estimates."""

    @abstractmethod
    def loss(self) -> float:
        """Return what the worst person costs, rounded up: mu, or epsilon with Laplace noise.

        **Guarantee.** The worst case over all corners of K, proved in ball arithmetic; the release
        is mu-GDP (or epsilon-DP) at this value, and at no smaller one.
        """

    @abstractmethod
    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""

    @property
    def guarantee(self) -> GaussianDP | PureDP:
        """What the release promises."""
        if self.noise is Noise.GAUSSIAN:
            return GaussianDP(mu=self.loss())
        return PureDP(epsilon=self.loss())

    @property
    def query_std(self) -> tuple[float, ...]:
        """The standard error of an estimated sum, for each block."""
        return tuple(self.noise.std(parts["sum"]) for parts in self.parts())

    @property
    def size_std(self) -> float | None:
        """The standard error of the number of people; None where it is not measured."""
        return None if self.size_scale is None else self.noise.std([self.size_scale])

    def total_error(self, size_importance: float) -> float:
        """Return the sum of all squared errors, each times its importance."""
        total = 0.0
        for block, parts in zip(self.blocks, self.parts(), strict=True):
            if "mean" in parts:
                error = self.noise.std(parts["mean"]) ** 2
                error += (block.shape.width * self.noise.std(parts["answered"])) ** 2
            else:
                error = block.shape.size * self.noise.std(parts["sum"]) ** 2
            total += block.importance * error
        return total + size_importance * (self.size_std or 0.0) ** 2


AnyDesign = TypeVar("AnyDesign", bound=Design)


def certified(design: AnyDesign, budget: float) -> AnyDesign:
    """Stretch all scales by a few units in the last place until the loss is proved."""
    while (loss := design.loss()) > budget:
        design = design.stretched(loss / budget * (1 + 2.0**-52))
    return design
