"""A choice, bands and a table of one axis are read as one table, whatever the noise."""

import io
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.results.whole import whole
from halfnoise.workload.question import Question

SEX = hn.Choice("sex", ['f, "so"', "m\nn", "a=b"])
AGE = hn.Bins("age", [0, 30, 60])
BOTH = hn.ApproxDP(epsilon=1, delta=1e-6)
PEOPLE = pl.DataFrame(
    {"sex": ['f, "so"', "m\nn", "a=b", None, "m\nn"] * 60, "age": [20, 40, 70, -1, 35] * 60}
).with_columns(g=pl.Series(["1", "2"] * 150), w=pl.Series([1.0, 2.0] * 150))
GIVEN: dict[str, dict[str, Any]] = {
    "laplace": {},
    "gaussian": {"noise": "gaussian"},
    "pure": {"privacy": hn.PureDP(epsilon=1)},
    "people": {"size_importance": 1},
    "replaced": {"neighbors": hn.Neighbors.REPLACE},
    "known": {"known_size": 300},
    "weighted": {"weight": hn.Weight("w", bounds=(0, 5))},
    "sampled": {"size_importance": 1, "sampling": "srs"},
}
ASKED: list[list[Any]] = [
    [SEX, AGE],
    [hn.Table([SEX]), hn.Table([AGE])],
    [SEX, hn.Table(["sex"]), AGE],
]


@cache
def made(given: str, asked: int = 1) -> Any:
    """Return a release of both."""
    said: Any = {"privacy": BOTH, "row_is_person": True, "ledger": None} | GIVEN[given]
    return hn.release(PEOPLE, ASKED[asked], **said)


@pytest.mark.parametrize("asked", range(len(ASKED)))
@pytest.mark.parametrize("given", GIVEN)
def test_a_choice_is_a_table(given: str, asked: int) -> None:
    """Cells, differences and shares are those that the release itself gives, by their names."""
    release = made(given, asked)
    assert release.errors.noise.value == ("gaussian" if given == "gaussian" else "laplace")
    assert [(each.labels, each.of) for each in release.tables] == [
        (("sex",), None),
        (("age",), None),
    ]
    for label, axis in (("sex", SEX), ("age", AGE)):
        table, names = release.table(label), axis.names
        assert [f"{label}={each}" for each in table.categories[0]] == [*names]
        for category, name in zip(table.categories[0], names, strict=True):
            assert table[category] == release[name]
            if release.has_size:
                of_all, share = table.shares()[category], release.share(name)
                assert of_all.low == pytest.approx(share.low)
                assert of_all.high == pytest.approx(share.high)
        a, b, *_ = table.categories[0]
        one, two = table.difference(a, b), release.difference(names[0], names[1])
        assert (one.std, one.low) == pytest.approx((two.std, two.low))
        total = release.linear(dict.fromkeys(names[1:], 1.0))
        some = table.total({label: table.categories[0][1:]})
        assert (some.estimate, some.std) == pytest.approx((total.estimate, total.std))
        if release.sampling is None:  # that of a sample is narrower for one total than for any sum
            assert (some.low, some.high) == pytest.approx((total.low, total.high))
        weighed = table.linear(np.arange(len(names)))
        same = release.linear({name: float(i) for i, name in enumerate(names)})
        assert (weighed.estimate, weighed.low) == pytest.approx((same.estimate, same.low))
        assert table.total().estimate == pytest.approx(table.estimates.sum())


@pytest.mark.parametrize("given", GIVEN)
def test_shares_of_a_choice(given: str) -> None:
    """They are of all people; where nobody knows how many, of all who are in some category."""
    for label in ("sex", "age"):
        shares = made(given).table(label).shares()
        assert (shares.low <= shares.estimates).all()
        assert (shares.estimates <= shares.high).all()
        if not made(given).has_size:
            assert shares.estimates.sum() == pytest.approx(1)


@pytest.mark.parametrize("given", GIVEN)
def test_files_of_a_choice_as_a_table(given: str) -> None:
    """Wide frames, CSV and Markdown add up as shown, and JSON comes back with the same table."""
    release, back = made(given), hn.Release.from_json
    every: list[Any] = [release, release.rounded()]
    every += [back(each.to_json()) for each in every]
    for found in every:
        table, same = found.table("sex"), release.table("sex")
        assert table.categories == same.categories
        if not found.rounded_values:
            assert np.array_equal(table.numbers, same.numbers)
            assert np.array_equal(table.shares().numbers, same.shares().numbers)
        frame = table.to_pandas()
        assert [*frame.columns] == ["sex", "people"]
        *cells, last = frame["people"]
        assert sum(cells) == pytest.approx(last)
        read = pd.read_csv(io.StringIO(table.to_csv()))
        assert read["people"].tolist() == pytest.approx(frame["people"].tolist())
        assert read["sex"].tolist() == frame["sex"].tolist()
        assert table.to_polars()["people"].to_list() == table.to_arrow()["people"].to_pylist()
        assert "total" in repr(table)
        assert table.to_markdown().count("\n") > len(table.categories[0])
        assert repr(table.shares()).startswith("share of people")


@pytest.mark.parametrize("given", GIVEN)
def test_whole_choices_add_up(given: str) -> None:
    """Whole numbers, none below zero, that add up to the number of people that is shown."""
    release = made(given).rounded()
    for axis in (SEX, AGE):
        table = release.table(axis.label)
        shown = [release[name].estimate for name in axis.names]
        assert table.estimates.tolist() == shown == [float(round(x)) for x in shown]
        assert min(shown) >= 0
        assert table.total().estimate == sum(shown)
        listed = release.to_pandas().set_index("name")["estimate"]
        assert [listed[name] for name in axis.names] == shown
        if release.has_size:
            assert sum(shown) == max(0, round(release.size.estimate))
        assert "Rounding moved cells by" in repr(table)


@pytest.mark.parametrize("seed", range(20))
def test_whole_categories_are_near(seed: int) -> None:
    """Moved to add up, they are as near as any that do and are not below zero, but for rounding."""
    draws = np.random.default_rng(seed)
    cells = draws.normal(4, 6, (5, draws.integers(2, 9)))
    people = np.maximum(np.rint(cells.sum(axis=1) + draws.normal(0, 2, 5)), 0)
    names = tuple(f"x={i}" for i in range(cells.shape[1]))
    question = Question(name="x", kind="choice", start=0, names=names)
    covariance = made("gaussian").errors.covariance
    found = whole((question,), np.column_stack([cells, people]), covariance)
    assert np.array_equal(found[:, :-1].sum(axis=1), people)
    assert found.min() >= 0
    for row, made_, n in zip(cells, found[:, :-1], people, strict=True):
        if n:
            others = draws.dirichlet(np.ones(len(row)), 300) * n
            nearest = np.sqrt(((others - row) ** 2).sum(axis=1).min())
            assert np.sqrt(((made_ - row) ** 2).sum()) <= nearest + np.sqrt(len(row))


@pytest.mark.parametrize("given", [{}, {"noise": "gaussian"}])
def test_choices_in_groups_are_tables(given: dict[str, Any]) -> None:
    """Of each group, and of all of them together."""
    release: Any = hn.release(
        PEOPLE, [hn.Table([SEX])], by="g", groups=["1", "2"], privacy=BOTH, row_is_person=True,
        ledger=None, **given,
    )  # fmt: skip
    whole, parts = release.total().table("sex"), [release[key].table("sex") for key in release]
    assert whole.estimates == pytest.approx(sum(each.estimates for each in parts))
    assert whole.std == pytest.approx(np.sqrt(sum(each.std**2 for each in parts)))
    some = {"sex": SEX.names[0].removeprefix("sex=")}
    assert whole.total(some).low == pytest.approx(release.total()[SEX.names[0]].low)
    assert whole.shares().estimates.sum() == pytest.approx(1, abs=0.2)
    with pytest.raises(hn.InvalidParameterError, match=r"release\['1'\]\.table\('sex'\)"):
        release.table("sex")


def test_items_are_no_table() -> None:
    """A person may have several of them, and be in several cells."""
    items: list[Any] = [hn.Items("sex", ["a=b"]), AGE]
    release: Any = hn.release(PEOPLE, items, privacy=BOTH, row_is_person=True, ledger=None)
    with pytest.raises(hn.InvalidParameterError, match="'age'"):
        release.table("sex")
