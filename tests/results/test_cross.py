import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.covariance import Covariance
from halfnoise.design.cross_errors import CrossErrors
from halfnoise.report.crossed import crossed
from halfnoise.results.cross import CrossTable
from halfnoise.results.inference import Errors, Floats
from halfnoise.results.wide import DASH, OPEN, between
from support.tabled import any_design, by_group, everything, known

RELEASES = [everything, known, lambda: by_group()["w0"], lambda: by_group().total()]
EACH = pytest.mark.parametrize("made", RELEASES, ids=["joint", "known size", "group", "total"])


def tables(release: Any) -> list[CrossTable]:
    """Return all tables of a release, with their axes in another order than they have."""
    turned = [((*each.labels[1:], each.labels[0]), each.of) for each in release.tables]
    return [release.table(*labels, of=of) for labels, of in turned]


def dense(release: Any) -> Floats:
    """Return the whole covariance of the estimates."""
    matrix: Floats = release.errors.covariance.dense() * release.errors.copies
    return matrix


def places(table: CrossTable, part: int = 0) -> Any:
    """Return where the cells stand among the values, by axes."""
    numbers = np.arange(len(table.release.values), dtype=np.float64)
    return table.cells_of(numbers, part).astype(int)


@EACH
def test_cells_are_those_of_the_release(made: Any) -> None:
    """A cell by its categories, in any order of the axes, is the estimate of that name."""
    release = made()
    assert len(release.tables) >= 4
    for table in tables(release):
        own = [label for label, _ in table.question.axes]
        assert table.estimates.shape == table.std.shape == table.low.shape == table.shape
        for cell in itertools.islice(itertools.product(*table.categories), 5):
            said = dict(zip(table.labels, cell, strict=True))
            name = ", ".join([table.name, *(f"{x}={said[x]}" for x in own)])
            one, other = table[cell], release[name.removeprefix(", ")]
            for number in ("estimate", "std", "low", "high"):
                assert getattr(one, number) == pytest.approx(getattr(other, number), rel=1e-12)


def check_linear(release: Any) -> None:
    """Hold totals, differences and weighted sums against the dense covariance."""
    matrix, draws = dense(release), np.random.default_rng(0)
    for table in tables(release):
        if table.kind == "mean":
            continue
        where = places(table)
        chosen = [draws.permutation(n)[: draws.integers(1, n + 1)] for n in table.shape]
        named = {
            label: [each[i] for i in own]
            for label, each, own in zip(table.labels, table.categories, chosen, strict=True)
        }
        block = where[np.ix_(*chosen)].ravel()
        cells = [tuple(each[n - 1] for each, n in zip(table.categories, table.shape, strict=True))]
        cells.append(tuple(each[0] for each in table.categories))
        w = draws.normal(size=table.shape)
        for found, weights in (
            (table.total(named), dict.fromkeys(block, 1.0)),
            (table.difference(*cells), {where.max(): 1.0, where.min(): -1.0}),
            (table.linear(w), dict(zip(where.ravel(), w.ravel(), strict=True))),
        ):
            vector = np.zeros(len(release.values))
            vector[[*weights]] = [*weights.values()]
            std = math.sqrt(max(0.0, float(vector @ matrix @ vector)))
            assert found.std == pytest.approx(std, rel=1e-9, abs=1e-6)
            assert found.estimate == pytest.approx(float(vector @ release.values), abs=1e-9)
            assert found.high - found.low == pytest.approx(2 * 1.959964 * std, rel=1e-6, abs=1e-6)


@EACH
def test_sums_of_cells(made: Any) -> None:
    """Totals over any block of categories, differences and weighted sums have the exact error."""
    check_linear(made())


@pytest.mark.parametrize("seed", range(6))
def test_sums_of_cells_of_any_design(seed: int) -> None:
    """So they do in any set of tables."""
    check_linear(any_design(seed))


def check_ratios(release: Any) -> None:
    """Hold shares, means and their totals and differences against the dense covariance."""
    matrix = dense(release)

    def std(top: Any, below: Any, ratio: float) -> float:
        vector = np.zeros(len(matrix))
        np.add.at(vector, np.ravel(top), 1.0)
        np.add.at(vector, np.ravel(below), -ratio)
        return math.sqrt(vector @ matrix @ vector) / abs(float(release.values[below].sum()))

    for table in tables(release):
        where = places(table)
        if table.kind == "mean":
            whole, all_of_it = table.total(), (where, places(table, 1))
            assert whole.std == pytest.approx(std(*all_of_it, whole.estimate), rel=1e-9)
            cell = (0,) * where.ndim
            top, below = (np.array([each[cell]]) for each in all_of_it)
            ratio = float(release.values[top][0] / release.values[below][0])
            assert table.std[cell] == pytest.approx(std(top, below, ratio), rel=1e-9)
            continue
        for margin in itertools.chain.from_iterable(
            itertools.combinations(table.labels, n) for n in range(1, len(table.labels))
        ):
            found, own = table.shares(of=margin), places(table.margin(*margin))
            axes = [table.labels.index(label) for label in margin]
            for cell in itertools.islice(np.ndindex(table.shape), 6):
                top, below = where[cell], own[tuple(cell[axis] for axis in axes)]
                exact = float(release.values[top] / release.values[below])
                names = [release.names[top], release.names[below]]
                alone = release.ratio(*names)
                assert found.std[cell] == pytest.approx(std(top, below, exact), rel=1e-9)
                assert found.low[cell] == pytest.approx(max(0.0, min(1, alone.low)), abs=1e-9)
                assert found.high[cell] == pytest.approx(min(1.0, max(0, alone.high)), abs=1e-9)


def check_all(release: Any) -> None:
    """Hold everything that is said of cells."""
    check_linear(release)
    check_ratios(release)


@EACH
def test_ratios_of_cells(made: Any) -> None:
    """Shares of any margin, and means by cell, are Fieller's with the exact covariance."""
    check_ratios(made())


def test_cell_and_margin() -> None:
    """The covariance of a cell with its own margin is the margin's variance over its cells."""
    release = everything()
    matrix, table = dense(release), release.table("sex", "age", "region")
    cell, margin = places(table)[0, 0, 0], places(table.margin("age"))[0]
    assert matrix[cell, margin] == pytest.approx(matrix[margin, margin] / 8)


def test_shares_by_their_names() -> None:
    """Of a row, of a column, of all: where nobody says which, of all."""
    release = everything()
    table = release.table("sex", "age", "region")
    for part, of in (("row", ("sex", "age")), ("column", ("region",)), ("total", ())):
        assert np.array_equal(table.shares(part).numbers, table.shares(of=of).numbers)
        assert table.shares(part).of == of
    name = "sex=s1, age=a1, region=r1"
    assert table.shares()["s1", "a1", "r1"].std == pytest.approx(release.share(name).std)
    assert table.shares()["s1", "a1", "r1"].high == pytest.approx(release.share(name).high)
    nobody = replace(known(), known_size=0.0).table("region").shares()["r1"]
    assert (nobody.std, nobody.low, nobody.high) == (math.inf, 0, 1)
    without = replace(known(), known_size=None).table("region")
    with pytest.raises(hn.NotSupportedError, match="number of people"):
        without.shares()
    one = known().table("region")
    assert one.shares("column")["r1"].low == pytest.approx(known().share("region=r1").low)
    of_value = release.table("region", of="earned").shares()
    assert of_value["r1"].estimate == pytest.approx(
        release.ratio("earned, region=r1", "earned").estimate
    )


def test_means_apart() -> None:
    """The difference of two means by cell knows what their noises share."""
    release = everything()
    matrix, table = dense(release), release.table("sex", "region", of="income")
    found = table.difference(("s1", "r1"), ("other", "r2"))
    tops, bottoms = places(table), places(table, 1)
    gradient = np.zeros(len(matrix))
    for sign, cell in ((1, (0, 0)), (-1, (1, 1))):
        b = release.values[bottoms[cell]]
        gradient[tops[cell]] += sign / b
        gradient[bottoms[cell]] -= sign * release.values[tops[cell]] / b**2
    assert found.std == pytest.approx(math.sqrt(gradient @ matrix @ gradient), rel=1e-9)
    assert found.low < found.estimate < found.high
    same = table.difference(("s1", "r1"), ("s1", "r1"))
    assert (same.estimate, same.std) == (0, 0)


def test_sums_by_cell_have_means() -> None:
    """Of a sum by cell there is the mean over all people in the cell."""
    release = everything()
    found = release.mean("earned, region=r1")
    people = release.ratio("earned, region=r1", "region=r1")
    assert (found.estimate, found.std) == (people.estimate, people.std)
    assert release.mean("income, sex=s1") == release["income, sex=s1"]


def test_a_mean_of_nobody_is_a_dash() -> None:
    """Where the interval of a mean is all there is, no number stands, and errors are of others."""
    release = everything()
    (cell, answered), last = (places(release.table("sex", of="income"), part) for part in (0, 1)), 0
    values = release.values.copy()
    values[[cell[last], answered[last]]] = 12.0, 0.0
    table = replace(release, values=values).table("sex", of="income")
    assert (table.low[last], table.high[last]) == table.question.limits
    assert table.texts()[last] == [DASH]
    assert table.texts()[-1] != [DASH]
    below = str(table).partition("Standard errors: cells ")[2]
    assert below.startswith(between(table.std[1:].min(), table.std[1:].max()))
    assert OPEN in below
    marked: Any = table.release
    assert marked.flagged(0.2, 0.33).table("sex", of="income").wide().lines[last][1] == [DASH]
    part = crossed(table, "")
    assert part.tables[0].below[-1] == OPEN
    drawn = [point.label for each in part.panels for point in each.points]
    assert drawn == [*table.categories[0][1:]]
    assert OPEN not in str(release.table("sex", of="income"))


MUTANTS: dict[str, tuple[type, str, Any]] = {
    "no noise in common with margins": (Errors, "both", lambda self, a, b: self.two(
        self.covariance.variance(a), self.covariance.variance(b), 0.0)),
    "the number of people without noise": (Covariance, "_in_common", lambda *_: 0.0),
    "blocks as if cells were independent": (CrossErrors, "block", lambda self, a, b, chosen:
        math.prod(map(len, chosen)) * self.covariance(a, b)),
    "weights that are not projected": (CrossErrors, "weighted", lambda self, table, w:
        self.covariance(table, table) * float((w**2).sum())),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_error_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors that leave something out are caught."""
    kind, method, wrong = MUTANTS[name]
    monkeypatch.setattr(kind, method, wrong)
    with pytest.raises(AssertionError):
        check_all(everything())


def test_what_is_no_table_is_refused() -> None:
    """Whatever is asked for and is not there is named, with what is."""
    release = everything()
    table = release.table("sex", "region")
    for wrong, said in (
        (lambda: release.table("sex", "work"), "did you mean|one of"),
        (lambda: release.table("sex", of="earned"), "one of 'age,work'"),
        (lambda: release.table("sex", "sex"), "got 'sex,sex'"),
        (lambda: table["s1"], "a category of each of sex, region"),
        (lambda: table["s1", "x"], "category of region"),
        (lambda: table.total(work="w1"), "label must be"),
        (lambda: table.total(sex=[]), "at least one category"),
        (lambda: table.total(sex=["s1", "s1"]), "each once"),
        (lambda: table.shares("cell"), "of row, column, total"),
        (lambda: table.shares(of=("sex", "region")), "of a margin"),
        (lambda: table.shares(of=("work",)), "label must be"),
        (lambda: table.linear([1, 2]), "shape"),
        (lambda: table.linear(np.full((2, 4), math.nan)), "finite"),
        (lambda: release.table("sex", of="income").shares(), "of a margin, and of people"),
    ):
        with pytest.raises(hn.InvalidParameterError, match=said):
            wrong()


@pytest.mark.parametrize("key", [("a",), "a", ("a", "b", "c"), 7])
def test_a_cell_has_a_category_of_each_axis(key: Any) -> None:
    """Whichever cell of a difference has too few or too many is refused with a sentence."""
    table = next(each for each in tables(everything()) if len(each.labels) == 2)
    cell = tuple(own[0] for own in table.categories)
    for one, other in ((key, cell), (cell, key), (key, key)):
        with pytest.raises(hn.InvalidParameterError, match="a category of each of"):
            table.difference(one, other)


def test_a_table_of_groups_is_that_of_one() -> None:
    """By labels there is a table of one group, or of all together: the message says how."""
    release = by_group()
    labels, of = release["w0"].tables[0].labels, release["w0"].tables[0].of
    with pytest.raises(hn.InvalidParameterError, match=r"say release\['w0'\]\.table\('") as found:
        release.table(*labels, of=of)
    assert "release.total().table('" in str(found.value)
    with pytest.raises(hn.InvalidParameterError, match=r"table\(of='x'\)"):
        release.table(of="x")
    assert release.table() in str(release)


def test_all_intervals_at_once() -> None:
    """Cells and means by cell all count; each holds at the root of the level, as they are tied."""
    release = everything()
    sums, means = release.counted
    assert (sums, means) == (len(release.names), len(release.means))
    assert means == 1 + 2 + 4 + 8
    (each, *_) = release.intervals(level=0.9, simultaneous=True)
    alone = release.intervals(level=0.9 ** (1 / (sums + means)))[0]
    assert each.high - each.low == pytest.approx(alone.high - alone.low, rel=2e-3)
