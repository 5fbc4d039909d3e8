"""Two releases compared: what is matched with what, what is computed, and what is said of it."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.design.covariance import Covariance, Run
from halfnoise.errors import InvalidParameterError, NotSupportedError, UnknownNameError
from halfnoise.noise.law import Noise
from halfnoise.results import between
from halfnoise.results.comparison import Comparison
from halfnoise.results.inference import Errors, ratios
from halfnoise.text import at_most

PEOPLE = 400
BUDGET = hn.GaussianDP(mu=1)
WHO: dict[str, Any] = {"unit": "id", "privacy": BUDGET, "ledger": None, "size_importance": 1}
QUERIES: list[Any] = [
    hn.Count("smoker"),
    hn.Sum("visits", bounds=(0, 20)),
    hn.Mean("age", bounds=(0, 100)),
    hn.Choice("blood", ["A", "B"]),
]
CELLS: list[Any] = [
    hn.Bins("age", [0, 40], name="band"),
    hn.Table(["blood", "band"]),
    hn.Mean("age", bounds=(0, 100), name="years", by=["blood", "band"]),
]


def survey(people: int = PEOPLE) -> pl.DataFrame:
    """Return people who do not exist."""
    rows = range(people)
    return pl.DataFrame(
        {
            "id": rows,
            "smoker": [i % 3 == 0 for i in rows],
            "visits": [i % 20 for i in rows],
            "age": [i % 90 for i in rows],
            "blood": ["AB"[i % 2] for i in rows],
            "region": [("north", "south")[i % 5 == 0] for i in rows],
        }
    )


def released(queries: list[Any] = QUERIES, people: int = PEOPLE, **more: Any) -> Any:
    """Release a survey, without a ledger."""
    return hn.release(survey(people), queries, **WHO | more)


def by_region(people: int = PEOPLE, **more: Any) -> Any:
    """Release it for each region."""
    return released(people=people, by="region", **{"groups": ["north", "south"]} | more)


def said(found: Comparison) -> str:
    """Return all that is said beside it."""
    return "\n".join(found.notes())


def test_differences_and_ratios_are_those_of_independent_noises() -> None:
    """Variances add up, and a ratio of counts has Fieller's interval, to the last digits."""
    later, earlier = released(people=500), released()
    found = later.compare(earlier)
    difference, ratio = found.difference("smoker"), found.ratio("smoker")
    one, other = later["smoker"], earlier["smoker"]
    assert difference.estimate == pytest.approx(one.estimate - other.estimate)
    assert difference.std == pytest.approx(math.hypot(one.std, other.std))
    assert difference.high - difference.estimate == pytest.approx(1.959964 * difference.std)
    two = Errors(Noise.GAUSSIAN, Covariance(2, (Run(0, 1, one.std**2), Run(1, 2, other.std**2))))
    expected = ratios(np.array([[one.estimate, other.estimate]]), two, (0, 1), 0.95)
    assert expected[:, 0].tolist() == pytest.approx(
        [ratio.estimate, ratio.std, ratio.low, ratio.high], rel=1e-9
    )
    mean = found.difference("age")
    assert mean.estimate == pytest.approx(later["age"].estimate - earlier["age"].estimate)


def test_what_was_read_back_compares_alike() -> None:
    """JSON keeps all that is needed, for groups and tables too."""
    for queries, more in ((QUERIES, {}), (QUERIES + CELLS, {}), (QUERIES, {"by": "region"})):
        rules = {"groups": ["north", "south"]} if more else {}
        one, other = (released(queries, people, **more, **rules) for people in (500, 400))
        again = hn.Release.from_json(one.to_json()).compare(hn.Release.from_json(other.to_json()))
        assert again.to_json() == one.compare(other).to_json()
        assert json.loads(again.to_json())["rows"]


def test_rounding_does_not_change_what_is_compared() -> None:
    """Values as they came out are compared, whatever is shown."""
    one, other = released(people=500), released()
    assert one.rounded().compare(other.rounded()).to_json() == one.compare(other).to_json()


def test_ratios_end_where_a_difference_may_be_zero() -> None:
    """Of intervals that reach farther to one side, and of numbers of any sign, t by t."""
    chance = np.random.default_rng(7)
    for _ in range(300):
        x, y = chance.normal(0, 3), chance.choice([-1, 1]) * chance.uniform(1, 3)
        (down, up), (fall, rise) = chance.uniform(0.1, 2.5, (2, 2))
        one, other = np.array([x, 1, x - down, x + up]), np.array([y, 1, y - fall, y + rise])
        t = np.array([x / y])
        with np.errstate(invalid="ignore"):
            found = between._times(one[:, None], other[:, None], t, 1.0)
        _, _, low, high = found[:, 0]
        near = fall if y > 0 else rise  # how far y reaches towards zero
        assert math.isinf(high) == (abs(y) <= near)
        for end in (low, high) if math.isfinite(high) else ():
            # There x - t y is as far from zero as it reaches, up or down.
            below, above = (fall, rise) if end > 0 else (rise, fall)
            upward = (end > t[0]) == (y > 0)
            reach = math.hypot(*((up, end * below) if upward else (down, end * above)))
            assert abs(x - end * y) == pytest.approx(reach, rel=1e-9)
        assert low <= t[0] <= high
    # Where y reaches as far as it is large, away from zero.
    one, other = np.array([[5.0], [1], [4], [6]]), np.array([[2.0], [1], [1], [4]])
    with np.errstate(divide="ignore", invalid="ignore"):
        assert between._times(one, other, np.array([2.5]), 1.0)[2] == pytest.approx(1.2)


def test_shares_are_of_all_people() -> None:
    """Of counts, those of a choice too; means stay, and a number that is known has no noise."""
    one, other = released(people=500), released()
    found = one.compare(other, shares=True)
    assert {*found.table["kind"]} == {"share", "mean"}
    for name in ("smoker", "blood=A"):
        apart = one.share(name).estimate - other.share(name).estimate
        assert found.difference(name).estimate == pytest.approx(apart)
    known = one.with_known_size(500).compare(other.with_known_size(400), shares=True)
    assert known.difference("smoker").std == pytest.approx(
        math.hypot(
            one.with_known_size(500).share("smoker").std,
            other.with_known_size(400).share("smoker").std,
        )
    )


def test_shares_need_the_number_of_people() -> None:
    """Where it was not measured, that is said."""
    found = released()
    covariance, _ = found.errors.covariance.given_last()
    errors = replace(found.errors, covariance=covariance)
    few = replace(found, values=found.values[:-1].copy(), errors=errors)
    assert few.size is None
    with pytest.raises(NotSupportedError, match="number of people"):
        released().compare(few, shares=True)


def test_groups_are_matched_by_key_and_columns_by_name() -> None:
    """In whatever order they were listed; what is in one alone is named."""
    one = by_region(500, groups=["south", "north", "east"])
    other = by_region(groups=["north", "south", "west"])
    found = one.compare(other)
    assert found.difference("smoker", "north").estimate == pytest.approx(
        one["north"]["smoker"].estimate - other["north"]["smoker"].estimate
    )
    assert "Only in the later release: groups east." in found.notes()
    assert "Only in the earlier release: groups west." in found.notes()
    pairs = [("north", True), ("south", False)]
    turned = [(b, a) for a, b in pairs]
    one = released(by=["region", "smoker"], groups=pairs, queries=QUERIES[1:])
    other = released(by=["smoker", "region"], groups=turned, queries=QUERIES[1:])
    found = one.compare(other)
    apart = one["north", True]["visits"].estimate - other[True, "north"]["visits"].estimate
    assert found.difference("visits", "north", True).estimate == pytest.approx(apart)


def test_cells_are_matched_whatever_the_order_of_the_axes() -> None:
    """A table by blood and band is one by band and blood."""
    turned = [CELLS[0], hn.Table(["band", "blood"]), replace(CELLS[2], by=["band", "blood"])]
    one, other = released(QUERIES + CELLS, 500), released([CELLS[0], *QUERIES, *turned[1:]])
    found = one.compare(other)
    cell = found.difference("blood=A, band=40 and over")
    apart = (
        one.table("blood", "band")["A", "40 and over"].estimate
        - other.table("band", "blood")["40 and over", "A"].estimate
    )
    assert cell.estimate == pytest.approx(apart)
    mean = found.difference("years, blood=A, band=40 and over").estimate
    own = one.table("blood", "band", of="years")["A", "40 and over"].estimate
    assert mean == pytest.approx(
        own - other.table("band", "blood", of="years")["40 and over", "A"].estimate
    )
    assert "Only in" not in said(found)


CHANGED: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("bounds", [hn.Sum("visits", bounds=(0, 30))], {}, "the bounds of visits: later 0 to 20"),
    ("condition", [hn.Count("age", at_least=30, name="smoker")], {}, "what smoker is"),
    ("kind", [hn.Sum("age", bounds=(0, 1), name="smoker")], {}, "the kind of smoker"),
    ("categories", [hn.Choice("blood", ["A", "O"])], {}, "the categories of blood"),
    ("who", [], {"where": hn.Where("age", at_least=18)}, "who is in the table: later none"),
    ("unit", [], {"unit": None, "row_is_person": True}, "who is one person: later id, earlier row"),
    ("bands", [hn.Bins("age", [0, 50], name="band")], {}, "the categories of band"),
]


@pytest.mark.parametrize(("queries", "rules", "told"), [each[1:] for each in CHANGED])
def test_another_definition_is_told(queries: list[Any], rules: dict[str, Any], told: str) -> None:
    """Bounds, conditions, kinds, categories, who is in the table and who is one person."""
    names = {query.label for query in queries}
    asked = [*QUERIES, *CELLS[:2]]
    changed = [each for each in asked if each.label not in names]
    one, other = released(asked), released([*changed, *queries], **rules)
    found = one.compare(hn.Release.from_json(other.to_json()))
    assert f"Another definition: {told}" in said(found)
    assert "Another definition" not in said(one.compare(released(asked)))


def test_rules_that_come_later_are_told_too() -> None:
    """A fact that this version does not know is compared all the same, such as weights."""
    one, other = released(), released()
    weighted = replace(one, facts={**one.facts, "weight": {"column": "w", "bounds": [0.0, 5.0]}})
    told = "weight: later column w, bounds 0 to 5, earlier none."
    assert told in said(weighted.compare(other))


def test_samples_are_not_compared() -> None:
    """Intervals cover the noise of both, and that is said; of a deviation, the mean is compared."""
    one, other = (released([hn.Mean("age", bounds=(0, 100), variance=True)]) for _ in range(2))
    found = one.with_sampling("srs").compare(other)
    assert "these do not" in said(found)
    assert found.to_dict()["rows"] == one.compare(other).to_dict()["rows"]
    assert "age deviation" not in found.table["name"].tolist()
    assert found.difference("age").estimate == pytest.approx(
        one["age"].estimate - other["age"].estimate
    )


def test_old_releases_do_not_tell_what_they_read() -> None:
    """Before meanings were kept, nobody can know; that is said, once."""
    one, other = released(), released()
    old = replace(other, facts={k: v for k, v in other.facts.items() if k != "meaning"})
    assert "not told by the earlier release" in said(one.compare(old))


def test_groups_by_other_rules_are_told() -> None:
    """In how many groups a person may be."""
    found = by_region().compare(by_region(max_groups=2))
    assert "in how many groups a person may be: later 1, earlier 2" in said(found)


def test_who_may_be_in_both_is_protected_by_both() -> None:
    """The sum is told, unless one person is not the same in both."""
    found = released().compare(released())
    both = hn.compose(hn.GaussianDP(mu=1), hn.GaussianDP(mu=1)).best_guess
    assert "The same people may be in both" in said(found)
    assert f"right in at most {at_most(both)} of cases" in said(found)
    rows = released(unit=None, row_is_person=True)
    assert "best guess" not in said(released().compare(rows))


def test_within_the_noise_is_an_interval_that_holds_zero() -> None:
    """For each row, whatever the level."""
    for level in (0.5, 0.999):
        table = released(people=440).compare(released(), level=level).columns()
        holds = (table["low"] <= 0) & (table["high"] >= 0)
        assert holds.tolist() == table["within_noise"].tolist()
    assert not released(people=4000).compare(released()).is_within_noise("smoker")


def test_a_ratio_to_what_may_be_nothing_is_open() -> None:
    """Its interval is all there is, and a reader sees none."""
    earlier = released()
    values = earlier.values.copy()
    values[earlier.names.index("blood=other")] = -30.0  # below zero by more than its margin
    found = released(people=500).compare(replace(earlier, values=values))
    ratio = found.ratio("blood=other")
    assert ratio.high == math.inf
    assert ratio.low >= 0
    (line,) = [each for each in found.text().splitlines() if each.startswith("blood=other")]
    assert "∞" not in line
    rows = [row for row in found.to_dict()["rows"] if row["name"] == "blood=other"]
    assert rows[0]["ratio_high"] is None


def test_what_cannot_be_compared_is_refused() -> None:
    """The same release, one by group with one without, other columns, other groups, no release."""
    one = released()
    with pytest.raises(InvalidParameterError, match="same release"):
        one.compare(hn.Release.from_json(one.to_json()).rounded())
    with pytest.raises(NotSupportedError, match="by group"):
        by_region().compare(one)
    with pytest.raises(NotSupportedError, match="groups go by region and by smoker"):
        by_region().compare(released(QUERIES[1:], by="smoker", groups=[True, False]))
    with pytest.raises(InvalidParameterError, match="no group is in both"):
        by_region(other=None).compare(by_region(groups=["east"], other=None))
    with pytest.raises(InvalidParameterError, match="earlier must be a release"):
        one.compare(one.to_dict())
    few = released([hn.Count("smoker", name="x")])
    few = replace(few, values=few.values[:1].copy())
    with pytest.raises(InvalidParameterError, match="no number is in both"):
        few.compare(one)
    with pytest.raises(UnknownNameError, match="did you mean 'smoker'"):
        one.compare(released()).difference("smokre")


def test_frames_hold_the_same() -> None:
    """Pandas, Polars and the columns themselves."""
    found = by_region(500).compare(by_region())
    assert found.to_polars()["difference"].to_list() == found.table["difference"].tolist()
    assert found.to_pandas()["name"].tolist() == found.table["name"].tolist()
    assert found.to_polars()["within_noise"].dtype == pl.Boolean
    assert len(found) == len(found.to_pandas())
    assert "<table" in found._repr_html_()
    assert found.keys == ("region",)


def test_numbers_below_zero_have_ratios_too() -> None:
    """A sum that may be negative: the sign of the bottom does not matter."""
    queries = [hn.Sum("visits", bounds=(-30, -1))]
    one, other = (
        hn.release(survey(n).with_columns(-pl.col("visits") - 1), queries, **WHO)
        for n in (800, 400)
    )
    ratio = one.compare(other).ratio("visits")
    assert ratio.low < ratio.estimate < ratio.high
    assert ratio.estimate == pytest.approx(2, abs=0.2)
