"""What a survey asks of a release: who was asked, and how values vary."""

import math
from dataclasses import replace
from typing import Self

from halfnoise.checks import refuse
from halfnoise.errors import NotSupportedError
from halfnoise.results.deviation import deviation
from halfnoise.results.inference import Estimate
from halfnoise.results.sampled import Sampled, fault
from halfnoise.results.sampling import Sampling


class Surveyed(Sampled):
    """A release, as far as a survey goes."""

    __slots__ = ()

    @property
    def has_size(self) -> bool:
        """Whether the number of people is known or measured."""
        raise NotImplementedError

    def with_sampling(
        self, method: str | Sampling | None, *, design_effect: float | None = None
    ) -> Self:
        """Return the same with intervals that cover who was asked, too, or no more with None.

        ``method``: "srs", a simple random sample. ``design_effect``: by how much more it varies
        than one, as where clusters were drawn. A count stands for what samples of as many people
        give on average.
        """
        how = Sampling.of(method, design_effect)
        if how is not None and (lacks := fault(self, sized=self.has_size)):
            raise NotSupportedError(lacks)
        return replace(self, sampling=how)  # type: ignore[type-var]  # its heirs are dataclasses

    def deviation(self, name: str) -> Estimate:
        """Return the standard deviation of one person's value, of a mean with its variance."""
        for question in self.questions:
            if question.name == name and question.deviates:
                return deviation(self, question)
        raise refuse("name", "that of a Mean with variance=True", name)


def effective(n: Estimate, mean: Estimate, std: float) -> Estimate:
    """Return the effective sample size of a size and the mean weight of those who make it up.

    Its interval joins those of the two, each of half the error, so that at least as many cover it.
    """
    x, low = n.estimate / mean.estimate, max(n.low, 0.0) / mean.high
    high = n.high / mean.low if mean.low > 0 else math.inf
    return Estimate(name="effective sample size", estimate=x, std=std, low=low, high=high)
