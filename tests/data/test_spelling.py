"""What cells of text mean: the same on every engine as by the slow rules, cell by cell."""

import decimal
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.spelling import ODD_CASE, Spelling, lowered
from halfnoise.data.totals import prepared
from halfnoise.design.measurement import CenteredMeasurement
from support import engines, reference
from support.measured import grid_for
from support.nasty_cells import cells as nasty
from support.slow_cells import SlowCells
from support.soak import MORE, SOAKS

q: Any = hn  # what strict types would refuse is tried, too

SPELLINGS = {
    "as ever": Spelling(),
    "decimal comma": Spelling(decimal=","),
    "de": TextFormat.of_dialect("de").spelling,
    "us": replace(TextFormat.of_dialect("en-us").spelling, ignore_case=True),
    "fr": replace(TextFormat.of_dialect("fr").spelling, ignore_case=True),
    "iso": Spelling(thousands="'", dates="yyyymmdd", yes=("MA\xdf", "\u0130nf"), no=("A B",)),
    "spaces": Spelling(decimal=",", thousands=" ", dates="dd mm yyyy", ignore_case=True),
    "odd": Spelling(decimal="^", yes=("oui", "si")),
}
# Who computes is Polars, Spark, or DuckDB for all the others, which differ in what they hand over.
ENGINES = {
    "as ever": ("polars", "parquet"),
    "decimal comma": ("polars", "csv"),
    "de": ("polars", "csv"),
    "us": ("polars", "jsonl"),
    "fr": ("polars", "parquet"),
    "iso": ("polars",),
    "spaces": ("polars",),
    "odd": ("csv",),
}
ALL = tuple(name for name in engines.READERS if name not in ("spark", "pandas-objects"))
NOT_IN_TEXT = "\0\r\n\x1e"  # what a line of a text file cannot hold
FEBRUARY = q.Where("x", between=("2024-02-01", "2024-02-29"))
ASKED = [
    q.Count("x", name="yes"),
    q.Count("x", true=("J45", "ja", 2), name="coded"),
    q.Count("x", equals=True, name="true"),
    q.Count("x", equals=False, missing=("n", "0"), name="false"),
    q.Count("x", equals="-99", name="code"),
    q.Count("x", equals="1234", name="number"),
    q.Count("x", equals="k. A.", name="text"),
    q.Count("x", equals="2024-02-01", name="day"),
    q.Count("x", is_in=("E11", "maß", "12.5", "2024-12-31", "od\u03bf\u03c3"), name="several"),
    q.Count("x", at_least=1234, missing=("-99", "1e5", "E 11"), name="at least"),
    q.Count("x", below=-1.5, name="below"),
    q.Count("x", above=1e307, name="huge"),
    q.Count("x", up_to="2024-02-29", name="until"),
    q.Count("x", up_to="9999-12-31", name="until the end"),
    q.Count("x", above="9999-12-31", name="beyond the end"),
    q.Count("x", above="2024-02-01", missing="2024-12-31", name="since"),
    q.Count("here", where=FEBRUARY, name="february"),
    q.Count("here", where=q.Where("x", at_least=-99, missing=("-99",)), name="number there"),
    q.Sum("x", bounds=(-5000, 5000), name="sum"),
    q.Mean("x", bounds=(0, 1e30), missing=("k. A.", -99), name="mean"),
    q.Choice("x", ["ja", "A", "2", "E11", "2024-02-01", "other"], name="choice"),
    q.Bins("x", [-100, 0, 1, 12.5, 1e15], missing=("1",), name="bins"),
    q.Items("x", ["J45", "ab", "E11", "1"], missing=("E 11",), name="items"),
]
IN_SPARK = ("yes", "coded", "several", "at least", "until", "choice")


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells, each a group of its own, and what the slow rules make of it."""

    some: list[str | None]
    spelling: Spelling
    workload: hn.Workload
    grid: CenteredMeasurement

    @classmethod
    def of(cls, name: str, seed: int, *, in_lines: bool) -> "Cells":
        """Return nasty cells; of those in lines of a text file the ones that a line can hold."""
        spelling = SPELLINGS[name]
        some = nasty(spelling, seed)
        if in_lines:
            some = [cell for cell in some if not any(mark in (cell or "") for mark in NOT_IN_TEXT)]
        workload = hn.Workload(ASKED, by="at", groups=[*range(len(some))], other=None)
        grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
        return cls(some=some, spelling=spelling, workload=workload, grid=grid)

    @property
    def table(self) -> pa.Table:
        """The cells as a table."""
        here = pa.array([True] * len(self.some))
        at = pa.array(range(len(self.some)))
        return pa.table({"x": pa.array(self.some, pa.string()), "here": here, "at": at})

    def right(self, cell: str | None, spelling: Spelling) -> list[list[int]]:
        """Return the totals of a cell by the slow rules."""
        slow, row = SlowCells(spelling=spelling), {"x": cell, "here": True}
        return reference.totals([row], self.workload, self.grid, (), slow)[0]

    def wrong(self, data: Any, spelling: Spelling | None = None) -> dict[str, Any]:
        """Return the cells that an engine reads in another way than the slow rules."""
        own = self.spelling
        with open_source(data, text=TextFormat(**asdict(own))) as opened:
            source = opened.of(self.table.column_names)
            exact = prepared(source, self.workload, self.grid.blocks, None)()
        differ: dict[str, Any] = {}
        for i, cell in enumerate(self.some):
            right = self.right(cell, spelling or own)
            for block, total, want in zip(self.workload.blocks, exact.sums, right, strict=True):
                found = [int(x) - (2**64 if x >= 2**63 else 0) for x in total[i]]
                if found != want:
                    differ.setdefault(repr(cell), []).append((block.asked[0].label, found, want))
        return differ


@pytest.mark.parametrize(
    ("name", "engine"),
    [(name, engine) for name in SPELLINGS for engine in (ALL if SOAKS else ENGINES[name])],
)
def test_every_cell(name: str, engine: str, tmp_path: Path) -> None:
    """Each cell counts as the slow rules say, whatever is asked of it."""
    for seed in range(MORE if SOAKS else 1):
        some = Cells.of(name, seed, in_lines=engine in engines.TEXT)
        assert some.wrong(engines.ENGINES[engine](some.table, tmp_path)) == {}


def test_cells_in_spark(tmp_path: Path) -> None:
    """Spark finds as many as the slow rules in all cells together, or, given time, in each."""
    some = Cells.of("us", 1, in_lines=False)
    data = engines.spark(some.table, tmp_path)
    if SOAKS:
        assert some.wrong(data) == {}
    workload = hn.Workload([each for each in ASKED if each.label in IN_SPARK])
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    slow = SlowCells(spelling=some.spelling)
    with open_source(data, text=TextFormat(**asdict(some.spelling))) as opened:
        exact = prepared(opened.of(["x"]), workload, grid.blocks, None)()
    right = reference.totals([{"x": cell} for cell in some.some], workload, grid, (), slow)
    assert ([[int(x) for x in block[0]] for block in exact.sums], exact.people[0]) == right


def test_another_spelling_is_seen(tmp_path: Path) -> None:
    """The comparison tells spellings apart: were a comma read as a point, it would fail."""
    some = Cells.of("decimal comma", 1, in_lines=False)
    data = engines.ENGINES["polars"](some.table, tmp_path)
    assert "'1.5'" in some.wrong(data, SPELLINGS["as ever"])


# Beyond these two planes there are ideographs, which have no case.
LETTERS = [chr(i) for i in range(sys.maxunicode if SOAKS else 0x20000) if not 0xD800 <= i < 0xE000]
CASED = [letter for letter in LETTERS if letter.lower() != letter or letter.upper() != letter]
# Where letters stand matters for one, the Greek sigma; an engine may know more letters than Python.
TEXTS = [
    f"{before}{letter}{after}" for letter in CASED for before in ("", "aB") for after in ("", "Ba")
]
TEXTS += LETTERS


def lowered_otherwise(frame: nw.LazyFrame[Any]) -> list[str]:
    """Return the texts that an engine lowers in another way than the rule for case."""
    low = nw.col("x").str.to_lowercase()
    own = nw.when(nw.col("x").str.contains(ODD_CASE)).then(nw.col("x")).otherwise(low)
    found = frame.select("x", low=own).collect()
    pairs = zip(found["x"].to_list(), found["low"].to_list(), strict=True)
    return [text for text, low in pairs if low != lowered(text)]


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_engines_agree_on_case(engine: str, tmp_path: Path) -> None:
    """Whatever letter a text holds, and wherever, its small letters are those of Python."""
    data = engines.ENGINES[engine](pa.table({"x": TEXTS}), tmp_path)
    assert lowered_otherwise(nw.from_native(data).lazy()) == []


def test_spark_agrees_on_case(tmp_path: Path) -> None:
    """The same for Spark, with letters that have a case."""
    some = pa.table({"x": [f"aB{letter}" for letter in CASED]})
    assert lowered_otherwise(nw.from_native(engines.spark(some, tmp_path)).lazy()) == []


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a word": (
        {"thousands": "dot"},
        "thousands must be one of . , ' _ \u2019 or a space, got 'dot'",
    ),
    "a letter": ({"thousands": "e"}, "thousands must be one of"),
    "the decimal mark": ({"thousands": "."}, "another mark than the decimal one, got '.'; say dec"),
    "two years": ({"dates": "yyyy-mm-yyyy"}, "dates must be yyyy, mm and dd"),
    "no day": ({"dates": "mm.mm.yyyy"}, "dates must be yyyy, mm and dd"),
    "two marks": ({"dates": "dd.mm/yyyy"}, "for example dd.mm.yyyy"),
    "a year between": ({"dates": "dd.yyyy.mm"}, "the year first or last"),
    "a short year": ({"dates": "dd.mm.yy"}, "dates must be yyyy, mm and dd"),
    "ISO turned round": ({"dates": "yyyy-dd-mm"}, "write the dates in the file as yyyy-mm-dd"),
    "no text": ({"dates": None}, "dates must be"),
    "one text": ({"yes": "ja"}, "yes must be a list of words, got 'ja'; for example yes=['ja']"),
    "numbers": ({"yes": [1]}, "yes must be a list of words"),
    "an empty word": ({"no": ["nein", " "]}, "no must be words that are not empty"),
    "no as yes": ({"yes": ["ja", "N "]}, "yes must be words that do not mean no, got 'n'"),
    "1 as no": ({"no": ["1"]}, "no must be words that do not mean yes, got '1'"),
    "both": ({"yes": ["si"], "no": ["SI"]}, "no must be words that do not mean yes as well, got"),
    "a code": ({"yes": ["2"]}, "say so where the column is named: smoker:yes:2"),
    "a number as spelled": ({"decimal": ",", "yes": ["1,5"]}, "yes must be words, without digits"),
    "a day": ({"no": ["2024-01-01"]}, "no must be words, without digits"),
    "a flag": ({"ignore_case": 1}, "ignore_case must be True or False, got 1"),
    "a comma": ({"comma": ""}, "comma must be one character that text may hold"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_would_be_read_in_two_ways_is_refused(what: str) -> None:
    """A message says what, the value, the rule and the remedy."""
    said, message = WRONG[what]
    with pytest.raises(hn.InvalidParameterError) as caught:
        TextFormat(**said)
    assert message in str(caught.value)


ALIKE: dict[str, tuple[Any, str]] = {
    "categories": (q.Choice("x", ["A", "B", " a"]), "the categories 'A' and ' a' are the same"),
    "codes for yes": (q.Count("x", true=("J 45", "j45")), "the codes for yes 'J 45' and 'j45'"),
    "missing": (q.Count("x", missing=("k. A.", "K.A.")), "the codes for missing 'k. A.' and"),
    "values": (q.Count("x", is_in=("ja", "JA")), "the values 'ja' and 'JA' are the same"),
    "of a condition": (q.Count("x", where=q.Where("x", is_in=("a", "A"))), "the values 'a' and"),
}


@pytest.mark.parametrize("what", ALIKE)
def test_values_that_are_one_are_refused(what: str) -> None:
    """Before a row is read, and only where neither case nor spaces matter."""
    query, message = ALIKE[what]
    workload = hn.Workload([query])
    blocks = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1))).blocks
    for ignored in (False, True):
        with open_source(pa.table({"x": ["A"]}), text=TextFormat(ignore_case=ignored)) as source:
            if not ignored:
                prepared(source, workload, blocks, None)
                continue
            with pytest.raises(hn.InvalidParameterError) as caught:
                prepared(source, workload, blocks, None)
    assert message in str(caught.value)


@pytest.mark.parametrize("engine", ["parquet", "polars"])
def test_listed_groups_ignore_case(engine: str, tmp_path: Path) -> None:
    """Groups that are listed are found in any case and spacing, and come out as they are listed."""
    cells = ["Innere", " INNERE", "in nere", "True", "TRUE", "Augen", None, "İ", "i̇"]
    data = engines.ENGINES[engine](pa.table({"x": pa.array(cells, pa.string())}), tmp_path)
    for ignored, right in ((False, [1, 2, 1, 5]), (True, [3, 2, 1, 3])):
        workload = hn.Workload([hn.Count("x")], by="x", groups=["Innere", "true", "İ"])
        blocks = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1))).blocks
        with open_source(data, text=TextFormat(ignore_case=ignored)) as source:
            exact = prepared(source, workload, blocks, None)()
        assert [int(x) for x in exact.people] == right


@pytest.mark.parametrize(
    "groups",
    [
        {"by": "x", "groups": ["A", "a"]},
        {"by": "x", "groups": ["B", "a"], "missing_group": "A"},
        {"by": ["x", "y"], "groups": [["B", " a"], ["C"]], "missing_group": "A"},
        {"by": ["y", "x"], "groups": {"x": ["a"], "y": "discover"}, "missing_group": "A"},
    ],
)
def test_groups_that_are_one_are_refused(groups: dict[str, Any]) -> None:
    """Two listed groups may not be the same in another case, nor one and that without a key."""
    table = pa.table({"x": ["A"], "y": ["A"], "z": ["A"]})
    workload = hn.Workload([hn.Count("z")], **groups)
    blocks = grid_for(hn.plan(workload, privacy=hn.ApproxDP(epsilon=1, delta=1e-6))).blocks
    with (
        open_source(table, text=TextFormat(ignore_case=True)) as source,
        pytest.raises(hn.InvalidParameterError, match=r"a' .*the same"),
    ):
        prepared(source, workload, blocks, None)


def test_a_number_that_is_no_text_keeps_its_value(tmp_path: Path) -> None:
    """Numbers of JSON, and those among objects, have a point, whatever marks text has."""
    lines = '{"x": 1.25}\n{"x": "1.250"}\n{"x": "2,5"}\n{"x": 7}\n{"x": 1e2}\n{"x": [1.5]}\n'
    (path := tmp_path / "t.jsonl").write_text(lines, encoding="utf-8")
    cells = [1.25, "1.250", "2,5", 7, np.float32(100), decimal.Decimal("1e400"), None]
    objects = pd.Series(cells, dtype=object)
    workload = hn.Workload([q.Bins("x", [0, 1.25, 2.5, 7, 100, 1250, 1251])])
    blocks = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1))).blocks
    frames = [pd.DataFrame({"x": column}) for column in (objects, objects.astype("category"))]
    for data, above in ((path, 0), (frames[0], 1), (frames[1], 1)):
        with open_source(data, text=TextFormat.of_dialect("de")) as source:
            exact = prepared(source.of(["x"]), workload, blocks, None)()
        assert [int(x) for x in exact.sums[0][0]] == [0, 1, 1, 1, 1, 1, above, 1]


def test_days_in_iso_form_are_cut_out_of_text() -> None:
    """And those in no other form, which are put together."""
    assert [form.is_iso for form in Spelling().day_forms] == [True]
    others = ("yyyy.mm.dd", "yyyy/mm/dd", "dd-mm-yyyy", "yyyymmdd")
    for forms in (Spelling(dates=dates).day_forms for dates in others):
        assert [form.is_iso for form in forms] == [True, *(False for _ in forms[1:])]


@pytest.mark.parametrize("engine", ["csv", "polars", "jsonl"])
def test_days_that_no_month_has_are_missing(engine: str, tmp_path: Path) -> None:
    """In conditions as in groups, whichever way they are written; others are not."""
    there = ["28.02.2023", "29.02.2024", "2000-02-29", "31.03.2024", "2024-04-30", "1.5.2024"]
    none = ["29.02.2023", "2024-02-30", "31.02.2024", "1900-02-29", "31.4.2024", "2024-11-31 09:00"]
    path = tmp_path / ("days.csv" if engine == "csv" else "days.jsonl")
    lines = ["d", *there, *none] if engine == "csv" else [f'{{"d": "{x}"}}' for x in there + none]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    frame = pl.DataFrame({"d": [*there, *none]})
    asked = [
        hn.Count("d", at_least="1800-01-01", name="any"),
        hn.Count("d", between=("1900-02-28", "2024-02-28"), name="some"),
    ]
    said: dict[str, Any] = {"row_is_person": True, "privacy": hn.GaussianDP(mu=1e6)}
    text = TextFormat(dates="dd.mm.yyyy")
    table = hn.release(frame if engine == "polars" else path, asked, text=text, ledger=None, **said)
    assert [round(table[name].estimate) for name in ("any", "some")] == [len(there), 2]


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("code", ["1900-01-01 00:00:00", "1900-01-01T00:00:00", "1 1 1900 0:00"])
def test_a_code_for_missing_may_be_a_moment(code: str, *, ignore_case: bool) -> None:
    """Where days are compared as everywhere else: programs write it for a day nobody knows."""
    cells = [code, f" {code}", code.lower(), code.replace(" ", "\t"), "1900-01-01", "1.1.1900"]
    text = TextFormat(dates="dd mm yyyy", ignore_case=ignore_case)
    slow = SlowCells(spelling=text.spelling)
    early = q.Count("d", below="1950-01-01", missing=code)
    expected = sum(reference.says({"d": cell}, early, slow) for cell in cells)
    said: dict[str, Any] = {"row_is_person": True, "privacy": hn.GaussianDP(mu=1e6)}
    found = hn.release(pl.DataFrame({"d": cells}), [early], text=text, ledger=None, **said)
    assert round(found["d"].estimate) == expected < len(cells) - 2
