import datetime as dt
import math
import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from grouped import EVERY_TYPE, PEOPLE, made
from halfnoise import Count, InvalidParameterError, NotSupportedError, PureDP, Release, Workload
from halfnoise.grouped import DISCOVERED, FOUND, SELECTED, GroupedRelease
from halfnoise.grouping import By
from halfnoise.inference import Floats
from halfnoise.rendering import NOISE_ONLY
from halfnoise.result import SIZE
from halfnoise.sheet import COLUMNS, NUMBERS

TWO = (By("region"), By("sex"))
TWO_KEYS = (("north", "f"), ("north", "m"), ("other", "other"))
LEVEL = norm.ppf(0.975)
COMMON = 0.4
"""The share of the variance of the number of people that groups have in common."""


def two_level(count: int = 4, *, common: float = COMMON) -> GroupedRelease:
    """Return a release whose groups share some of the noise of their numbers of people."""
    release = made([(place,) for place in range(count)], most=2)
    return replace(release, common=common * release.errors.covariance.shared[-1].weight)


def everything(release: GroupedRelease) -> Floats:
    """Build the covariance of all estimates of all groups, group by group."""
    one, groups = release.errors.covariance.dense(), len(release)
    root = one[:, -1] / one[-1, -1]
    together = release.common * np.outer(root, root)
    return np.kron(np.eye(groups), one - together) + np.kron(np.ones((groups, groups)), together)


def weights(release: GroupedRelease, parts: dict[int, dict[int, float]]) -> Floats:
    """Return weights of all estimates of all groups, from some by group and place."""
    found = np.zeros(release.values.shape)
    for group, each in parts.items():
        for place, weight in each.items():
            found[group, place] = weight
    return found.ravel()


def std(release: GroupedRelease, parts: dict[int, dict[int, float]]) -> float:
    """Return the standard error of a weighted sum of estimates, by the full matrix."""
    w = weights(release, parts)
    return math.sqrt(max(0.0, float(w @ everything(release) @ w)))


def test_a_group_is_a_release() -> None:
    """A group's release has its row of values and all else in common with the others."""
    release = replace(made(), level=0.8, rounded_values=True)
    for place, (key, each) in enumerate(release.items()):
        assert isinstance(each, Release)
        assert np.array_equal(each.values, release.values[place])
        assert np.array_equal(release[key].values, each.values)
        assert (each.level, each.rounded_values) == (0.8, True)
        assert each.guarantee == release.guarantee
        assert each.privacy == release.privacy
        assert each.facts == release.facts
        assert each.errors == release.errors
    assert list(release) == ["north", "south", "other"]
    assert len(release) == 3


def test_keys_keep_their_types() -> None:
    """True, 1 and 1.0 are three groups, and each value finds its own."""
    release = made(EVERY_TYPE)
    for place, (key,) in enumerate(EVERY_TYPE):
        assert np.array_equal(release[key].values, release.values[place])
        assert np.array_equal(release[(key,)].values, release.values[place])
        assert key in release
    assert [type(key) for key in release] == [type(key) for (key,) in EVERY_TYPE]


@pytest.mark.parametrize("wanted", [np.str_("north"), np.int64(7), 7.0, np.float64(2.5)])
def test_an_equal_key_will_do(wanted: object) -> None:
    """Where no key is exactly what is asked for, the only one equal to it is meant."""
    keys = (("north",), (7,), (2.5,))
    release = made(keys)
    (place,) = (i for i, (key,) in enumerate(keys) if key == wanted)
    assert np.array_equal(release[wanted].values, release.values[place])


def test_an_equal_key_must_be_the_only_one() -> None:
    """1.0 may be True or 1 where it is neither itself."""
    with pytest.raises(InvalidParameterError, match=r"group must be one of 1, True, got 1\.0"):
        made(((1,), (True,)))[1.0]


def test_several_columns_make_a_tuple() -> None:
    """Groups by several columns have tuples for keys; one value stands for all of them."""
    release = made(TWO_KEYS, TWO)
    assert list(release) == list(TWO_KEYS)
    assert np.array_equal(release["north", "m"].values, release.values[1])
    assert np.array_equal(release["other"].values, release.values[2])
    assert "north" not in release
    assert ("north",) not in release


@pytest.mark.parametrize("wanted", ["nroth", ("north", "f"), ["north"], None, {}])
def test_an_unknown_group_is_refused(wanted: object) -> None:
    """The error for a group that is not there lists groups that are."""
    release = made()
    with pytest.raises(InvalidParameterError, match="group must be one of 'north', 'south'"):
        release[wanted]
    assert wanted not in release


def test_ten_groups_are_named() -> None:
    """Of many groups the error names ten, and of none it says so."""
    with pytest.raises(InvalidParameterError, match="one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, got 99"):
        two_level(20)[99]
    with pytest.raises(InvalidParameterError, match="there is none, got 'x'"):
        made(())["x"]


def test_it_cannot_be_changed() -> None:
    """Neither a value nor a field can be changed, also through a group."""
    release = made()
    for values in (release.values, release["north"].values):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        release.most = 5  # type: ignore[misc]


@pytest.mark.parametrize("common", [0.0, COMMON, 1.0])
def test_differences_are_those_of_the_full_matrix(common: float) -> None:
    """What two groups have in common cancels, and nothing else does."""
    release = two_level(common=common)
    for place, name in enumerate([*release.names, SIZE]):
        found = release.difference(name, 3, 1)
        expected = std(release, {3: {place: 1.0}, 1: {place: -1.0}})
        assert found.std == pytest.approx(expected, rel=1e-9)
        assert found.estimate == release.values[3, place] - release.values[1, place]
        assert found.high - found.estimate == pytest.approx(LEVEL * found.std)
        assert found.estimate - found.low == pytest.approx(LEVEL * found.std)
    assert found.name == "number of people, 3 - 1"


def test_a_group_less_itself_is_nothing() -> None:
    """The difference of a group with itself is zero, and certain."""
    found = two_level().difference("smoker", 2, 2)
    assert (found.estimate, found.std, found.low, found.high) == (0, 0, 0, 0)


def test_the_difference_of_means_is_refused() -> None:
    """A mean is no sum: the error says what to compare instead; its parts are sums."""
    release = made()
    with pytest.raises(NotSupportedError, match="'age' is a mean; compare the intervals"):
        release.difference("age", "north", "south")
    assert release.difference("age sum", "north", "south").std > 0
    for unknown in (("smokers", "north", "south"), ("smoker", "north", "west")):
        with pytest.raises(InvalidParameterError, match="must be one of"):
            release.difference(*unknown)


@pytest.mark.parametrize("common", [0.0, COMMON, 1.0])
@pytest.mark.parametrize("groups", [None, [2], [0, 3], [1, 2, 3]])
def test_totals_are_those_of_the_full_matrix(common: float, groups: list[int] | None) -> None:
    """Values add up; so do the groups' own noises, and the one in common adds up as one."""
    release = two_level(common=common)
    total, members = release.total(groups), groups or range(4)
    names = [*release.names, SIZE]
    for place, name in enumerate(names):
        found = total.linear({name: 1.0})
        assert found.estimate == pytest.approx(release.values[list(members), place].sum())
        expected = std(release, {group: {place: 1.0} for group in members})
        assert found.std == pytest.approx(expected, rel=1e-9)
    for place, (a, b) in enumerate(pairwise(names)):
        expected = std(release, {group: {place: 1.0, place + 1: -2.5} for group in members})
        assert total.linear({a: 1.0, b: -2.5}).std == pytest.approx(expected, rel=1e-9)


def test_ratios_of_totals_are_fiellers() -> None:
    """An end of the interval of a share, a mean or a ratio of a total solves Fieller's equation."""
    release = two_level()
    total, names = release.total(), [*release.names, SIZE]
    for found, a, b in (
        (total.share("gout"), "gout", SIZE),
        (total.mean("visits"), "visits", SIZE),
        (total["age"], "age sum", "age answered"),
        (total.ratio("smoker", "gout"), "smoker", "gout"),
    ):
        top, bottom = names.index(a), names.index(b)
        x, y = total.values[top], total.values[bottom]
        assert found.estimate == pytest.approx(x / y)
        for r in (found.low, found.high):
            error = std(release, {group: {top: 1.0, bottom: -r} for group in range(4)})
            assert abs(x - r * y) == pytest.approx(LEVEL * error, rel=1e-6)


def test_a_total_with_its_size_known() -> None:
    """Knowing how many there are in all groups takes the noise of their numbers from the total."""
    release = two_level()
    known = release.total().with_known_size(4000)
    dense, root = everything(release), len(release.names)
    sizes = weights(release, {group: {root: 1.0} for group in range(4)})
    for place, name in enumerate(release.names):
        w = weights(release, {group: {place: 1.0} for group in range(4)})
        shared = (w @ dense @ sizes) ** 2 / (sizes @ dense @ sizes)
        assert known.linear({name: 1.0}).std == pytest.approx(math.sqrt(w @ dense @ w - shared))


@pytest.mark.parametrize("groups", [[], ["north", "north"], "north", 3, [("north",), "north"]])
def test_a_total_is_of_different_groups(groups: Any) -> None:
    """No group, one group twice and what is no list are refused."""
    with pytest.raises(InvalidParameterError, match="groups must be"):
        made().total(groups)
    with pytest.raises(InvalidParameterError, match="at least one group"):
        made((), discovered=True).total()


def test_totals_of_laplace_noise() -> None:
    """A total of k groups has k independent noises of each scale, which are no Laplace noise."""
    release = made(workload=Workload([Count("a")]), privacy=PureDP(epsilon=0.5))
    (scale,) = release.errors.parts({0: 1.0})
    one, total = release["north"]["a"], release.total()["a"]
    assert one.high - one.estimate == pytest.approx(scale * math.log(20))
    assert total.std == pytest.approx(math.sqrt(3) * one.std)
    x = (total.high - total.estimate) / scale
    # The sum of three such noises goes on for one, two or three exponential steps.
    tail = math.exp(-x) * (3 + 3 * (1 + x) + 2 * (1 + x + x**2 / 2)) / 8
    assert tail == pytest.approx(0.05)
    two = release.difference("a", "north", "south")
    x = (two.high - two.estimate) / scale
    assert math.exp(-x) * (1 + x / 2) == pytest.approx(0.05)


def test_remarks_go_with_totals() -> None:
    """A total says how its groups came about, and that people in several count in each."""
    one = Workload([Count("a")])
    plain, found = made(workload=one), made(workload=one, discovered=True)
    overlap = "A person may be in up to 3 groups, and counts once in each of them."
    assert plain.notes() == plain.total().notes() == plain["north"].notes() == []
    assert (found.notes(), found["north"].notes()) == ([DISCOVERED], [FOUND])
    assert found.total().notes() == [SELECTED]
    assert replace(found, most=3).total(["north"]).notes() == [SELECTED, overlap]
    assert replace(plain, most=3).notes() == [overlap]
    for said in (DISCOVERED, FOUND, SELECTED):
        assert "biased upward" in said
    assert SELECTED in repr(found.total())
    assert SELECTED in found.total()._repr_html_()


def test_the_size_is_that_measured_on_top() -> None:
    """The number of all people has an interval at the level of the release; else there is none."""
    assert made().size is None
    release = made(people=PEOPLE)
    for level in (0.5, 0.95):
        size = replace(release, level=level).size
        assert size is not None
        margin = norm.ppf((1 + level) / 2) * 3.0
        assert (size.low, size.high) == pytest.approx((2500 - margin, 2500 + margin))
    said = "All people, each counted once: 2,500.0, standard error 3, 95% interval 2,494.1 to"
    assert any(note.startswith(said) for note in release.notes())
    assert said in repr(release)
    noisy = replace(release, people=replace(PEOPLE, estimate=7.4)).rounded().size
    assert noisy is not None
    assert noisy.estimate == 7


def test_levels() -> None:
    """All intervals widen with their level, and all groups at once need wider ones."""
    release = made(people=PEOPLE)
    widths = [
        each.columns()["high"] - each.columns()["low"]
        for each in (
            release.intervals(level=0.5),
            release.intervals(level=0.95),
            release.intervals(level=0.95, simultaneous=True),
        )
    ]
    for narrow, wide in pairwise(widths):
        assert (narrow < wide).all()
    assert release.intervals(level=0.95).level == 0.95
    with pytest.raises(InvalidParameterError, match="level"):
        release.intervals(level=0)


@pytest.mark.parametrize("common", [0.0, 0.9])
def test_all_groups_hold_at_once(common: float) -> None:
    """In 90% of 20,000 draws of all noises all intervals hold, or more with noise in common."""
    release = two_level(6, common=common)
    dense = everything(release)
    draws = np.random.default_rng(7).multivariate_normal(np.zeros(len(dense)), dense, 20_000)
    worst = np.max(np.abs(draws) / np.sqrt(np.diagonal(dense)), axis=1)

    def held(level: float) -> float:
        return float((worst <= norm.ppf((1 + level) / 2)).mean())

    # The share of 20,000 draws is off by less than 1%, and means are not among them.
    assert 0.89 <= held(release.intervals(level=0.9, simultaneous=True).level) <= 0.96
    assert held(0.9) < 0.6


def test_columns_are_the_rows_of_all_groups() -> None:
    """The long form holds each group's rows below those of the one before."""
    for release in (made(TWO_KEYS, TWO), made(TWO_KEYS, TWO).rounded(), made(TWO_KEYS[:1], TWO)):
        found = release.columns()
        assert list(found) == ["region", "sex", *COLUMNS]
        expected = [
            (*key, each.name, kind, *(getattr(each, title) for title in NUMBERS))
            for key, group in release.items()
            for kind, each in group.rows()
        ]
        assert list(zip(*(each.tolist() for each in found.values()), strict=True)) == expected


@pytest.mark.parametrize("privacy", [PureDP(epsilon=0.1), PureDP(epsilon=1)])
def test_columns_of_laplace_noise(privacy: PureDP) -> None:
    """With Laplace noise the means of all groups have the intervals that each has alone."""
    release = made(privacy=privacy)
    rows = [each for _, group in release.items() for _, each in group.rows()]
    for title in NUMBERS:
        assert release.columns()[title].tolist() == [getattr(each, title) for each in rows]


def test_titles_that_are_taken() -> None:
    """A column of keys never hides one of the table's, whatever it is called."""
    by = (By("name"), By("Low"), By("name (group)"))
    titles = list(made((("a", "b", "c"),), by).columns())
    assert titles == ["name (group) (group)", "Low (group)", "name (group)", *COLUMNS]


def test_no_group_at_all() -> None:
    """Where no group passed the threshold, tables are empty and nothing fails."""
    release = made((), discovered=True)
    assert len(release) == len(list(release)) == len(list(release.items())) == 0
    assert {len(each) for each in release.columns().values()} == {0}
    assert DISCOVERED in repr(release)
    assert len(release.intervals(level=0.9, simultaneous=True)) == 0
    assert "<tbody></tbody>" in release._repr_html_()
    assert len(release.to_polars()) == len(release.to_pandas()) == 0


def test_it_reads_well() -> None:
    """The text has a column for each key, left-aligned, and says all that is to say beside it."""
    release = made((*TWO_KEYS[:2], (None, True)), TWO, most=2)
    lines = release.table().splitlines()
    assert lines[0].split() == ["region", "sex", "estimate", "standard", "error", "95%", "interval"]
    assert lines[1].startswith("north   f     number of people")
    assert any(line.startswith("(none)  true  smoker") for line in lines)
    text = repr(release)
    for word in (release.table(), NOISE_ONLY, "mu 1", "50%", "Design:", "counts once in each"):
        assert word in text
    assert "rounded" in repr(release.rounded())
    assert all(len(line.rstrip()) == len(line) for line in text.splitlines())


def test_a_long_table_is_cut_off_on_the_screen() -> None:
    """Of many groups 200 rows are shown, and the number of the others."""
    release = two_level(100)
    rows = len(release.columns()["name"])
    assert f"... and {rows - 200:,} more" in release.table()
    assert len(release.table().splitlines()) == 202
    assert release._repr_html_().count("<tr>") == 201


def test_markup_is_escaped() -> None:
    """Neither a key nor a title can bring markup of its own into a notebook."""
    markup = made((("<i>",),), (By("<b>"),))._repr_html_()
    assert "<b>" not in markup
    assert "<i>" not in markup
    assert "<th>&lt;i&gt;</th><th>smoker</th>" in markup


def test_much_other_is_worth_a_note() -> None:
    """A large category for all others in all groups together is named once."""
    release = made()
    values = np.tile(release.values[0], (3, 1))
    start = release.names.index("blood=A")
    values[:, start : start + 3] = [600.0, 280.0, 120.0]
    note = "blood=other is 12% of blood: check the spelling of the categories"
    assert replace(release, values=values).notes() == [note]


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_frames_keep_types(library: str) -> None:
    """Both kinds of frame have the keys first, with their types, and all rows."""
    days = [(dt.date(2026, 1, 1), 1), (dt.date(2026, 1, 2), None), (None, 2)]
    release = made(days, (By("day"), By("shop")))
    frame = getattr(release, f"to_{library}")()
    assert list(frame.columns) == ["day", "shop", *COLUMNS]
    for title, expected in release.columns().items():
        assert frame[title].to_list() == expected.tolist()
        assert [type(each) for each in frame[title].to_list()] == [*map(type, expected.tolist())]
    mixed = getattr(made(((1,), ("other",))), f"to_{library}")()
    assert set(mixed["region"]) == {"1", "other"}


def test_it_can_be_pickled() -> None:
    """A pickled release comes back with the same values and conclusions."""
    release = made(EVERY_TYPE, people=PEOPLE)
    again = pickle.loads(pickle.dumps(release))  # noqa: S301
    assert again.to_json() == release.to_json()
    assert again[True].values.tolist() == release[True].values.tolist()
