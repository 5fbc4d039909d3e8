import numpy as np
import pytest

from support.rate import FALSE_ALARM, fits, p_value


def test_p_values_are_not_too_small() -> None:
    """On correct counts small p-values are as rare as they claim, or rarer."""
    rng = np.random.default_rng()
    probabilities = np.concatenate(([1e-9, 1e-4], np.full(500, (1 - 1e-4 - 1e-9) / 500)))
    values = [p_value(rng.multinomial(10**6, probabilities), probabilities) for _ in range(400)]
    # Binomial(400, 1/50) exceeds 36 less than once in a million.
    assert sum(value < 0.02 for value in values) <= 36


@pytest.mark.parametrize("rare", [0.0, 1e-300])
def test_an_impossible_event_is_seen(rare: float) -> None:
    """One count where none can be is enough."""
    probabilities = np.array([rare, 0.5, 0.5])
    assert fits(np.array([0, 500, 500]), probabilities)
    assert not fits(np.array([1, 500, 500]), probabilities)


def test_certain_event_fits() -> None:
    """A distribution on one cell is fitted by that cell alone."""
    probabilities = np.array([0.0, 1.0, 0.0])
    assert fits(np.array([0, 10**7, 0]), probabilities)
    assert not fits(np.array([0, 10**7 - 1, 1]), probabilities)


def test_rate_is_small() -> None:
    """The declared rate keeps hundreds of tests quiet."""
    assert FALSE_ALARM <= 1e-6
