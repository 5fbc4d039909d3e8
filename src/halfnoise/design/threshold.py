"""Where a group that was found in the data becomes visible: its noisy size is at least tau.

A key that only one person has must not show, but with probability p1. With n on a grid of step u
and noise that is rounded to it,

    p1 = P(Z >= tau - w - u/2)

where w is what one person alone counts at most: 1, or the highest weight.

A person who may be in G groups shows none of up to G such keys but with probability
delta = 1 - (1 - p1)^G. The proof is in docs/groups.md.
"""

from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from halfnoise.noise.law import Noise
from halfnoise.privacy.calibration import normal_cdf
from halfnoise.proof import ball, holds, round_up
from halfnoise.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The least noisy size, in steps, at which a group is released, and the delta that it costs."""

    steps: int
    step: Fraction
    delta: float

    @property
    def size(self) -> float:
        """The same in people."""
        return float(self.steps * self.step)

    def passed(self, sizes: NDArray[np.uint64]) -> list[int]:
        """Return which of the noisy sizes, in steps, reach it."""
        found: list[int] = np.flatnonzero(sizes.view(np.int64) >= self.steps).tolist()
        return found


def threshold(
    noise: Noise,
    scale: float,
    step: Fraction,
    *,
    most: int,
    delta: float,
    alone: Fraction = Fraction(1),
) -> Threshold:
    """Return the lowest threshold at which a person's own keys show with at most ``delta``.

    ``scale``: of the noise on n, in steps. ``most``: how many groups a person may be in.
    ``alone``: the largest size of a group of one person, a whole number of steps.

    **Guarantee.** Proved in ball arithmetic for the noise that is drawn, rounding included.

    >>> found = threshold(Noise.GAUSSIAN, 1024.0, Fraction(1, 1024), most=1, delta=1e-6)
    >>> found.size, found.delta <= 1e-6
    (5.7548828125, True)
    """
    person = int(alone / step)

    def shows(steps: int) -> arb:  # how likely one of ``most`` keys of one person shows
        x = (ball(steps - person) - ball(Fraction(1, 2))) / ball(scale)  # not negative
        p = normal_cdf(-x) if noise is Noise.GAUSSIAN else (-x).exp() / 2
        return -(most * (-p).log1p()).expm1()

    def private(steps: int) -> bool:
        return holds(lambda: (shows(steps), ball(delta)))

    # At the size of one person a key shows half of the time, so that is never private enough.
    # Scales are at most 2^36, and noise of 2^10 times its scale is rarer than any float64.
    reach = next(2**bits for bits in range(48) if private(person + 2**bits))
    low, high = person + reach // 2, person + reach
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if private(middle) else (middle, high)
    return Threshold(steps=high, step=step, delta=round_up(lambda: shows(high)))
