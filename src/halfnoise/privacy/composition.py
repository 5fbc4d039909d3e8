"""What several releases cost together: what each of them guarantees, added up."""

from typing import Protocol, TypeAlias, overload

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.privacy.account import Account
from halfnoise.privacy.definitions import GaussianDP, Guarantee, MixedDP, PureDP


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
    return sum((Account.of(_cost(each)) for each in spent), Account()).promise


def _cost(spent: object) -> Guarantee | MixedDP:
    cost = getattr(spent, "guarantee", spent)
    if not isinstance(cost, Guarantee | MixedDP):
        remedy = "a request does not say which noise was drawn; give the release, or its guarantee"
        raise refuse("what compose adds up", "a release or a guarantee", spent, remedy)
    return cost
