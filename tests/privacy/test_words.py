import json

import pytest

import halfnoise as hn
from halfnoise.privacy.definitions import Privacy
from halfnoise.privacy.words import from_dict, promise, to_dict
from halfnoise.text import at_most

EVERY: list[Privacy | hn.DiscoveryDP] = [
    hn.GaussianDP(mu=0.7),
    hn.ApproxDP(epsilon=1, delta=1e-6),
    hn.ConcentratedDP(rho=0.1),
    hn.RenyiDP(alpha=8, epsilon=1),
    hn.PureDP(epsilon=0.5),
    hn.DiscoveryDP(kept=hn.GaussianDP(mu=0.2), delta=1e-7),
    hn.DiscoveryDP(kept=hn.PureDP(epsilon=0.2), delta=1e-7),
    hn.DiscoveryDP(
        kept=hn.MixedDP(gaussian=hn.GaussianDP(mu=1), pure=hn.PureDP(epsilon=1)), delta=1e-7
    ),
]


@pytest.mark.parametrize("privacy", EVERY, ids=str)
def test_definitions_come_back(privacy: Privacy | hn.DiscoveryDP) -> None:
    """Through JSON every definition stays the same."""
    assert from_dict(json.loads(json.dumps(to_dict(privacy)))) == privacy


def test_an_unknown_definition_is_refused() -> None:
    """A name that is no definition's is refused, also where it is something else's."""
    for kind in ("Budget", "Neighbors", "compose", ""):
        with pytest.raises(hn.DataError, match="its privacy definition is unknown"):
            from_dict({"kind": kind, "mu": 1.0})


@pytest.mark.parametrize(
    ("guarantee", "asked", "said"),
    [
        (hn.GaussianDP(mu=0.2), hn.ConcentratedDP(rho=0.02), "rho 0.02."),
        (hn.GaussianDP(mu=0.2), hn.RenyiDP(alpha=8, epsilon=0.2), "epsilon 0.16, alpha 8."),
        (hn.GaussianDP(mu=0.2), hn.GaussianDP(mu=0.5), "mu 0.2."),
        (
            hn.GaussianDP(mu=0.2),
            hn.ApproxDP(epsilon=1, delta=1e-6),
            "epsilon 0.834118, delta 1e-06.",
        ),
        (hn.PureDP(epsilon=1), hn.ApproxDP(epsilon=1, delta=1e-6), "pure epsilon 1."),
        (hn.PureDP(epsilon=0.1234567), hn.PureDP(epsilon=2), "pure epsilon 0.123457."),
    ],
)
def test_a_promise_is_the_guarantee(
    guarantee: hn.GaussianDP | hn.PureDP, asked: Privacy, said: str
) -> None:
    """The promise says what holds, in the measure that was asked for, and what it is worth."""
    words = promise(guarantee, asked)
    assert words.startswith(f"Promised: {said}")
    right = f"right in at most {at_most(guarantee.best_guess)} of cases"
    assert words.endswith(f"The best guess is {right}; a coin flip, in 50%.")
