"""Budgets that protect hardly anybody: they are refused, unless somebody says that they know."""

from halfnoise.errors import InvalidParameterError
from halfnoise.privacy.definitions import ApproxDP, GaussianDP, Privacy, PureDP
from halfnoise.text import percent, short

MOST_EPSILON, MOST_DELTA = 10.0, 1e-5
KNOW = "or, if you know what you do, say --i-know (i_know=True)"


def check_reason(privacy: Privacy, discover_delta: float | None = None) -> None:
    """Refuse epsilon above 10 and delta above 1e-5, and what comes to that in other measures."""
    if isinstance(privacy, ApproxDP | PureDP):
        epsilon, measure = privacy.epsilon, f"epsilon {short(privacy.epsilon)}"
    else:
        epsilon = GaussianDP(mu=privacy.mu).epsilon(MOST_DELTA)
        measure = f"the budget, epsilon {short(epsilon)} at delta {MOST_DELTA:g},"
    if epsilon > MOST_EPSILON:
        right = percent(privacy.best_guess)
        raise InvalidParameterError(
            f"{measure} is above {MOST_EPSILON:g}: who knows all others may tell whether a person"
            f" is in the data, and be right in {right} of cases; use a smaller budget, {KNOW}"
        )
    asked = privacy.delta if isinstance(privacy, ApproxDP) else None
    for name, delta in (("delta", asked), ("discover_delta", discover_delta)):
        if delta is not None and delta > MOST_DELTA:
            raise InvalidParameterError(
                f"{name} {delta:g} is above {MOST_DELTA:g}: with that probability a person may have"
                f" no protection at all, and so may one in {short(1 / delta)} people; use a smaller"
                f" one, {KNOW}"
            )
