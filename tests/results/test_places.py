"""Releases by places inside places: what may be asked of them, written and read again."""

import functools
import itertools
import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.errors import DataError, HalfnoiseError
from halfnoise.results.formats import FORMATS
from support.quadratic import quadratic_form
from support.release_schema import VALIDATOR, strictly

PLACES = [("N", "a"), ("N", "b"), ("N", "c"), ("S", "a"), ("E",)]
NESTED = hn.Nested("state", "county", places=PLACES)
SEX = hn.Choice("sex", ["f", "m"])
VALUES = [
    hn.Mean("x", bounds=(0, 9), by=["county"]),
    hn.Sum("x", name="all", bounds=(2, 9), by=["state", "sex"]),
]
LEVELS = [*NESTED.levels]


@functools.cache
def people() -> pl.DataFrame:
    """Return some people in places that are listed, and in others."""
    draws = np.random.default_rng(4)
    found: dict[str, Any] = {
        name: draws.choice(list(own), 3000)
        for name, own in (("state", "NNSEW"), ("county", "aabcz"), ("sex", "fmo"))
    }
    return pl.DataFrame(found | {"x": draws.uniform(0, 9, 3000)})


@functools.cache
def released(mu: float = 1.0) -> hn.Release:
    """Return a release of people by places, with values by cell and a count beside."""
    asked: list[Any] = [
        NESTED,
        hn.Table(["county", SEX]),
        *VALUES,
        hn.Count("x", above=3, name="many"),
    ]
    found = hn.release(people(), asked, row_is_person=True, privacy=hn.GaussianDP(mu=mu))
    assert isinstance(found, hn.Release)
    return found


def added(table: Any) -> Any:
    """Return the cells of a table by counties, added up to states."""
    states = [path[0] for path in LEVELS[1].paths]
    known = [path[0] for path in LEVELS[0].paths]
    found = np.zeros((len(known), *table.shape[1:]))
    for at, state in enumerate(states):
        found[known.index(state)] += table.estimates[at]
    return found


SORTS = [released, lambda: released().rounded(), lambda: released().with_known_size(3000)]


@pytest.mark.parametrize("made", SORTS)
def test_numbers_add_up_from_bottom_to_top(made: Any) -> None:
    """Counties to states, states to all people, in whole numbers too, whatever is beside."""
    release = made()
    for labels in ((), ("sex",)):
        fine, coarse = (release.table(level, *labels) for level in ("county", "state"))
        assert added(fine) == pytest.approx(coarse.estimates, abs=1e-6)
        everywhere = coarse.estimates.sum(axis=0)
        whole = release.table(*labels).estimates if labels else release.size.estimate
        assert everywhere == pytest.approx(whole, abs=1e-6)
    for table in (release.table("county", "sex"), release.table("state")):
        if release.rounded_values:
            assert np.array_equal(table.estimates, np.rint(table.estimates))
            assert table.rounding < 0.8
    parts = [release.table(level, of="x") for level in ("state", "county")]
    assert all(part.shape == (len(level.names),) for part, level in zip(parts, LEVELS, strict=True))


def test_what_is_printed_adds_up() -> None:
    """So do the digits that are shown, one table beside the other."""
    numbers = dict[str, list[int]]()
    for label in ("state", "county"):
        lines = released().table(label).text().splitlines()[2:-1]
        numbers[label] = [int(line.split()[-1].replace(",", "")) for line in lines]
    states = [path[0] for path in LEVELS[1].paths]
    for at, (state,) in enumerate(LEVELS[0].paths):
        pairs = zip(states, numbers["county"], strict=False)
        assert sum(number for own, number in pairs if own == state) == numbers["state"][at]


def test_errors_are_by_place() -> None:
    """In an uneven tree each place has an error of its own, of cells and of lines alike."""
    release, covariance = released(), released().errors.covariance
    table = release.table("sex", "county")
    start = table.question.start
    variances = covariance.diagonal()[start : start + table.question.cells].reshape(-1, 3)
    assert table.std == pytest.approx(np.sqrt(variances.T))
    assert table.std.max() > 1.02 * table.std.min()
    frame = release.to_polars()
    cells = (pl.col(name).is_not_null() for name in ("county", "sex"))
    rows = frame.filter(pl.col("kind") == "table", *cells)
    assert rows["std"].to_numpy() == pytest.approx(np.sqrt(variances.ravel()))
    cell = release["county=N > b, sex=m"]
    assert cell.std == pytest.approx(table["m", "N > b"].std)


def test_totals_and_differences() -> None:
    """Over any places and categories, with exact errors."""
    table, covariance = released().table("county", "sex"), released().errors.covariance
    start, shape = table.question.start, table.shape
    chosen, weights = [0, 2, 5], np.zeros(covariance.size)
    for place, sex in itertools.product(chosen, (0, 1)):
        weights[start + place * shape[1] + sex] = 1
    names = [table.categories[0][at] for at in chosen]
    total = table.total(county=names, sex=["f", "m"])
    assert total.std**2 == pytest.approx(quadratic_form(covariance, weights), rel=1e-9)
    assert total.estimate == pytest.approx(table.estimates[chosen, :2].sum())
    apart = table.difference(("N > a", "f"), ("S > a", "f"))
    assert apart.std > 0
    draws = np.random.default_rng(1).normal(size=shape)
    weights[:] = 0
    weights[start : start + draws.size] = draws.ravel()
    assert table.linear(draws).std ** 2 == pytest.approx(quadratic_form(covariance, weights))


OF: list[tuple[str, ...]] = [("state",), ("state", "sex"), ("county",), ("sex",), ()]


def test_shares_are_of_places_around() -> None:
    """Of a county in its state, in any order of axes; as Fieller has it for each pair alone."""
    release = released()
    for labels, of in itertools.product((("county", "sex"), ("sex", "county")), OF):
        shares = release.table(*labels).shares(of=of)
        county, sex = "S > a", "m"
        cell = f"county={county}, sex={sex}"
        around = {"state": "state=S", "county": f"county={county}", "sex": f"sex={sex}"}
        bottom = ", ".join(around[label] for label in of) or "number of people"
        key = (county, sex) if labels[0] == "county" else (sex, county)
        alone, found = release.ratio(cell, bottom), shares[key]
        assert found.estimate == pytest.approx(alone.estimate)
        assert found.std == pytest.approx(alone.std)
        assert found.low == pytest.approx(max(0.0, alone.low))
        assert found.high == pytest.approx(min(1.0, alone.high))
    mean = release.table("county", of="x")
    for county in ("N > a", "other > other"):
        alone = release.mean(f"x, county={county}")
        assert (mean[county].low, mean[county].std) == pytest.approx((alone.low, alone.std))
    with pytest.raises(HalfnoiseError, match="label"):
        release.table("state").shares(of="county")
    with pytest.raises(HalfnoiseError, match="a share"):
        release.table("county", "sex").shares(of=("county", "sex"))


@pytest.mark.parametrize("made", SORTS)
def test_json_comes_back_the_same(made: Any) -> None:
    """A release by places read from its JSON writes the same, and concludes the same."""
    text = made().to_json()
    VALIDATOR.validate(strictly(text))
    again: Any = hn.Release.from_json(text)
    assert again.to_json() == text
    assert repr(again) == repr(made())
    for ending in (".csv", ".md", ".jsonl"):
        assert FORMATS[ending](again) == FORMATS[ending](made())
    one, other = (each.table("county", "sex").shares(of="state") for each in (made(), again))
    assert np.array_equal(one.numbers, other.numbers)


def test_other_places_are_refused() -> None:
    """JSON whose places do not belong together is none."""
    stored = json.loads(released().to_json())
    tables = stored["values"]["covariance"]["tables"]
    for children in (
        [],
        [[4], [4, 2, 2]],
        [[3], [4, 2, 2]],
        [[4], [4, 2, 2, 10**9]],
        [[4], [5, 2, 1, 0]],
    ):
        tables["children"] = children
        with pytest.raises(DataError, match="not the JSON"):
            hn.Release.from_json(json.dumps(stored))


def test_frames_are_long_and_wide() -> None:
    """Long ones have a column for each level and axis; wide ones rows by place."""
    release = released()
    for frame in (release.to_pandas(), release.to_polars(), release.to_arrow().to_pandas()):
        assert {"state", "county", "sex", "estimate", "std"} <= {*frame.columns}
    wide = release.table("county", "sex").to_polars()
    assert wide.columns == ["county", "f", "m", "other", "total"]
    assert wide["county"][0] == "N > a"
    assert wide["county"][-1] == "total"
