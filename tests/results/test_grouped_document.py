import datetime as dt
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from dp_accounting import LaplaceDpEvent, NeighboringRelation, UnsupportedEventError
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from halfnoise import ApproxDP, Count, DataError, GaussianDP, PureDP, Release, Workload
from halfnoise.privacy.definitions import DiscoveryDP
from halfnoise.privacy.words import implied
from halfnoise.results.document import from_json
from halfnoise.results.release import GroupedRelease
from halfnoise.workload.by import By
from support.grouped import EVERY_TYPE, PEOPLE, made
from support.release_schema import VALIDATOR, strictly

DISCOVERY = DiscoveryDP(kept=GaussianDP(mu=0.2), delta=1e-7)
PURE_DISCOVERY = DiscoveryDP(kept=PureDP(epsilon=0.5), delta=1e-7)


def releases_by_group() -> list[GroupedRelease]:
    """Return releases by group of all sorts."""
    two = made((("a", 1), (None, 2)), (By("x"), By("visited", every="month")), most=2)
    return [
        made(),
        made(EVERY_TYPE).rounded(),
        made(((dt.datetime(2026, 1, 2, 3, 4),), (math.inf,), (-math.inf,)), people=PEOPLE),
        replace(two, common=0.25),
        made(privacy=PureDP(epsilon=1)),
        made((), discovered=True, guarantee=DISCOVERY),
        made(discovered=True, guarantee=DISCOVERY, privacy=ApproxDP(epsilon=1, delta=1e-6)),
        made(discovered=True, guarantee=PURE_DISCOVERY),
        made(workload=Workload([Count("a"), Count("b")], at_most=1)),
    ]


def test_groups_come_back_the_same() -> None:
    """A release by group read from its JSON is the same, and follows the schema."""
    for release in releases_by_group():
        text = release.to_json()
        VALIDATOR.validate(strictly(text))
        again = Release.from_json(text)
        assert isinstance(again, GroupedRelease)
        assert again.to_json() == text
        assert repr(again) == repr(release)
        for name in (
            "by",
            "group_keys",
            "questions",
            "errors",
            "common",
            "people",
            "most",
            "discovered",
        ):
            assert getattr(again, name) == getattr(release, name)
        for key, same in zip(release.group_keys, again.group_keys, strict=True):
            assert [*map(type, key)] == [*map(type, same)]
        for name in ("guarantee", "privacy", "level", "facts", "rounded_values"):
            assert getattr(again, name) == getattr(release, name)
        assert np.array_equal(again.values, release.values)
        assert not again.values.flags.writeable


def test_totals_come_back_the_same() -> None:
    """A total keeps its errors and remarks."""
    for release in releases_by_group():
        if len(release):
            total = release.total()
            text = total.to_json()
            VALIDATOR.validate(strictly(text))
            again = Release.from_json(text)
            assert again.to_json() == text
            assert isinstance(again, Release)
            assert (again.errors, again.remarks) == (total.errors, total.remarks)


def test_groups_stand_under_their_keys() -> None:
    """Each group has its key by column, its number of people and its queries."""
    keys = (("north", dt.date(2026, 1, 1)), (None, None))
    release = made(keys, (By("region"), By("day", every="day")), people=PEOPLE)
    found = strictly(release.to_json())
    assert found["by"] == [
        {"column": "region", "every": None},
        {"column": "day", "every": "day"},
    ]
    assert "queries" not in found
    assert found["size"]["estimate"] == 2500
    first, second = found["groups"]
    assert first["key"] == {"region": "north", "day": "2026-01-01"}
    assert second["key"] == {"region": None, "day": None}
    for each, (_, group) in zip((first, second), release.items(), strict=True):
        alone = group.to_dict()
        assert each["size"] == alone["size"]
        assert each["queries"] == alone["queries"]


def test_a_broken_group_is_refused() -> None:
    """The schema and the reader refuse groups with a part that is missing or of another kind."""
    sound = strictly(made(EVERY_TYPE).to_json())
    values = sound["values"]
    for broken in (
        sound | {"groups": [{"key": {}}]},
        sound | {"groups": [sound["groups"][0] | {"true": 3}]},
        sound | {"queries": []},
        sound | {"values": values | {"known_size": None}},
        sound | {"by": []},
    ):
        assert not VALIDATOR.is_valid(broken)
    for broken in (
        sound | {"values": values | {"keys": values["keys"][1:]}},
        sound | {"values": values | {"keys": [[*key, 1] for key in values["keys"]]}},
        sound | {"values": values | {"keys": [[{"hour": "3"}], *values["keys"][1:]]}},
        sound | {"values": values | {"most": 0}},
        sound | {"values": values | {"common": -1}},
        sound | {"values": values | {"common": 1e9}},
        sound | {"values": values | {"discovered": "yes"}},
        sound | {"values": values | {"people": {"name": "all"}}},
        sound | {"values": values | {"keys": [[["a"]], *values["keys"][1:]]}},
        sound | {"values": values | {"keys": [[{"number": "nan"}], *values["keys"][1:]]}},
        sound | {"by": []},
        sound | {"by": [{"column": ""}]},
    ):
        with pytest.raises(DataError, match="not the JSON of a release"):
            from_json(json.dumps(broken))


def test_discovering_is_never_said_as_mu_alone() -> None:
    """Where groups were discovered, mu or epsilon stands beside the probability that it fails."""
    kept = implied(DISCOVERY, ApproxDP(epsilon=1, delta=1e-6))
    assert (kept["mu"], kept["discover_delta"]) == (0.2, 1e-7)
    assert (kept["epsilon"], kept["delta"]) == (DISCOVERY.epsilon(1e-6), 1e-6)
    assert [each["delta"] for each in kept["approximate"]] == [1e-5, 1e-6]
    assert kept["best_guess"] == DISCOVERY.best_guess
    pure = implied(PURE_DISCOVERY, GaussianDP(mu=1))
    assert (pure["pure_epsilon"], pure["discover_delta"]) == (0.5, 1e-7)
    assert "mu" not in pure
    assert "epsilon" not in pure
    for said in (kept, pure):
        assert "rho" not in said
    lone = {name: value for name, value in kept.items() if name != "discover_delta"}
    sound = strictly(made(discovered=True, guarantee=DISCOVERY).to_json())
    assert not VALIDATOR.is_valid(sound | {"guarantee": lone})
    assert not VALIDATOR.is_valid(sound | {"guarantee": kept | {"rho": 0.02}})


def test_the_promise_says_what_discovering_costs() -> None:
    """In words a budget in delta holds it; one in mu has it beside it."""
    approx, gaussian = ApproxDP(epsilon=1, delta=1e-6), GaussianDP(mu=0.2)
    for privacy, words in (
        (approx, "epsilon 0.8388, delta 1e-06, of which 1e-07 is for discovering groups. The"),
        (gaussian, "mu 0.2, except with probability 1e-07, for discovering groups. The"),
    ):
        release = made(discovered=True, guarantee=DISCOVERY, privacy=privacy)
        assert words in release.promises()[0]
        assert words in release["north"].promises()[0]


def test_accountants_add_the_delta_of_discovering() -> None:
    """An accountant adds the delta of discovering groups; one that has no room for it refuses."""
    release = made(discovered=True, guarantee=DISCOVERY)
    # Steps of 1e-3 are accurate to 1e-6 here, and ten times as fast as those of 1e-4.
    accountant = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE, 1e-3)
    accountant.compose(release.dp_event())
    assert accountant.get_epsilon(1e-6) == pytest.approx(DISCOVERY.epsilon(1e-6), rel=1e-3)
    assert accountant.get_delta(5.0) == pytest.approx(1e-7, rel=1e-3)
    pure = made(discovered=True, guarantee=PURE_DISCOVERY)["north"].dp_event()
    assert pure.events[0] == LaplaceDpEvent(2.0)
    assert pure.events[1] == release.dp_event().events[1]
    with pytest.raises(UnsupportedEventError):
        RdpAccountant().compose(release.dp_event())
