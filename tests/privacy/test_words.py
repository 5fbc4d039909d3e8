import json

import pytest

import halfnoise as hn
from halfnoise.privacy.definitions import Privacy
from halfnoise.privacy.words import from_dict, promise, to_dict

EVERY: list[Privacy | hn.DiscoveryDP] = [
    hn.GaussianDP(mu=0.7),
    hn.ApproxDP(epsilon=1, delta=1e-6),
    hn.ConcentratedDP(rho=0.1),
    hn.RenyiDP(alpha=8, epsilon=1),
    hn.PureDP(epsilon=0.5),
    hn.DiscoveryDP(kept=hn.GaussianDP(mu=0.2), delta=1e-7),
    hn.DiscoveryDP(kept=hn.PureDP(epsilon=0.2), delta=1e-7),
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


def test_a_promise_names_budget_and_odds() -> None:
    """The promise says the budget as it was given, and how often the best guess is right."""
    said = promise(hn.GaussianDP(mu=0.2), hn.ConcentratedDP(rho=0.02))
    assert said == ("Promised: rho 0.02. Odds of the best guess: 54%; of a coin flip: 50%.")
