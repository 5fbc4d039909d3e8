import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.results import whole
from halfnoise.results.formats import FORMATS
from halfnoise.results.inference import Floats
from halfnoise.results.nest import Labels
from halfnoise.results.whole import Tables, rounded
from support.tabled import any_design, by_group, everything, known


def any_tables(seed: int, groups: int = 3) -> dict[Labels, Floats]:
    """Return tables that overlap in any way, with all their margins, of some groups."""
    draws = np.random.default_rng(seed)
    labels = "abcd"[: draws.integers(1, 5)]
    shape = dict(zip(labels, draws.integers(2, 9, len(labels)).tolist(), strict=True))
    full = draws.normal(3, 20, (groups, *shape.values()))
    every = [t for k in range(1, len(labels) + 1) for t in itertools.combinations(labels, k)]
    asked = [every[i] for i in draws.choice(len(every), min(3, len(every)), replace=False)]
    found: dict[Labels, Floats] = {}
    for table in asked:
        for margin in itertools.chain.from_iterable(
            itertools.combinations(table, k) for k in range(len(table) + 1)
        ):
            gone = tuple(1 + i for i, label in enumerate(labels) if label not in margin)
            found[margin] = full.sum(axis=gone)
    return found


def check(tables: Tables, made: Tables) -> None:
    """Hold that all are whole and add up exactly, and that tables by one axis are near."""
    assert made.keys() == tables.keys()
    for labels, cells in made.items():
        assert np.array_equal(cells, np.rint(cells))
        for axis, label in enumerate(labels, start=1):
            margin = tuple(other for other in labels if other != label)
            assert np.array_equal(cells.sum(axis=axis), made[margin])
        if len(labels) < 2:
            assert np.abs(cells - tables[labels]).max() < 1
        off = np.sqrt(np.mean((cells - tables[labels]) ** 2))
        assert off < 0.75, (labels, off)


@pytest.mark.parametrize("seed", range(40))
def test_whole_tables_add_up(seed: int) -> None:
    """However tables overlap, their whole cells add up to the whole cells of every margin."""
    tables = any_tables(seed)
    made = rounded(tables)
    check(tables, made)
    again = rounded({labels: cells[1:2] for labels, cells in tables.items()})
    assert all(np.array_equal(again[labels][0], made[labels][1]) for labels in made)


def test_the_worst_is_near_too() -> None:
    """Cells that are all a half, or whole, or huge, add up as well, and whole ones stay."""
    for cell in (0.5, 3.0, -0.5, 1e9 + 0.5, 1 / 3):
        full = np.full((1, 6, 7), cell)
        tables = {(): full.sum((1, 2)), ("a",): full.sum(2), ("b",): full.sum(1), ("a", "b"): full}
        made = rounded(tables)
        check(tables, made)
        if cell == 3:
            assert all(np.array_equal(made[labels], tables[labels]) for labels in made)


def check_many(way: Callable[[Tables], Tables]) -> None:
    """Hold a way of rounding for many sets of tables."""
    for seed in range(40):
        check(any_tables(seed), way(any_tables(seed)))


MUTANTS: dict[str, Callable[[Tables], Tables]] = {
    "each by itself": lambda tables: {labels: np.rint(cells) for labels, cells in tables.items()},
    "cut off at zero": lambda tables: {
        labels: np.maximum(cells, 0) for labels, cells in rounded(tables).items()
    },
    "farther than it must": lambda tables: {
        labels: whole._by_sums(cells) for labels, cells in tables.items()
    },
}


@pytest.mark.parametrize("name", MUTANTS)
def test_bad_rounding_is_seen(name: str) -> None:
    """What does not add up, or stays farther away than it must, is caught."""
    with pytest.raises(AssertionError):
        check_many(MUTANTS[name])


def margins(release: Any, of: str | None) -> dict[frozenset[str], Any]:
    """Return all tables of one value, the total under nothing."""
    every = [each.labels for each in release.tables if each.of == of]
    found = {frozenset(each): release.table(*sorted(each), of=of) for each in every}
    return found | {frozenset(): release[of] if of else release.size}


@pytest.mark.parametrize(
    "made",
    [everything, known, lambda: by_group()["w0"], *(lambda i=i: any_design(i) for i in range(8))],
)
@pytest.mark.parametrize("whole_numbers", [True, False])
def test_margins_add_up(made: Any, *, whole_numbers: bool) -> None:
    """Every margin of every table is the sum of its cells: exactly where they are whole."""
    release = made().rounded() if whole_numbers else made()
    for of in {each.of for each in release.tables}:
        found = margins(release, of)
        if any(getattr(table, "kind", "") == "mean" for table in found.values()):
            continue
        exact = whole_numbers and of != "earned"
        for labels, table in found.items():
            for label in labels:
                axis, margin = sorted(labels).index(label), found[labels - {label}]
                total = margin.estimates if labels - {label} else margin.estimate
                near = 0 if exact else 1e-9 * float(np.abs(table.estimates).sum())
                assert np.abs(table.estimates.sum(axis=axis) - total).max() <= near
            if labels and exact:
                assert np.array_equal(table.estimates, np.rint(table.estimates))
                assert (table.low <= table.estimates).all()
                assert (table.high >= table.estimates).all()


def numbers(line: str) -> list[float]:
    """Return the numbers of a line of a table, behind the words."""
    cells = [each for each in line.replace("|", " ").split() if each[-1].isdigit()]
    return [float(each.replace(",", "")) for each in cells if not each[0].isalpha()]


@pytest.mark.parametrize("labels", [("sex", "region"), ("region", "sex"), ("region", "sex", "age")])
@pytest.mark.parametrize("digits", [None, 0, 2])
def test_what_is_printed_adds_up(labels: tuple[str, ...], digits: int | None) -> None:
    """Rows and columns of what is shown add up to the totals that are shown, to the last digit."""
    for release in (everything(), everything().rounded()):
        table = release.table(*labels)
        for shown in (table.text(digits=digits), table.wide(digits=digits).markdown(str)):
            lines = [numbers(line) for line in shown.splitlines()]
            grid = np.array([line for line in lines if len(line) == table.shape[-1] + 1])
            assert len(grid) == np.prod(table.shape[:-1]) + 1
            scaled = np.rint(grid * 10 ** (digits or 0))
            assert np.array_equal(scaled[:, :-1].sum(axis=1), scaled[:, -1])
            assert np.array_equal(scaled[:-1].sum(axis=0), scaled[-1])
    sums = everything().table("region", of="earned").text().splitlines()
    *cells, total = [numbers(line)[-1] for line in sums[2:-1]]
    assert sum(cells) == pytest.approx(total, abs=1e-9)


def test_what_is_printed_is_what_is_rounded() -> None:
    """The whole numbers that are shown are those of ``rounded``, in any order of the axes."""
    release, table = everything(), everything().table("region", "age", "sex")
    grid = table.wide(digits=0).lines
    shown = np.array([[float(x) for x in cells[:-1]] for _, cells in grid[:-1]])
    assert np.array_equal(shown.ravel(), release.rounded().table(*table.labels).estimates.ravel())
    for name, x in release.rounded().to_pandas().set_index("name")["estimate"].items():
        assert x == pytest.approx(release.rounded()[str(name)].estimate, rel=1e-12)
    groups = by_group().rounded()
    frame = groups.to_pandas()
    cell = frame[(frame["work"] == "w0") & (frame["name"] == "sex=s1, region=r1")]
    assert cell["estimate"].item() == groups["w0"]["sex=s1, region=r1"].estimate


def test_what_rounding_adds_is_said() -> None:
    """The root mean square of the change is said with every table, and so is that of all."""
    release = everything().rounded()
    table, before = (
        release.table("sex", "age", "region"),
        everything().table("sex", "age", "region"),
    )
    off = float(np.sqrt(np.mean((table.estimates - before.estimates) ** 2)))
    assert table.rounding == pytest.approx(off)
    assert f"Rounding moved cells by {off:.3g}" in repr(table)
    assert "Rounding" not in repr(before)
    assert "may be negative" in repr(release)
    for write in FORMATS.values():
        assert write(release)


def test_counts_beside_tables_stay_in_range() -> None:
    """What is no table is rounded as ever; the number of people is what tables add up to."""
    release = everything().rounded()
    sick, size = release["sick"], release.size
    assert sick.estimate == float(round(everything()["sick"].estimate))
    assert size is not None
    assert size.estimate == release.table("sex").total().estimate
    nobody = by_group()["w0"].rounded()
    assert isinstance(nobody, hn.Release)
    assert nobody.size.estimate == nobody.table("region").estimates.sum()  # type: ignore[union-attr]
