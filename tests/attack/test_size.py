"""Where people are replaced, the number of people is published as it is: nobody can change it."""

import gzip
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.sources import fetch, open_source
from halfnoise.data.totals import prepared
from support import engines
from support.measured import grid_for

REPLACED: dict[str, Any] = {"neighbors": hn.Neighbors.REPLACE, "privacy": hn.GaussianDP(mu=1)}
ROW = {"csv": b"%d,1,a", "tsv": b"%d\t1\ta", "jsonl": b'{"id": "%d", "x": 1, "g": "a"}'}
HEADER = {"csv": b"id,x,g\n", "tsv": b"id\tx\tg\n", "jsonl": b""}
# What one person's row may be, in every kind of text file.
ODD = {
    "as others": b"",
    "undecodable": b"7,\xff\xfe,a",
    "a cut character": b"7,1,\xc3",
    "blank": b" ",
    "nothing": None,
    "too long": b"7,1," + b"z" * 2_100_000,
    "open quote": b'7,"1,a',
    "closed too early": b'7,"1"1,a',
    "too many cells": b"7,1,a,b,c,d",
    "too few": b"7",
    "commas": b",,",
    "nul": b"\0",
    "a carriage return": b"7,1\r,a",
    "windows": b"7,1,a\r",
    "a mark": b"\xef\xbb\xbf7,1,a",
    "a separator": b"7\x1e1,a",
    "no object": b"[1, 2]",
    "an open object": b'{"id": "7"',
    "a comment": b"#7,1,a",
    "a form feed": b"\x0c",
}


def written(path: Path, odd: str, place: int) -> Path:
    """Write fifty rows, one of them odd, zipped where the name says so."""
    kind = path.name.split(".")[1]
    rows = [ROW[kind] % i for i in range(50)]
    if odd != "as others":
        rows[place] = (ODD[odd] or b"").replace(b",", b"\t" if kind == "tsv" else b",")
    content = HEADER[kind] + b"\n".join(rows) + b"\n"
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return path


NAMES = ("a.csv", "a.csv.gz", "a.tsv", "a.jsonl", "a.jsonl.gz")


@pytest.mark.parametrize("name", NAMES)
def test_no_row_changes_the_number_of_rows(name: str, tmp_path: Path) -> None:
    """Fifty lines are fifty people, whatever one of them says, alone or in one of two files."""
    for i, odd in enumerate(ODD):
        path = written(tmp_path / name, odd, place=(20, 0, 49)[i % 3])
        with open_source(path, text=hn.TextFormat()) as opened:
            source = opened.of(["id", "x"])
            source.fill()
            assert fetch(source.frame.select(nw.len())) == [(50,)], odd
    if name.endswith(".gz"):  # whose last line may lack a line break
        return
    path = written(tmp_path / name, "undecodable", place=20)
    table = hn.release(path, [hn.Count("x")], row_is_person=True, **REPLACED)
    assert table.size is not None
    assert (table.size.estimate, table.size.std) == (50, 0)
    other = written(tmp_path / f"b.{name[2:]}", "as others", place=0)
    table = hn.release([path, other], [hn.Count("x")], row_is_person=True, **REPLACED)
    assert table.size is not None
    assert table.size.estimate == 100


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-be"])
def test_a_last_line_that_may_be_blank(name: str, encoding: str, tmp_path: Path) -> None:
    """Where a last line has no line break, it is a row or, if blank, none: n is not computed."""
    kind, zipped = name.split(".")[1], name.endswith(".gz")

    def file(name: str, *, ends: bool) -> Path:
        rows = [ROW[kind] % i for i in range(3)]
        text = (HEADER[kind] + b"\n".join(rows) + b"\n" * ends).decode().encode(encoding)
        (path := tmp_path / name).write_bytes(gzip.compress(text) if zipped else text)
        return path

    rules: Any = {"row_is_person": True, "text": hn.TextFormat(encoding=encoding), **REPLACED}
    open_end, ended = file(name, ends=False), file(f"b.{name[2:]}", ends=True)
    for some in (open_end, [ended, open_end], [open_end, ended], *[ended] * zipped):
        with pytest.raises(hn.InvalidParameterError, match="a last line without a line break"):
            hn.release(some, [hn.Count("x")], **rules)
        table = hn.release(some, [hn.Count("x")], known_size=3, **rules)
        assert table.size is not None
        assert table.size.estimate == 3
    if not zipped:
        table = hn.release(ended, [hn.Count("x")], **rules)
        assert table.size is not None
        assert (table.size.estimate, table.size.std) == (3, 0)


TABLE = pa.table({"id": ["p", "q", None], "x": [1, 0, 1]})
ALIKE = ("spark", "tsv", "csv-gz", "csv-folder", "parquet-folder", "xls", "xlsb")
UNITS = [name for name in engines.ENGINES if name not in ALIKE]


@pytest.mark.parametrize("engine", UNITS)
def test_by_unit_the_number_is_given(engine: str, tmp_path: Path) -> None:
    """A person without an id is nobody, so the number of people is not computed, on any engine."""
    data = engines.ENGINES[engine](TABLE, tmp_path)
    with pytest.raises(hn.InvalidParameterError, match="known_size=200_000"):
        hn.release(data, [hn.Count("x")], unit="id", **REPLACED)
    table = hn.release(data, [hn.Count("x")], unit="id", known_size=1000, **REPLACED)
    assert table.size is not None
    assert table.size.estimate == 1000


def test_a_size_that_is_given_is_not_computed(tmp_path: Path) -> None:
    """A number that was given stands, also where each row is a person."""
    path = written(tmp_path / "a.csv", "as others", place=0)
    table = hn.release(path, [hn.Count("x")], row_is_person=True, known_size=60, **REPLACED)
    assert table.size is not None
    assert table.size.estimate == 60


def test_quotes_that_span_lines_need_the_size(tmp_path: Path) -> None:
    """Where an open quote joins rows, how many there are is not computed."""
    path = written(tmp_path / "a.csv", "open quote", place=20)
    rules: Any = {"row_is_person": True, "text": hn.TextFormat(quote_newlines=True), **REPLACED}
    with pytest.raises(hn.InvalidParameterError, match="an open quote joins rows"):
        hn.release(path, [hn.Count("x")], **rules)
    table = hn.release(path, [hn.Count("x")], known_size=50, **rules)
    assert table.size is not None
    assert table.size.estimate == 50
    rules = {"row_is_person": True, "text": hn.TextFormat(quote_newlines=True)}
    hn.release(path, [hn.Count("x")], privacy=hn.GaussianDP(mu=1), **rules)


def test_groups_need_no_size() -> None:
    """The sizes of groups have noise of their own, and nothing is public about them."""
    frame = pl.DataFrame({"id": ["p", None], "x": [1, 1], "g": ["a", "b"]})
    by: Any = {"by": "g", "groups": ["a", "b"]}
    table = hn.release(frame, [hn.Count("x")], unit="id", **by, **REPLACED)
    assert all(each.size is not None and each.size.std > 0 for _, each in table.items())
    assert table.people is None


QUERIES: dict[str, list[Any]] = {
    "counts": [hn.Count("x"), hn.Count("y")],
    "sum far out": [hn.Sum("v", bounds=(999_000, 1_001_000))],
    "sum": [hn.Sum("v", bounds=(-3, 5))],
    "mean": [hn.Mean("v", bounds=(10, 20))],
    "choice": [hn.Choice("g", ["a", "b"])],
    "table": [hn.Table([hn.Choice("g", ["a", "b"]), hn.Bins("v", [0, 5])])],
    "table and all": [
        hn.Table([hn.Choice("g", ["a"]), hn.Bins("x", [1])]),
        hn.Count("x", name="yes"),
        hn.Mean("y", bounds=(1, 2), by=["g"]),
        hn.Sum("v", bounds=(2, 9)),
    ],
    "all": [
        hn.Count("x"),
        hn.Sum("v", bounds=(2, 9)),
        hn.Mean("y", bounds=(1, 2)),
        hn.Choice("g", ["a"]),
    ],
}
PERSONS: list[list[tuple[Any, ...]]] = [
    [("z", x, y, v, g)] for x in (0, 1) for y in (0, 2) for v in (-1e9, 1e9) for g in ("a", "c")
]
NOBODY: list[list[tuple[Any, ...]]] = [[(None, 1, 1, 1e9, "a")], []]


@pytest.mark.parametrize("name", QUERIES)
def test_who_becomes_nobody_is_hidden(name: str) -> None:
    """Somebody whose id goes missing moves what is measured by no more than the declared loss."""
    for privacy in (hn.GaussianDP(mu=1), hn.PureDP(epsilon=1)):
        workload = hn.Workload(QUERIES[name], neighbors=hn.Neighbors.REPLACE)
        if workload.gaussian_only and isinstance(privacy, hn.PureDP):
            continue
        grid = grid_for(hn.plan(workload, privacy=privacy, known_size=True))
        measured = [_measured(own, workload, grid) for own in [*PERSONS, *NOBODY]]
        guarantee = grid.design.guarantee
        most = guarantee.epsilon if isinstance(guarantee, hn.PureDP) else guarantee.mu
        for one, other in itertools.combinations(measured, 2):
            apart = [a - b for a, b in zip(one, other, strict=True)]
            gaussian = grid.design.noise.p == 2
            loss = sum(x * x for x in apart) ** 0.5 if gaussian else sum(map(abs, apart))
            assert loss <= most * (1 + 1e-9)


def _measured(own: Sequence[tuple[Any, ...]], workload: hn.Workload, grid: Any) -> list[float]:
    columns = dict.fromkeys(("id", "g"), pl.String) | dict.fromkeys("xyv", pl.Float64)
    columns = {name: columns[name] for name in ("id", "x", "y", "v", "g")}
    others = [("p", 1, 1, 12, "a"), ("q", 0, 0, 3, None)]
    frame = pl.DataFrame([*others, *own], schema=columns, orient="row")
    with open_source(frame, text=hn.TextFormat()) as source:
        totals = prepared(source.of(list(columns)), workload, grid.blocks, ["id"])()
    (ring,) = grid.measure(totals)
    return [float(x) for x in (ring.view("int64") / grid.scales[0]).ravel()]
