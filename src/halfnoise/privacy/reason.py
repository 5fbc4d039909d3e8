"""Budgets that protect hardly anybody: they are refused, unless somebody says that they know."""

from halfnoise.errors import InvalidParameterError
from halfnoise.privacy.definitions import ApproxDP, GaussianDP, Privacy, PureDP
from halfnoise.text import percent, short

MOST_EPSILON, MOST_DELTA = 10.0, 1e-5
KNOW = "or, if you know what you do, say --i-know (i_know=True)"


def check_reason(privacy: Privacy, discover_delta: float | None = None) -> None:
    """Refuse epsilon above 10 and delta above 1e-5, and what comes to that in other measures."""
    one = privacy if isinstance(privacy, ApproxDP | PureDP) else None
    epsilon = GaussianDP(mu=privacy.mu).epsilon(MOST_DELTA) if one is None else one.epsilon
    if epsilon > MOST_EPSILON:
        right = percent(privacy.best_guess)
        at = "" if one else f" at delta {MOST_DELTA:g}"
        raise InvalidParameterError(
            f"epsilon {short(epsilon)}{at} is above {MOST_EPSILON:g}: who knows all others may"
            f" tell whether a person is in the data, and be right in {right} of cases;"
            f" use a smaller budget, {KNOW}"
        )
    asked = privacy.delta if isinstance(privacy, ApproxDP) else None
    for name, delta in (("delta", asked), ("discover_delta", discover_delta)):
        if delta is not None and delta > MOST_DELTA:
            raise InvalidParameterError(
                f"{name} {delta:g} is above {MOST_DELTA:g}: with that probability a person may have"
                f" no protection at all, and so may one in {short(1 / delta)} people; use a smaller"
                f" one, {KNOW}"
            )
