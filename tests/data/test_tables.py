"""Tables from rows: as choices by themselves, beside much else, and refused as choices are."""

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data import adding, batches, contributions, tables
from halfnoise.data.apart import check_apart
from halfnoise.data.codebook import open_questions
from halfnoise.data.faults import column_faults, types_of
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.spelling import Spelling
from halfnoise.data.totals import prepared
from halfnoise.errors import HalfnoiseError, InvalidParameterError
from halfnoise.workload.crossing import TableBlock
from support.measured import grid_for
from support.nasty import ADULT, AMOUNTS, TABLES, nasty

q: Any = hn  # what strict types would refuse is tried, too

AXES = [AMOUNTS[i] for i in (7, 9, 10, 11)]
PAIRS = [q.Table(two) for two in itertools.combinations(AXES, 2)]


def totals(data: Any, queries: Sequence[Any], unit: Sequence[str], **rules: Any) -> dict[str, Any]:
    """Return the sums of all blocks, tables apart."""
    workload = hn.Workload(queries, **rules)
    grid = grid_for(hn.plan(hn.Workload(queries), privacy=hn.GaussianDP(mu=1)))
    with open_source(data, text=TextFormat()) as source:
        exact = prepared(source, workload, grid.blocks, unit or None)()
    found = {}
    for block, ring in zip(grid.blocks, exact.sums, strict=True):
        if isinstance(block, TableBlock):
            start, (people, *_) = 0, block.shape.layers
            for axes in people.axes:
                stop = start + math.prod(block.shape.levels[axis] for axis in axes)
                found[block.named(axes)] = ring[0, start:stop].tolist()
                start = stop
            found["all cells"] = ring[0].tolist()
        else:
            found[block.label] = ring[0].tolist()
    return found


@pytest.mark.parametrize("unit", [("person id",), ()])
def test_a_margin_is_the_choice(unit: Sequence[str]) -> None:
    """A person has one category of each attribute in all tables: that of the choice alone."""
    data = nasty(1, 300)
    found = totals(data, PAIRS, unit)
    for axis in AXES:
        (alone,) = totals(data, [axis], unit).values()
        assert found[axis.label] == alone
        assert sum(alone) > 50


def test_margins_add_up() -> None:
    """Every table adds up to the margins that it shares with others."""
    found = totals(nasty(1, 300), PAIRS, ("person id",))
    for one, other in itertools.combinations(AXES, 2):
        wide = [len(axis.names) for axis in (one, other)]
        table = np.array(found[f"{one.label},{other.label}"]).reshape(wide)
        assert table.sum(axis=1).tolist() == found[one.label]
        assert table.sum(axis=0).tolist() == found[other.label]


WAYS = [(adding, "_PIECE", 7), (tables, "_FEW", 0), (tables, "_WORD", 20)]
WAYS += [(contributions, "_MANY", 2)]


@pytest.mark.parametrize(
    ("unit", "rules"),
    [(("person id",), {}), ((), {"by": "wave", "groups": ["x", "y"]})],
)
def test_however_they_are_added_up(
    unit: Sequence[str], rules: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In pieces, by person or by cell, in one word or in several: the same whole numbers."""
    data = nasty(1, 100)
    known = totals(data, TABLES, unit, **rules)
    for where, name, value in WAYS:
        with monkeypatch.context() as patched:
            patched.setattr(where, name, value)
            assert totals(data, TABLES, unit, **rules) == known


@pytest.mark.parametrize("columns", [12, 2])  # of which all tables need more than two
def test_beside_many_counts(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read in several scans has the same tables, of those whom the workload is about."""
    data, counts = nasty(1, 300), [q.Count("code", equals=i, name=f"n{i}") for i in range(30)]
    known = totals(data, TABLES, ("person id",), where=[ADULT])
    assert known["all cells"] != totals(data, TABLES, ("person id",))["all cells"]
    monkeypatch.setattr(batches, "_COLUMNS", columns)
    found = totals(data, [*counts, *TABLES], ("person id",), where=[ADULT])
    assert {name: found[name] for name in known} == known


FRAME = pl.DataFrame(
    {
        "id": [1, 2],
        "c": ["a", None],
        "x": [1.5, 2],
        "day": [dt.date(2026, 11, 15)] * 2,
        "list": [[1], [2]],
    }
)
BANDS = q.Bins("x", [1])
REFUSED = {
    "bands of days": (q.Bins("day", [1]), "holds Date, not numbers"),
    "bands of lists": (q.Bins("list", [1]), "holds List.*not numbers"),
    "a choice of lists": (q.Choice("list", ["a"]), "holds List.*not numbers, text or days"),
    "no column": (q.Choice("wort", ["a"]), "no column 'wort'"),
    "a fold": (q.Bins(nw.col("x").sum(), [1], name="all"), "row"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_an_axis(name: str) -> None:
    """What a choice is refused for an axis is refused for, in the same words, before any row."""
    axis, words = REFUSED[name]
    rules: Any = {"unit": "id", "privacy": hn.GaussianDP(mu=1)}
    said = []
    for queries in ([axis], [q.Table([axis, BANDS])], [BANDS, q.Table(["x", axis])]):
        with pytest.raises(InvalidParameterError, match=words) as refused:
            q.release(FRAME, queries, **rules)
        said.append(str(refused.value))
    assert said[0] == said[1] == said[2]


def faults(queries: Sequence[Any]) -> list[HalfnoiseError]:
    """Return all that a check refuses."""
    with open_source(FRAME, text=TextFormat()) as source:
        return [*column_faults(source, hn.Workload(queries), ["id"])]


def test_a_check_looks_at_axes() -> None:
    """All that is wrong with axes is found at once, and nothing else."""
    named = q.Choice("c", ["a"])
    good = [q.Table([named, BANDS]), q.Count("x", at_least=1, by=["c"], name="n")]
    assert not faults(good)
    wrong = [q.Table([named, q.Bins("day", [1])]), q.Mean("list", bounds=(0, 1), by=["c"])]
    assert [str(each).split(" holds")[0] for each in faults([*good, *wrong])] == [
        "the column 'day'",
        "the column 'list'",
    ]


def test_axes_are_compared_and_asked_about() -> None:
    """Categories that are one without case are refused, and a codebook is asked about axes."""
    table = q.Table([q.Choice("c", ["a", "A"]), BANDS])
    with pytest.raises(InvalidParameterError, match="the same with ignore_case"):
        check_apart(hn.Workload([table]), Spelling(ignore_case=True))
    with open_source(FRAME, text=TextFormat()) as source:
        kinds = types_of(source, ["c", "x"])
    asked = open_questions(hn.Workload([table]), kinds, TextFormat(), ["id"], rows=False)
    alone = hn.Workload(table.own)
    assert asked == open_questions(alone, kinds, TextFormat(), ["id"], rows=False)
    assert [line.split(":")[0] for line in asked] == ["c", "x", "id"]


def test_found_keys_may_be_anything() -> None:
    """Groups that are found have tables too, whatever names them."""
    keys = ["a", "A ", None, "ü", "1"] * 8
    frame = pl.DataFrame({"k": keys, "c": ["a", "b"] * 20, "x": [1.0, 7, 9, 11] * 10})
    workload = hn.Workload(
        [q.Table([q.Choice("c", ["a"]), q.Bins("x", [8])])],
        by="k",
        groups="discover",
        discover_delta=1e-7,
    )
    plain = replace(workload, by=None, groups=None, discover_delta=None)
    grid = grid_for(hn.plan(plain, privacy=hn.GaussianDP(mu=1)))
    with open_source(frame, text=TextFormat()) as source:
        exact = prepared(source, workload, grid.blocks, None)()
    assert exact.keys is not None
    assert {*exact.keys} == {(key,) for key in keys}
    assert exact.sums[0][:, :2].sum(axis=1).tolist() == [8] * 5


@pytest.mark.parametrize("rows", [0, 3])
def test_no_group_may_be_found(rows: int) -> None:
    """Where no group is there, or none of those that are passes, nothing fails."""
    frame = pl.DataFrame({"k": ["a", "b", "c"], "c": ["a"] * 3, "x": [1.0] * 3})[:rows]
    found = q.release(
        frame,
        [q.Table([q.Choice("c", ["a"]), q.Bins("x", [8])]), q.Mean("x", bounds=(0, 9), by=["c"])],
        by="k",
        groups="discover",
        row_is_person=True,
        privacy=hn.ApproxDP(epsilon=1, delta=1e-6),
    )
    assert len(found) == 0
