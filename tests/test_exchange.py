import datetime as dt
import json
import math
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from dp_accounting import LaplaceDpEvent, NeighboringRelation, UnsupportedEventError
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from grouped import EVERY_TYPE, PEOPLE
from grouped import made as grouped
from halfnoise import (
    ApproxDP,
    ConcentratedDP,
    Count,
    DataError,
    GaussianDP,
    PureDP,
    Release,
    RenyiDP,
    Workload,
)
from halfnoise.exchange import from_json, guarantee_dict, to_dict
from halfnoise.grouped import GroupedRelease
from halfnoise.grouping import By
from halfnoise.privacy import DiscoveryDP, Privacy
from statistical.replay import many
from statistical.workloads import KINDS

PRIVACIES: list[Privacy] = [
    GaussianDP(mu=0.7),
    ApproxDP(epsilon=1, delta=1e-6),
    ConcentratedDP(rho=0.1),
    RenyiDP(alpha=8, epsilon=1),
    PureDP(epsilon=0.5),
]
DISCOVERY = DiscoveryDP(kept=GaussianDP(mu=0.2), delta=1e-7)
PURE_DISCOVERY = DiscoveryDP(kept=PureDP(epsilon=0.5), delta=1e-7)
SCHEMA = json.loads(files("halfnoise").joinpath("schema/release.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
EVERY = pytest.mark.parametrize("kind", KINDS)
UNDER_EACH = pytest.mark.parametrize(
    "privacy", PRIVACIES, ids=[type(each).__name__ for each in PRIVACIES]
)


def made(kind: str, privacy: Privacy, *, people: int = 100, known: bool = False) -> Release:
    """Release a small table of fixed totals."""
    return many(KINDS[kind](4), privacy, people=people, known=known, rows=1).one


def strictly(text: str) -> Any:
    """Read JSON as the standard has it: without NaN and infinities."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


@EVERY
@UNDER_EACH
def test_json_comes_back_the_same(kind: str, privacy: Privacy) -> None:
    """A release read from its JSON writes the same JSON, and concludes the same."""
    for release in (made(kind, privacy), made(kind, privacy).rounded()):
        text = release.to_json()
        again = Release.from_json(text)
        assert again.to_json() == text
        assert list(again) == list(release)
        assert again.size == release.size
        assert repr(again) == repr(release)
        assert again.questions == release.questions
        assert again.errors == release.errors
        assert again.privacy == release.privacy
        assert again.guarantee == release.guarantee
        assert np.array_equal(again.values, release.values)
        assert not again.values.flags.writeable


@EVERY
@UNDER_EACH
def test_json_follows_its_schema(kind: str, privacy: Privacy) -> None:
    """What is written is what the schema file describes, however wide the intervals are."""
    for people in (0, 100):
        VALIDATOR.validate(strictly(made(kind, privacy, people=people).to_json()))
    VALIDATOR.validate(strictly(made(kind, privacy, known=True).to_json()))


def test_the_schema_is_one() -> None:
    """The schema file is a valid schema, and refuses what is not a release."""
    Draft202012Validator.check_schema(SCHEMA)
    sound = strictly(made("mixture", GaussianDP(mu=1)).to_json())
    assert VALIDATOR.is_valid(sound)
    for broken in (
        {},
        sound | {"schema": 2},
        sound | {"queries": []},
        sound | {"level": 1.5},
        {name: value for name, value in sound.items() if name != "guarantee"},
        sound | {"values": sound["values"] | {"totals": [1, 2, 3]}},
        sound | {"size": sound["size"] | {"true": 1000}},
    ):
        assert not VALIDATOR.is_valid(broken)


def test_an_infinite_error_is_null() -> None:
    """JSON has no infinity: an error without limit has none."""
    release = made("means", GaussianDP(mu=1))
    nobody = replace(release, values=np.zeros_like(release.values))
    mean = strictly(nobody.to_json())["queries"][0]
    assert (mean["name"], mean["kind"], mean["std"]) == ("m0", "mean", None)
    VALIDATOR.validate(strictly(nobody.to_json()))


def test_promised_parts_are_there() -> None:
    """The parts that every reader may count on are there, under these names."""
    found = made("choice", GaussianDP(mu=1)).to_dict()
    assert found["schema"] == 1
    assert "noise" in found["intervals"]
    assert set(found["size"]) == {"estimate", "std", "low", "high"}
    assert {"name", "estimate", "std", "low", "high"} <= set(found["queries"][0])
    assert [each["name"] for each in found["queries"]] == ["x=0", "x=1", "x=2", "x=3", "x=other"]
    assert {"design", "unit", "version"} <= set(found)


@UNDER_EACH
def test_the_guarantee_is_said_in_every_definition(privacy: Privacy) -> None:
    """What is implied is at least as much as is spent, and no more than was asked."""
    release = made("counts", privacy)
    said = to_dict(release)["guarantee"]
    spent = release.guarantee
    assert isinstance(spent, GaussianDP | PureDP)
    assert said["mu"] == spent.mu
    assert said["best_guess"] == spent.best_guess
    if isinstance(spent, PureDP):
        assert said["epsilon"] == spent.epsilon <= getattr(privacy, "epsilon", math.inf)
        assert said["delta"] == 0
        assert said["rho"] == pytest.approx(spent.epsilon**2 / 2, rel=1e-12)
        return
    assert said["rho"] >= spent.mu**2 / 2 * (1 - 1e-15)
    assert said["rho"] == pytest.approx(spent.mu**2 / 2, rel=1e-12)
    for each in said["approximate"]:
        assert spent.delta(each["epsilon"]) <= each["delta"] * (1 + 1e-9)
    if isinstance(privacy, ApproxDP):
        assert said["delta"] == privacy.delta
        assert said["epsilon"] == pytest.approx(privacy.epsilon, rel=1e-9)


def releases_by_group() -> list[GroupedRelease]:
    """Return releases by group of all sorts."""
    two = grouped((("a", 1), (None, 2)), (By("x"), By("visited", every="month")), most=2)
    return [
        grouped(),
        grouped(EVERY_TYPE).rounded(),
        grouped(((dt.datetime(2026, 1, 2, 3, 4),), (math.inf,), (-math.inf,)), people=PEOPLE),  # noqa: DTZ001
        replace(two, common=0.25),
        grouped(privacy=PureDP(epsilon=1)),
        grouped((), discovered=True, guarantee=DISCOVERY),
        grouped(discovered=True, guarantee=DISCOVERY, privacy=ApproxDP(epsilon=1, delta=1e-6)),
        grouped(discovered=True, guarantee=PURE_DISCOVERY),
        grouped(workload=Workload([Count("a"), Count("b")], at_most=1)),
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
        for name in ("by", "keys", "questions", "errors", "common", "people", "most", "discovered"):
            assert getattr(again, name) == getattr(release, name)
        for key, same in zip(release.keys, again.keys, strict=True):
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
            assert (again.errors, again.remarks) == (total.errors, total.remarks)


def test_older_files_are_read() -> None:
    """A file from before there were totals has neither copies nor remarks."""
    release = made("mixture", GaussianDP(mu=1))
    found = release.to_dict()
    old = found | {
        "values": {
            name: value
            for name, value in found["values"].items()
            if name not in ("copies", "remarks")
        }
    }
    VALIDATOR.validate(strictly(json.dumps(old)))
    assert from_json(json.dumps(old)).to_dict() == found


def test_groups_stand_under_their_keys() -> None:
    """Each group has its key by column, its number of people and its queries."""
    keys = (("north", dt.date(2026, 1, 1)), (None, None))
    release = grouped(keys, (By("region"), By("day", every="day")), people=PEOPLE)
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
    sound = strictly(grouped(EVERY_TYPE).to_json())
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
        sound | {"by": [{"column": ""}]},
    ):
        with pytest.raises(DataError, match="not the JSON of a release"):
            from_json(json.dumps(broken))


def test_discovering_is_never_said_as_mu_alone() -> None:
    """Where groups were discovered, mu or epsilon stands beside the probability that it fails."""
    kept = guarantee_dict(DISCOVERY, ApproxDP(epsilon=1, delta=1e-6))
    assert (kept["mu"], kept["discover_delta"]) == (0.2, 1e-7)
    assert (kept["epsilon"], kept["delta"]) == (DISCOVERY.epsilon(1e-6), 1e-6)
    assert [each["delta"] for each in kept["approximate"]] == [1e-5, 1e-6]
    assert kept["best_guess"] == DISCOVERY.best_guess
    pure = guarantee_dict(PURE_DISCOVERY, GaussianDP(mu=1))
    assert (pure["pure_epsilon"], pure["discover_delta"]) == (0.5, 1e-7)
    assert "mu" not in pure
    assert "epsilon" not in pure
    for said in (kept, pure):
        assert "rho" not in said
    lone = {name: value for name, value in kept.items() if name != "discover_delta"}
    sound = strictly(grouped(discovered=True, guarantee=DISCOVERY).to_json())
    assert not VALIDATOR.is_valid(sound | {"guarantee": lone})
    assert not VALIDATOR.is_valid(sound | {"guarantee": kept | {"rho": 0.02}})


def test_the_promise_says_what_discovering_costs() -> None:
    """In words a budget in delta holds it; one in mu has it beside it."""
    approx, gaussian = ApproxDP(epsilon=1, delta=1e-6), GaussianDP(mu=0.2)
    for privacy, words in (
        (approx, "epsilon 1, delta 1e-06, of which 1e-07 is for discovering groups. Odds"),
        (gaussian, "mu 0.2, except with probability 1e-07, for discovering groups. Odds"),
    ):
        release = grouped(discovered=True, guarantee=DISCOVERY, privacy=privacy)
        assert words in release.promises()[0]
        assert words in release["north"].promises()[0]


def test_accountants_add_the_delta_of_discovering() -> None:
    """An accountant adds the delta of discovering groups; one that has no room for it refuses."""
    release = grouped(discovered=True, guarantee=DISCOVERY)
    accountant = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE)
    accountant.compose(release.dp_event())
    assert accountant.get_epsilon(1e-6) == pytest.approx(DISCOVERY.epsilon(1e-6), rel=1e-3)
    assert accountant.get_delta(5.0) == pytest.approx(1e-7, rel=1e-3)
    pure = grouped(discovered=True, guarantee=PURE_DISCOVERY)["north"].dp_event()
    assert pure.events[0] == LaplaceDpEvent(2.0)
    assert pure.events[1] == release.dp_event().events[1]
    with pytest.raises(UnsupportedEventError):
        RdpAccountant().compose(release.dp_event())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"schema": 2}',
        '{"schema": 1}',
        '{"schema": 1, "values": 3}',
        '{"schema": NaN}',
    ],
)
def test_what_is_no_release_is_refused(text: str) -> None:
    """Text that is not the JSON of a release is an error in one sentence."""
    with pytest.raises(DataError, match=r"^(this is not the JSON of a release|schema must be 1)"):
        from_json(text)


def test_a_broken_release_is_refused() -> None:
    """A release with a part that is missing or of another kind is an error in one sentence."""
    sound = made("counts", GaussianDP(mu=1)).to_dict()
    values = sound["values"]
    for broken in (
        values | {"estimates": [1.0]},
        values | {"estimates": "abc"},
        values | {"noise": "uniform"},
        values | {"privacy": {"kind": "Release"}},
        values | {"privacy": {"kind": "GaussianDP", "mu": -1}},
        {name: value for name, value in values.items() if name != "covariance"},
    ):
        with pytest.raises(DataError, match="not the JSON of a release"):
            from_json(json.dumps(sound | {"values": broken}))


@pytest.mark.parametrize("kind", ["counts", "mixture"])
@UNDER_EACH
def test_other_accountants_agree(kind: str, privacy: Privacy) -> None:
    """An accountant that composes the event twice gives what the guarantee gives twice over."""
    release = made(kind, privacy)
    accountant = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE)
    accountant.compose(release.dp_event(), 2)
    spent = release.guarantee
    assert isinstance(spent, GaussianDP | PureDP)
    if isinstance(spent, PureDP):
        assert accountant.get_epsilon(1e-12) == pytest.approx(2 * spent.epsilon, rel=1e-3)
        return
    twice = GaussianDP(mu=spent.mu * math.sqrt(2)).epsilon(1e-6)
    assert accountant.get_epsilon(1e-6) == pytest.approx(twice, rel=2e-3)


@UNDER_EACH
def test_a_looser_accountant_is_above(privacy: Privacy) -> None:
    """A Renyi accountant, which is not exact, gives a little more than the guarantee."""
    release = made("counts", privacy)
    accountant = RdpAccountant()
    accountant.compose(release.dp_event())
    spent = release.guarantee
    assert isinstance(spent, GaussianDP | PureDP)
    exact = spent.epsilon if isinstance(spent, PureDP) else spent.epsilon(1e-6)
    found = accountant.get_epsilon(1e-6)
    assert exact * 0.98 <= found <= 1.3 * exact
