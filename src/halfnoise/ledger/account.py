"""What releases amount to: exact sums, and whether they stay within a limit.

Three sums tell what was spent: the pure epsilons a, the squared mu M, and the deltas of discovering
groups. Against (epsilon, Delta) they are within if, proved,

    p delta_sqrt(M)(epsilon - a) + (1 - p) delta_sqrt(M)(epsilon + a) + delta <= Delta,

with p = e^a/(1 + e^a): pure epsilon at its worst is randomised response, and next to mu this is
exact. Choosing a later budget by earlier answers is covered: a limit is a filter (Smith & Thakurta
2022). Against a limit in mu or rho each pure epsilon counts by what it implies there.
"""

from dataclasses import dataclass, fields
from fractions import Fraction

from flint import arb

from halfnoise.privacy import calibration
from halfnoise.privacy.definitions import (
    ApproxDP,
    ConcentratedDP,
    DiscoveryDP,
    GaussianDP,
    Guarantee,
    MixedDP,
    Privacy,
    PureDP,
    RenyiDP,
    exactly,
)
from halfnoise.proof import ball, holds, sqrt_up

NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Exact sums over releases.

    ``pure``: of pure epsilons. ``squares``: of squared mu. ``delta``: of what discovering costs.
    ``implied``: of the squared mu that each pure epsilon implies, rounded up. ``curved``: of the
    squared pure epsilons, half of which is the rho that each implies (Bun & Steinke 2016).
    """

    pure: Fraction = NOTHING
    squares: Fraction = NOTHING
    delta: Fraction = NOTHING
    implied: Fraction = NOTHING
    curved: Fraction = NOTHING

    @classmethod
    def of(cls, guarantee: Guarantee | MixedDP) -> "Account":
        """Return what one release costs.

        >>> Account.of(GaussianDP(mu=0.5)).squares
        Fraction(1, 4)
        """
        match guarantee:
            case GaussianDP(mu=mu):
                return cls(squares=Fraction(mu) ** 2)
            case PureDP(epsilon=epsilon):
                pure = exactly(epsilon)
                implied = Fraction(calibration.mu_of_pure(epsilon)) ** 2
                return cls(pure=pure, implied=implied, curved=pure**2)
            case MixedDP(gaussian=gaussian, pure=pure_part):
                return cls.of(gaussian) + cls.of(pure_part)
            case DiscoveryDP(kept=kept, delta=delta):
                return cls.of(kept) + cls(delta=Fraction(delta))
        raise TypeError(type(guarantee).__name__)

    def __add__(self, other: "Account") -> "Account":
        """Return what both amount to."""
        return Account(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    def within(self, limit: Privacy) -> bool:
        """Whether a limit holds for all of it together, proved.

        >>> ten = sum([Account.of(PureDP(epsilon=0.1))] * 10, Account())
        >>> ten.within(PureDP(epsilon=1)), (ten + ten).within(PureDP(epsilon=1))
        (True, False)
        """
        match limit:
            case ApproxDP(epsilon=epsilon, delta=delta):
                return self._within_approx(limit, exactly(epsilon), exactly(delta) - self.delta)
            case PureDP(epsilon=epsilon):
                return not (self.squares or self.delta) and self.pure <= exactly(epsilon)
            case GaussianDP(mu=mu):
                return not self.delta and self.squares + self._implied() <= Fraction(mu) ** 2
            case ConcentratedDP(rho=rho):
                return not self.delta and self._rho() <= exactly(rho)
            case RenyiDP(alpha=alpha, epsilon=epsilon):
                return not self.delta and exactly(alpha) * self._rho() <= exactly(epsilon)
        raise TypeError(type(limit).__name__)

    def _implied(self) -> Fraction:
        """Return the squared mu of all pure epsilons: one by one, or of their sum."""
        if not self.pure:
            return NOTHING
        together = Fraction(calibration.mu_of_pure(_up(self.pure))) ** 2
        return min(self.implied, together)

    def _rho(self) -> Fraction:
        return (self.squares + min(self.curved, self._implied())) / 2

    def _within_approx(self, limit: ApproxDP, epsilon: Fraction, rest: Fraction) -> bool:
        """Whether the delta of mu next to pure epsilon is no more than what is left of it."""
        if rest < 0:
            return False
        if not self.squares:
            return self.pure <= epsilon or self._fits(epsilon, rest)
        if not self.pure and not self.delta and self.squares <= Fraction(limit.mu) ** 2:
            return True  # which was proved where that mu was found
        return self._fits(epsilon, rest)

    def _fits(self, epsilon: Fraction, rest: Fraction) -> bool:
        def both() -> tuple[arb, arb]:
            a, e = ball(self.pure), ball(epsilon)
            odds = a.exp()
            if not self.squares:  # randomised response alone
                return (odds - e.exp()) / (1 + odds), ball(rest)
            mu, p = ball(self.squares).sqrt(), odds / (1 + odds)
            less, more = (calibration.gaussian_delta(mu, at) for at in (e - a, e + a))
            return p * less + (1 - p) * more, ball(rest)

        return holds(both)


def _up(amount: Fraction) -> float:
    """Return the smallest float64 that is no less."""
    found = float(amount)
    return found if Fraction(found) >= amount else sqrt_up(amount**2)
