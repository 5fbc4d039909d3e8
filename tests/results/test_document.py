import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from halfnoise import ApproxDP, ConcentratedDP, DataError, GaussianDP, PureDP, Release, RenyiDP
from halfnoise.privacy.definitions import Privacy
from halfnoise.results.document import from_json, to_dict
from support.fixed_workloads import KINDS
from support.release_schema import SCHEMA, VALIDATOR, strictly
from support.replay import many

PRIVACIES: list[Privacy] = [
    GaussianDP(mu=0.7),
    ApproxDP(epsilon=1, delta=1e-6),
    ConcentratedDP(rho=0.1),
    RenyiDP(alpha=8, epsilon=1),
    PureDP(epsilon=0.5),
]
EVERY = pytest.mark.parametrize("kind", KINDS)
UNDER_EACH = pytest.mark.parametrize(
    "privacy", PRIVACIES, ids=[type(each).__name__ for each in PRIVACIES]
)


def made(kind: str, privacy: Privacy, *, people: int = 100, known: bool = False) -> Release:
    """Release a small table of fixed totals."""
    return many(KINDS[kind](4), privacy, people=people, known=known, rows=1).one


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
    VALIDATOR.check_schema(SCHEMA)
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


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "an estimate without end": lambda v: v["estimates"].__setitem__(0, 10**400),
    "an estimate too large": lambda v: v["estimates"].__setitem__(0, 1e200),
    "a name that is none": lambda v: v["questions"][0].update(names=[7]),
    "half a character": lambda v: v["questions"][0].update(name="\ud800"),
    "a question elsewhere": lambda v: v["questions"][0].update(start=5),
    "bounds of text": lambda v: v["questions"][0].update(bounds=["a", "b"]),
    "other beyond the end": lambda v: v["questions"][0].update(other=99),
    "a run beyond the end": lambda v: v["covariance"]["variances"][0].update(stop=10**6),
    "a run of text": lambda v: v["covariance"]["variances"][0].update(start="0"),
    "a negative variance": lambda v: v["covariance"]["variances"][0].update(value=-1.0),
    "a size without noise": lambda v: v["covariance"].update(shared=[]),
    "a covariance as large as memory": lambda v: v["covariance"].update(size=10**15),
    "copies beyond counting": lambda v: v.update(copies=10**400),
    "copies of text": lambda v: v.update(copies="2"),
    "rounded is a word": lambda v: v.update(rounded="no"),
    "a known size of text": lambda v: v.update(known_size="many"),
    "remarks that are no list": lambda v: v.update(remarks="one"),
    "a promise of nothing": lambda v: v["guarantee"].update(mu=1e200),
    "a mixture as a promise": lambda v: v.update(
        privacy={"kind": "MixedDP", "pure": 1, "gaussian": 1}
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_every_part_is_checked(broken: str) -> None:
    """What could not be shown, written or compared later is refused when it is read."""
    found = json.loads(made("counts", GaussianDP(mu=1)).to_json())
    BROKEN[broken](found["values"])
    with pytest.raises(DataError, match="not the JSON of a release"):
        from_json(json.dumps(found))


@pytest.mark.parametrize(
    "facts",
    [
        {"design": "standard"},
        {"design": {"name": 1, "why": ""}},
        {"design": {"name": "", "why": "", "error": "1"}},
        {"design": {"name": "", "why": "", "error": 1.0, "least_error_bound": 0}},
        {"design": {"name": "", "why": "", "error": 1e300, "least_error_bound": 1e-300}},
        {"where": "age"},
        {"only": ["a"]},
        {"grouping": {"threshold": "many"}},
        {"more": 1e999},
        {"more": "\ud800"},
        {"more": json.loads("[" * 100 + "]" * 100)},
    ],
)
def test_facts_are_checked(facts: dict[str, Any]) -> None:
    """Facts that could not be shown are refused; others, of later versions, are kept."""
    found = json.loads(made("counts", GaussianDP(mu=1)).to_json())
    with pytest.raises(DataError, match="not the JSON of a release"):
        from_json(json.dumps(found | facts).replace("Infinity", "1e999"))
    later = from_json(json.dumps(found | {"later": [{"a": None}]}))
    assert later.facts["later"] == [{"a": None}]


@pytest.mark.parametrize("text", ["[" * 10**5, '{"schema": ' * 10**5, "9" * 5000, "\ud800"])
def test_json_beyond_python_is_refused(text: str) -> None:
    """What Python has no room for is an error in one sentence."""
    with pytest.raises(DataError, match="not the JSON of a release"):
        from_json(text)


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
