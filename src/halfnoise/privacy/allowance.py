"""What a limit allows: how much of each kind, decided before any answer was seen.

A limit of (epsilon, Delta) allows pure epsilon up to A, squared mu up to M and deltas of
discovering up to D if, proved,

    p delta_sqrt(M)(epsilon - A) + (1 - p) delta_sqrt(M)(epsilon + A) + D <= Delta

with p = e^A/(1 + e^A): pure epsilon at its worst is randomised response, and next to mu this is
exact. The three are fixed *together*, as a box. Within a box whoever chooses the next release by
earlier answers gains nothing: randomised response of a, then of A - a, is no worse than of A at
once, and Gaussian noise of m, then of M - m, is that of M (Smith & Thakurta 2022), so by induction
from the last release backwards no order and no choice is worse than the corner.

The union of all such boxes would not do, though each of its points fits: who sees a first answer
and then chooses whether to spend the rest as Laplace or as Gaussian noise reaches three times Delta
and more (``tests/attack/test_admission.py``).

Beside the box, pure epsilon up to that of the limit is allowed as long as there is no mu at all:
what ends there never has a loss above epsilon, so it adds nothing to delta but what discovering
shows, of which there is no more than D on any path. Who leaves the box that way never comes back,
and so has no more to choose from than somebody who stops at its edge.

Laplace noise that has no place, and all of it where the limit is a mu or a rho, costs the squared
mu that it implies there, which is within the box.
"""

import math
from fractions import Fraction
from functools import cached_property

from flint import arb

from halfnoise.checks import refuse
from halfnoise.privacy import calibration
from halfnoise.privacy.account import BEYOND, NOTHING, Account
from halfnoise.privacy.definitions import (
    ApproxDP,
    ConcentratedDP,
    GaussianDP,
    Privacy,
    PureDP,
    RenyiDP,
)
from halfnoise.proof import ball, exactly, holds, largest, least, up
from halfnoise.values import dataclass, field, replace

MOST = 2**40  # nobody makes more releases


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What a limit allows: ``pure`` epsilon, ``delta`` of discovering, and the rest for mu.

    ``spent``: what a plan takes for granted when it asks what something costs.

    >>> limit = Allowance(limit=ConcentratedDP(rho=0.3))
    >>> spent = Account.of(GaussianDP(mu=ConcentratedDP(rho=0.1).mu))
    >>> limit.fits(spent * 3), limit.fits(spent * 4)
    (True, False)
    """

    limit: Privacy
    pure: Fraction = NOTHING
    delta: Fraction = NOTHING
    spent: Account = field(default_factory=Account)

    def __post_init__(self) -> None:
        """Let a limit that is pure be for nothing else, and one in mu have nothing beside it."""
        if isinstance(self.limit, PureDP):
            object.__setattr__(self, "pure", exactly(self.limit.epsilon))
        elif self.pure and not isinstance(self.limit, ApproxDP):
            rule = "left out: in this limit Laplace noise costs the squared mu that it implies"
            raise refuse("pure", rule, up(self.pure))

    @classmethod
    def around(cls, limit: Privacy, first: Account, times: int = 1) -> "Allowance":
        """Return the box of a limit in which so many releases like the first have their place.

        The first release of all was chosen before any answer was seen, so it may decide. If it
        leaves a tenth of delta, that is for discovering.
        """
        if not isinstance(limit, ApproxDP):
            return cls(limit=limit)
        asked = first * times
        box = cls(limit=limit, pure=asked.pure, delta=asked.delta)
        tenth = cls(limit=limit, pure=asked.pure, delta=exactly(limit.delta) / 10)
        return tenth if not asked.delta and tenth.fits(asked) else box

    def price(self, cost: Account, spent: Account | None = None) -> Account:
        """Return what a release costs here: Laplace noise that has no place is charged as mu."""
        before = self.spent if spent is None else spent
        if not cost.pure or isinstance(self.limit, PureDP):
            return cost
        if (before + cost).pure <= self._place(before + cost):
            return cost
        return self._as_mu(cost)

    def _as_mu(self, cost: Account) -> Account:
        """Return what Laplace noise costs that has no place."""
        mu = calibration.mu_of_pure(up(cost.pure))
        implied = [Fraction(mu) ** 2] if math.isfinite(mu) else []
        if isinstance(self.limit, ConcentratedDP | RenyiDP):
            implied.append(cost.pure**2)  # Bun & Steinke 2016, Proposition 1.4
        if not implied:
            return cost  # it has no price, and no place
        return Account(squares=cost.squares + min(implied), delta=cost.delta)

    def fits(self, spent: Account) -> bool:
        """Whether so much, in prices, is within the box, or pure alone, proved."""
        if spent.pure > self._place(spent) or spent.delta > self.delta:
            return False
        squares = spent.squares
        match self.limit:
            case ApproxDP(epsilon=epsilon, delta=delta):
                return self._proved(squares, exactly(epsilon), exactly(delta) - self.delta)
            case GaussianDP(mu=mu):
                return squares <= exactly(mu) ** 2
            case ConcentratedDP(rho=rho):
                return squares <= 2 * exactly(rho)
            case RenyiDP(alpha=alpha, epsilon=epsilon):
                return squares * exactly(alpha) <= 2 * exactly(epsilon)
        return not squares

    def _place(self, spent: Account) -> Fraction:
        """Return how much pure epsilon has a place beside what was spent in other kinds."""
        if spent.squares or not isinstance(self.limit, ApproxDP):
            return self.pure
        return max(self.pure, exactly(self.limit.epsilon))

    def _proved(self, squares: Fraction, epsilon: Fraction, rest: Fraction) -> bool:
        """Whether the box of so much squared mu costs no more than is left of delta."""
        if rest < 0 or (not squares and self.pure <= epsilon):
            return rest >= 0
        return holds(lambda: (self._loss(ball(squares).sqrt(), ball(epsilon)), ball(rest)))

    def _loss(self, mu: arb, epsilon: arb) -> arb:
        """Return the exact delta of all the pure epsilon, beside mu if there is any."""
        a = ball(self.pure)
        if mu.is_zero():
            return calibration.pure_delta(a, epsilon)
        return calibration.mixed_delta(a, mu, epsilon)

    @cached_property
    def mu(self) -> float:
        """The largest mu that is allowed, or 0 where none is."""
        match self.limit:
            case ApproxDP(epsilon=epsilon, delta=delta) if self.pure or self.delta:
                e, rest = least(epsilon), least(delta) - self.delta
                if not (rest and self._proved(NOTHING, e, rest)):
                    return 0.0
                return largest(lambda mu: (self._loss(arb(mu), ball(e)), ball(rest)))
        return self.limit.budget().mu or 0.0

    @property
    def whole(self) -> Account:
        """The corner of the box: the most of each kind."""
        return Account(pure=self.pure, squares=Fraction(self.mu) ** 2, delta=self.delta)

    def share(self, price: Account) -> Fraction:
        """Return which part of the whole a price is, by the kind of which it takes most."""
        place = self._place(self.spent + price)
        if self.spent.pure > place:
            return BEYOND  # mu, beside more pure epsilon than the box has
        return price.part_of(replace(self.whole, pure=place))

    def place(self) -> Fraction:
        """Return how much pure epsilon has a place by now."""
        return self._place(self.spent)

    def room(self, spent: Account, cost: Account) -> int:
        """Return how many more releases of such a cost fit."""
        place = max(NOTHING, self._place(spent + cost) - spent.pure)
        as_mu = cost if isinstance(self.limit, PureDP) or not cost.pure else self._as_mu(cost)

        def fit(times: int) -> bool:
            # As many of them as have a place among the pure epsilons, and the rest as mu.
            here = min(times, int(place / cost.pure)) if cost.pure else times
            return self.fits(spent + cost * here + as_mu * (times - here))

        low, high = 0, 1
        while high < MOST and fit(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fit(middle) else (low, middle)
        return low


def taken(limit: Privacy | Allowance, cost: Account) -> Fraction:
    """Return which part of a limit a release takes.

    Of (epsilon, delta) with no box as yet, each kind is measured by what there may be of it alone.
    """
    if isinstance(limit, ApproxDP):
        squares = Fraction(limit.mu) ** 2
        pure, delta = exactly(limit.epsilon), exactly(limit.delta)
        return cost.part_of(Account(pure=pure, squares=squares, delta=delta))
    box = limit if isinstance(limit, Allowance) else Allowance(limit=limit)
    return box.share(box.price(cost))


def still_fits(limit: Privacy | Allowance, cost: Account) -> bool:
    """Whether a release fits beside what was spent; with no box as yet, that is left open."""
    if not isinstance(limit, Allowance):
        return True
    return limit.fits(limit.spent + limit.price(cost))
