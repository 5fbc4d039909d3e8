"""Budgets that protect hardly anybody: they are refused, unless somebody says that they know."""

from halfnoise.errors import InvalidParameterError
from halfnoise.privacy.definitions import ApproxDP, GaussianDP, Privacy, PureDP
from halfnoise.text import at_most, short

MOST_EPSILON, MOST_DELTA = 10.0, 1e-5
KNOW = "or, if you know what you do, say --i-know (i_know=True)"


def check_reason(privacy: Privacy, discover_delta: float | None = None) -> None:
    """Refuse epsilon above 10 and delta above 1e-5, and what comes to that in other measures."""
    one = privacy if isinstance(privacy, ApproxDP | PureDP) else None
    epsilon = MOST_EPSILON if one is None else one.epsilon
    if one is None and (own := GaussianDP(mu=privacy.mu)).delta(MOST_EPSILON) > MOST_DELTA:
        epsilon = own.epsilon(MOST_DELTA)  # a search, which only those need who are told of it
    if epsilon > MOST_EPSILON:
        right = at_most(privacy.best_guess)
        at = "" if one else f" at delta {MOST_DELTA:g}"
        raise InvalidParameterError(
            f"epsilon {_above(epsilon, MOST_EPSILON)}{at} is above {MOST_EPSILON:g}: who knows all"
            f" others may tell whether a person is in the data, and be right in up to {right} of"
            f" cases; use a smaller budget, {KNOW}"
        )
    asked = privacy.delta if isinstance(privacy, ApproxDP) else None
    for name, delta in (("delta", asked), ("discover_delta", discover_delta)):
        if delta is not None and delta > MOST_DELTA:
            raise InvalidParameterError(
                f"{name} {_above(delta, MOST_DELTA)} is above {MOST_DELTA:g}: with that"
                f" probability a person may have no protection at all, and so may one in"
                f" {short(1 / delta)} people; use a smaller one, {KNOW}"
            )


def _above(amount: float, limit: float) -> str:
    """Write an amount with as few digits as show that it is above a limit.

    >>> _above(19.0, 10.0), _above(10.0001, 10.0)
    ('19', '10.0001')
    """
    texts = (f"{amount:.{digits}g}" for digits in range(3, 18))
    return next(text for text in texts if float(text) > limit)
