"""What several releases cost together: what each of them guarantees, added up."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol, TypeAlias, overload

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.privacy.definitions import DiscoveryDP, GaussianDP, Guarantee, MixedDP, PureDP
from halfnoise.proof import ball, round_up, sqrt_up


class Costs(Protocol):
    """What has a price: a release, with groups or without."""

    @property
    def guarantee(self) -> Guarantee:
        """What it promises, which is what it costs."""


Spent: TypeAlias = Costs | Guarantee | MixedDP


@overload
def compose(*spent: GaussianDP) -> GaussianDP: ...
@overload
def compose(*spent: PureDP) -> PureDP: ...
@overload
def compose(*spent: Spent) -> Guarantee | MixedDP: ...
def compose(*spent: Spent) -> Guarantee | MixedDP:
    """Return what several releases, or their guarantees, cost together.

    Pure epsilons add up to a pure one, squared mu to a squared mu, and what discovering groups
    costs beside them, each exactly and rounded up once. Where there are both, ``MixedDP`` says
    what they come to. A request (``ApproxDP``, ``ConcentratedDP``, ``RenyiDP``) is no cost: which
    noise was drawn for it decides, and ``release.guarantee`` tells.

    >>> compose(GaussianDP(mu=3), GaussianDP(mu=4))
    GaussianDP(mu=5.0)
    >>> compose(PureDP(epsilon=1), PureDP(epsilon=1))
    PureDP(epsilon=2.0)
    """
    if not spent:
        raise InvalidParameterError("compose needs at least one release, got none")
    costs = [_cost(each) for each in spent]
    parts = [each.kept if isinstance(each, DiscoveryDP) else each for each in costs]
    kept = _together([single for part in parts for single in _singles(part)])
    deltas = [Fraction(each.delta) for each in costs if isinstance(each, DiscoveryDP)]
    return DiscoveryDP(kept=kept, delta=_sum(deltas)) if deltas else kept


def _cost(spent: object) -> Guarantee | MixedDP:
    cost = getattr(spent, "guarantee", spent)
    if not isinstance(cost, Guarantee | MixedDP):
        remedy = "a request does not say which noise was drawn; give the release, or its guarantee"
        raise refuse("what compose adds up", "a release or a guarantee", spent, remedy)
    return cost


def _singles(part: GaussianDP | PureDP | MixedDP) -> Iterator[GaussianDP | PureDP]:
    yield from (part.gaussian, part.pure) if isinstance(part, MixedDP) else (part,)


def _together(singles: list[GaussianDP | PureDP]) -> GaussianDP | PureDP | MixedDP:
    epsilons = [Fraction(each.epsilon) for each in singles if isinstance(each, PureDP)]
    squares = [Fraction(each.mu) ** 2 for each in singles if isinstance(each, GaussianDP)]
    if not squares:
        return PureDP(epsilon=_sum(epsilons))
    gaussian = GaussianDP(mu=sqrt_up(sum(squares, Fraction(0))))
    return MixedDP(gaussian=gaussian, pure=PureDP(epsilon=_sum(epsilons))) if epsilons else gaussian


def _sum(amounts: list[Fraction]) -> float:
    return round_up(lambda: ball(sum(amounts, Fraction(0))))
