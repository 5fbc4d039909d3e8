"""Any table and its neighbours: ids, cells, types, encodings, zones, collations, at random.

Many tables are read as one, each a group of its own with people of its own, so that thousands of
neighbours take seconds. Where one row could change how all others are read, tables are read alone.
"""

import functools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.workload.grid import Ring
from halfnoise.workload.totals import Totals
from support.any_table import (
    ENCODINGS,
    IN_TEXT,
    KINDS,
    MOMENTS,
    NUMBERS,
    RESTLESS,
    TABLES,
    TEXTS,
    Kind,
)
from support.loss import ROUNDING, Scale, declared, entering, loss
from support.soak import MORE, SOAKS

q: Any = hn  # queries also take lists, which their annotations do not say

STARS, RAYS = 12, 5  # of one crowd, so many neighbours
# How many tables of each engine, read as one and alone.
TOGETHER, APART = 2 * MORE, MORE * (1 + SOAKS)
IN_SPARK = MORE
PAIRS = (len(TABLES) - 1) * (TOGETHER * STARS + APART) * RAYS + IN_SPARK * STARS * RAYS
SOME_KINDS = {"a": ["yes and no", "whole", "fractions", "text"], "x": [*NUMBERS, "text"]}
SOME_KINDS |= {"c": [*TEXTS, "bad text"], "i": [*TEXTS, "bad text"], "t": [*MOMENTS, "text"]}
# The first of each is what Hypothesis tries first: where most has gone wrong before.
QUERIES: dict[str, list[Any]] = {
    "items": [q.Choice("c", ["a", "A"]), q.Items("i", ["a", "A", "á"])],
    "counts": [q.Count("a"), q.Count("t", at_least="2026-11-15", name="late")],
    "sums": [q.Sum("x", bounds=(-2, 20)), q.Mean("x", bounds=(1, 5), name="m")],
    "choices": [q.Choice("c", ["a", "A"]), q.Bins("x", [0, 3, 10])],
    "tables": [
        q.Table([q.Choice("c", ["a", "A"]), q.Bins("x", [0, 3, 10])]),
        q.Table(["x", q.Choice("i", ["a", "A", "á"])]),
        q.Mean("x", bounds=(1, 5), by=["c"], name="m"),
    ],
    "places": [
        q.Nested("c", "i", places=[("a", "A"), ("a", "á"), ("A", "a"), ("b",)]),
        q.Table(["i", q.Bins("x", [0, 3, 10])]),
        q.Mean("x", bounds=(1, 5), by=["c"], name="m"),
    ],
    "few items": [q.Count("a"), q.Items("i", ["a", "A", "á"], at_most=1)],
    "codes": [q.Items("i", ["a", "A*", "á*", "b"], split=";", at_most=2)],
}
BUDGETS = {"gaussian": hn.GaussianDP(mu=1), "laplace": hn.PureDP(epsilon=1)}
WEEK = q.By("t", every="week", zone="Asia/Tokyo")
GROUPS: dict[str, dict[str, Any]] = {
    "": {},
    "groups": {"by": "c", "groups": ["a", "A"]},
    "two groups": {"by": "c", "groups": ["a", "A", "b"], "max_groups": 2},
    "bands": {"by": q.By("x", bands=[0, 3]), "missing_group": "none", "max_groups": 2},
    "weeks": {"by": WEEK, "groups": ["2026-W46", "2026-W47", None], "max_groups": 2},
}
WEIGHTS: dict[str, dict[str, Any]] = {
    "": {},
    "weighted": {"weight": q.Weight("x", bounds=(0.3, 3.1)), "effective_size": True},
    "with heads": {"weight": q.Weight("x", bounds=(0, 19)), "unweighted_size": True},
}
Row = dict[str, Any]


@functools.cache
def scale(asked: str, budget: str, grouped: str = "", weighted: str = "") -> Scale:
    """Return a workload with its noise; that of tables, and of heads, is Gaussian."""
    gaussian = asked in ("tables", "places") or weighted == "with heads"
    known = BUDGETS["gaussian" if gaussian else budget]
    return Scale(QUERIES[asked], known, **GROUPS[grouped], **WEIGHTS[weighted])


@dataclass(frozen=True)
class Case:
    """A kind of table: the engine, the kind of each column, what is asked, and who comes and goes.

    ``restless``: who is added is there whenever the engine pleases, from scan to scan.
    """

    engine: str
    kinds: dict[str, str]
    asked: str
    budget: str
    grouped: str
    weighted: str
    restless: bool
    seed: int

    def kind(self, column: str) -> Kind:
        """Return the kind of a column, of what its encoding can spell."""
        kind, encoding = KINDS[self.kinds[column]], ENCODINGS.get(self.engine)
        if encoding is None:
            return kind
        cells = [ways for ways in kind.people if _spells(encoding, ways[0])]
        return replace(kind, people=cells)

    def rows(self, ways: Sequence[Any], draw: random.Random, *, added: bool) -> list[Row]:
        """Return the rows of one person."""
        pools = {name: self.kind(name).cells for name in self.kinds if name != "id"}
        for name in ("c", "i"):  # what is listed comes often: it is among the first
            pools[name] += pools[name][:4] * 5
        if self.asked == "codes":  # of which a cell holds several
            texts = [cell for cell in pools["i"] if isinstance(cell, str)]
            pools["i"] += [";".join(draw.choices(texts, k=5)) for _ in pools["i"] if texts]
        return [
            {name: draw.choice(cells) for name, cells in pools.items()}
            | {"id": draw.choice(ways), "restless": added and self.restless}
            for _ in range(draw.randint(1, 9 if added and self.restless else 4))
        ]

    def star(self, draw: random.Random) -> Iterator[tuple[int, list[Row]]]:
        """Yield a crowd, and the crowd with one more person, again and again; and how many."""
        people = self.kind("id").people[: draw.choice([5, None])]  # the first are nearly alike
        people = draw.sample(people, len(people))
        size = draw.randint(0, min(4, len(people) - 1))
        crowd = [row for ways in people[:size] for row in self.rows(ways, draw, added=False)]
        crowd += self.rows(self.kind("id").nobody, draw, added=False)
        yield size, crowd
        for _ in range(RAYS):
            rows = crowd + self.rows(draw.choice(people[size:]), draw, added=True)
            yield size + 1, draw.sample(rows, len(rows))

    def table(self, rows: Sequence[Row], folder: Path, **more: tuple[Kind, list[Any]]) -> Any:
        """Return rows as a table of the engine."""
        columns = {name: (self.kind(name), [row[name] for row in rows]) for name in self.kinds}
        if self.restless:
            columns["restless"] = (KINDS["yes and no"], [row["restless"] for row in rows])
        return TABLES[self.engine][0](columns | more, folder)


def _spells(encoding: str, cell: str) -> bool:
    return cell.encode(encoding, "replace").decode(encoding) == cell


@st.composite
def cases(draw: st.DrawFn, engine: str, *, alone: bool = False) -> Case:
    """Draw a kind of table; places inside places, which know no groups, where it is read alone."""
    known = TABLES[engine][1]
    kinds = {"id": draw(st.sampled_from(known))}
    for name, some in SOME_KINDS.items():
        fitting = [kind for kind in some if kind in known]
        kinds[name] = draw(st.sampled_from(fitting or known))
    restless = engine in RESTLESS and draw(st.sampled_from([True, False]))
    # Items, tables and people in several groups are what takes more than one scan.
    possible = ["items", "tables", "places"] if restless else [*QUERIES]
    asked = draw(st.sampled_from([each for each in possible if alone or each != "places"]))
    return Case(
        engine=engine,
        kinds=kinds,
        asked=asked,
        budget=draw(st.sampled_from([*BUDGETS])),
        grouped=draw(st.sampled_from([*GROUPS][: 1 if asked == "places" else None])),
        weighted=draw(st.sampled_from([*WEIGHTS][: 1 if asked == "places" else None])),
        restless=restless,
        seed=draw(st.integers(0, 2**32)),
    )


def replay(examples: int) -> settings:
    """Return settings: the same examples each time, unless they soak."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=MORE == 1,
        database=None,
        suppress_health_check=[*HealthCheck],
    )


def totals(data: Any, case: Case, workload: hn.Workload, unit: list[str], own: Scale) -> Totals:
    """Return the exact totals of a table."""
    text = TextFormat(encoding=ENCODINGS.get(case.engine, "utf-8"))
    with open_source(data, text=text) as source:
        known = source.of([*case.kinds, *unit])
        return prepared(known, workload, own.grid.blocks, unit)()


def excess(one: Totals, other: Totals, own: Scale) -> float:
    """Return what a neighbour costs, in parts of what is declared: up to one is promised."""
    here, there = (entering(each, own.grid) for each in (one, other))
    return loss(here, there, own.grid) / (declared(own.grid) * ROUNDING)


def together(case: Case, folder: Path) -> int:
    """Hold many neighbours in one table to what is declared; return how many."""
    rules = WEIGHTS[case.weighted]
    draw, own = random.Random(case.seed), scale(case.asked, case.budget, weighted=case.weighted)
    stars = [list(case.star(draw)) for _ in range(STARS)]
    worlds = [world for star in stars for world in star]
    rows = [(w, row) for w, (_, rows) in enumerate(worlds) for row in rows]
    is_text = case.engine in IN_TEXT
    numbers: list[Any] = [str(w) if is_text else w for w, _ in rows]
    number = Kind(pa.string() if is_text else pa.int64(), [])
    data = case.table([row for _, row in rows], folder, w=(number, numbers))
    listed = [*dict.fromkeys(numbers)]
    workload = hn.Workload(QUERIES[case.asked], by="w", groups=listed, other=None, **rules)
    found = totals(data, case, workload, ["w", "id"], own)
    each = [alone(found, place) for place in range(len(worlds))]
    for first in range(0, len(worlds), RAYS + 1):
        for ray in range(first, first + RAYS + 1):
            people, there = worlds[ray][0], int(counted(each[ray])[0])
            assert there in {people, people - (case.restless and ray > first)}, (case, ray)
            assert excess(each[first], each[ray], own) <= 1, (case, worlds[first], worlds[ray])
    return STARS * RAYS


def counted(found: Totals) -> Ring:
    """Return how many people there are, however often each counts."""
    return found.people if found.heads is None else found.heads


def alone(found: Totals, place: int) -> Totals:
    """Return the totals of one group as those of a table."""
    own = slice(place, place + 1)
    people = found.people[own]
    return Totals(
        sums=tuple(np.ascontiguousarray(each[own]) for each in found.sums),
        people=people,
        everyone=people,
        heads=None if found.heads is None else found.heads[own],
    )


def apart(case: Case, folder: Path) -> int:
    """Hold a few neighbours, each a table of its own, to what is declared; return how many."""
    draw = random.Random(case.seed)
    own = scale(case.asked, case.budget, case.grouped, case.weighted)
    (_, crowd), *others = case.star(draw)
    without = totals(case.table(crowd, folder), case, own.workload, ["id"], own)
    for _, rows in others:
        found = totals(case.table(rows, folder), case, own.workload, ["id"], own)
        assert excess(without, found, own) <= 1, (case, crowd, rows)
    return RAYS


ENGINES = [name for name in TABLES if name != "spark"]


@pytest.mark.parametrize("engine", ENGINES)
def test_neighbours_in_one_table(engine: str, tmp_path: Path) -> None:
    """Nobody is split or merged, and one person costs no more than is declared."""
    pairs = 0

    @replay(TOGETHER)
    @given(case=cases(engine))
    def run(case: Case) -> None:
        nonlocal pairs
        pairs += together(case, tmp_path)

    run()
    assert pairs >= TOGETHER * STARS * RAYS


@pytest.mark.parametrize("engine", ENGINES)
def test_neighbours_in_tables_of_their_own(engine: str, tmp_path: Path) -> None:
    """One person who changes the type of a column, or the bytes of a file, costs no more either."""
    pairs = 0

    @replay(APART)
    @given(case=cases(engine, alone=True))
    def run(case: Case) -> None:
        nonlocal pairs
        pairs += apart(case, tmp_path)

    run()
    assert pairs >= APART * RAYS


def test_neighbours_in_spark(tmp_path: Path) -> None:
    """The same in Spark, whose tables take longer."""

    @replay(IN_SPARK)
    @given(case=cases("spark"), own=cases("spark", alone=True))
    def run(case: Case, own: Case) -> None:
        together(case, tmp_path)
        if MORE > 1:
            apart(own, tmp_path)

    run()


def test_neighbours_are_many() -> None:
    """There are at least so many pairs of neighbours as we say."""
    assert PAIRS >= 2000 * MORE
