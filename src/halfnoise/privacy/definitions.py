"""Privacy definitions: frozen values that say what is promised, each with its ``mu``.

Everything is measured on one scale, the mu of Gaussian differential privacy: an observer who must
tell two neighbouring tables apart does no better than telling N(0, 1) from N(mu, 1).
"""

import enum
import math
from fractions import Fraction
from typing import Protocol, TypeAlias

from flint import arb

from halfnoise.checks import finite, fraction, not_negative, positive, refuse, whole
from halfnoise.privacy import calibration
from halfnoise.proof import divide_down, down, exactly, least, round_up, sqrt_down, sqrt_up
from halfnoise.values import dataclass, replace


class Neighbors(enum.Enum):
    """Which two tables must look alike.

    ``ADD_REMOVE``: one person's data are in the table or not; the number of people is private.
    ``REPLACE``: one person's answers change; the number of people is public.

    >>> Neighbors("add-remove")
    <Neighbors.ADD_REMOVE: 'add-remove'>
    """

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"


class Privacy(Protocol):
    """What every privacy definition offers."""

    @property
    def mu(self) -> float:
        """The promise on the scale of Gaussian differential privacy, rounded to the safe side."""

    @property
    def best_guess(self) -> float:
        """How often the best guess whether a person is in the data is right; 0.5 is a coin flip."""

    def budget(self, releases: int = 1) -> "Budget":
        """Return what each of so many equal releases may spend."""


class _InMu:
    """What definitions with a mu share: checked amounts, and what follows from mu."""

    __slots__: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        remedy = "choose it far below 1 / (number of people), or leave it out: PureDP(epsilon=...)"
        for name in self.__slots__:
            amount = {name: getattr(self, name)}
            number = fraction(remedy, **amount) if name == "delta" else positive(**amount)
            object.__setattr__(self, name, number)

    @property
    def best_guess(self: Privacy) -> float:
        """How often the best guess of who knows everybody else's data is right: Phi(mu/2).

        >>> round(ApproxDP(epsilon=1, delta=1e-6).best_guess, 3)
        0.547
        """
        mu = self.mu
        return min(1.0, round_up(lambda: calibration.normal_cdf(arb(mu) / 2)))

    def budget(self: Privacy, releases: int = 1) -> "Budget":
        """Return what each of so many equal releases may spend: squared mu adds up."""
        return Budget(mu=sqrt_down(Fraction(self.mu) ** 2 / whole(releases=releases)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one release may spend: ``mu`` with Gaussian noise, ``epsilon`` with Laplace noise.

    None where noise of that kind cannot keep the promise, or should not (a budget counted in mu^2
    pays 27 times as much for Laplace noise at epsilon 1 as for Gaussian noise at (1, 1e-6)).
    """

    mu: float | None = None
    epsilon: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianDP(_InMu):
    """Gaussian differential privacy (Dong, Roth & Su 2022): exact for Gaussian noise.

    >>> GaussianDP(mu=1).epsilon(1e-6)
    4.886...
    >>> GaussianDP(mu=1).delta(1)
    0.1269...
    """

    mu: float

    def budget(self, releases: int = 1) -> Budget:
        """Return what each of so many equal releases may spend: squared mu adds up."""
        return Budget(mu=sqrt_down(least(self.mu) ** 2 / whole(releases=releases)))

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta proved to hold together with ``epsilon``."""
        return calibration.delta_of_mu(self.mu, not_negative(epsilon=epsilon))

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon proved to hold together with ``delta``."""
        return calibration.epsilon_of_mu(self.mu, fraction(delta=delta))

    def loss(self, epsilon: arb) -> arb:
        """Return the exact delta at epsilon."""
        return calibration.gaussian_delta(arb(self.mu), epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproxDP(_InMu):
    """(epsilon, delta)-differential privacy.

    >>> ApproxDP(epsilon=1, delta=1e-6).mu
    0.236704380663...
    """

    epsilon: float
    delta: float

    @property
    def mu(self) -> float:
        """The largest mu proved to give (epsilon, delta)."""
        return calibration.mu_of_approx(least(self.epsilon), least(self.delta))

    def budget(self, releases: int = 1) -> Budget:
        """Return what each of so many equal releases may spend; Laplace noise needs no delta."""
        epsilon = divide_down(least(self.epsilon), releases)
        return replace(_InMu.budget(self, releases), epsilon=epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedDP(_InMu):
    """rho-zero-concentrated differential privacy (Bun & Steinke 2016): rho = mu^2/2.

    >>> ConcentratedDP(rho=0.5).mu
    1.0
    """

    rho: float

    @property
    def mu(self) -> float:
        """The largest mu with mu^2/2 <= rho, exactly."""
        return sqrt_down(2 * least(self.rho))


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiDP(_InMu):
    """(alpha, epsilon)-Renyi differential privacy (Mironov 2017): epsilon = alpha mu^2/2.

    >>> RenyiDP(alpha=2, epsilon=1).mu
    1.0
    """

    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", finite(alpha=self.alpha))
        object.__setattr__(self, "epsilon", positive(epsilon=self.epsilon))
        if self.alpha <= 1:
            raise refuse("alpha", "above 1", self.alpha, "orders from 2 to 64 are usual")

    @property
    def mu(self) -> float:
        """The largest mu with alpha mu^2/2 <= epsilon, exactly."""
        return sqrt_down(2 * least(self.epsilon) / max(Fraction(self.alpha), exactly(self.alpha)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PureDP(_InMu):
    """Pure epsilon-differential privacy: Laplace noise gives it, Gaussian noise never does.

    >>> PureDP(epsilon=1).mu
    1.232...
    >>> PureDP(epsilon=1).best_guess
    0.731...
    """

    epsilon: float

    @property
    def mu(self) -> float:
        """The smallest mu that this promise implies."""
        return calibration.mu_of_pure(self.epsilon)

    def loss(self, epsilon: arb) -> arb:
        """Return the exact delta at epsilon: the worst of it is randomised response."""
        return calibration.pure_delta(arb(self.epsilon), epsilon)

    def budget(self, releases: int = 1) -> Budget:
        """Return what each of so many equal releases may spend: epsilon adds up."""
        return Budget(epsilon=divide_down(least(self.epsilon), whole(releases=releases)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedDP:
    """What releases with Gaussian and with Laplace noise promise together: mu and pure epsilon.

    The worst of pure epsilon is randomised response: what it comes to beside mu is exact.

    >>> MixedDP(gaussian=GaussianDP(mu=1), pure=PureDP(epsilon=1)).epsilon(1e-6)
    5.820...
    """

    gaussian: GaussianDP
    pure: PureDP

    @property
    def mu(self) -> float:
        """The smallest mu that both together imply."""
        pure = self.pure.mu
        if not math.isfinite(pure):
            return math.inf
        return sqrt_up(Fraction(self.gaussian.mu) ** 2 + Fraction(pure) ** 2)

    def loss(self, epsilon: arb) -> arb:
        """Return the exact delta at epsilon."""
        return calibration.mixed_delta(arb(self.pure.epsilon), arb(self.gaussian.mu), epsilon)

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta proved to hold together with ``epsilon``."""
        e = not_negative(epsilon=epsilon)
        return min(1.0, round_up(lambda: self.loss(arb(e))))

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon proved to hold together with ``delta``."""
        return calibration.epsilon_of(self.loss, fraction(delta=delta))

    @property
    def best_guess(self) -> float:
        """How often the best guess whether a person is in the data is right; 0.5 is a coin flip."""
        return min(1.0, round_up(lambda: (1 + self.loss(arb(0))) / 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryDP:
    """What is promised where groups are discovered: ``kept``, except with probability ``delta``.

    It has no mu on purpose: no mu holds for it.

    >>> DiscoveryDP(kept=GaussianDP(mu=1), delta=1e-7).epsilon(1e-6)
    4.908...
    """

    kept: GaussianDP | PureDP | MixedDP
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", fraction(delta=self.delta))

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon proved to hold together with ``delta``."""
        rest, kept = Fraction(fraction(delta=delta)) - Fraction(self.delta), self.kept
        if rest < 0 or (rest == 0 and not isinstance(kept, PureDP)):
            rule = f"more than discovering groups costs, which is {self.delta:g}"
            raise refuse("delta", rule, delta)
        if isinstance(kept, PureDP):
            return kept.epsilon
        return kept.epsilon(down(rest))

    def delta_at(self, epsilon: float) -> float:
        """Return the smallest delta proved to hold together with ``epsilon``."""
        e, kept, own = not_negative(epsilon=epsilon), self.kept, self.delta
        return min(1.0, round_up(lambda: kept.loss(arb(e)) + arb(own)))

    @property
    def best_guess(self) -> float:
        """How often the best guess whether a person is in the data is right; 0.5 is a coin flip."""
        kept, own = self.kept.best_guess, self.delta
        return min(1.0, round_up(lambda: arb(kept) + arb(own) / 2))


# What a release can promise.
Guarantee: TypeAlias = GaussianDP | PureDP | DiscoveryDP
