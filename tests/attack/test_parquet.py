"""A cell of a Parquet file that cannot be read is missing: it raises nothing and merges nobody."""

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from halfnoise.data.sources import parquet

SHARP = hn.GaussianDP(mu=1e6)
BAD = (b"\xff", b"\xfe", b"x\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf")
FAR = (2**63 - 1, -(2**63), -(2**63) + 1, 2**62, -(2**62), 9223372036854776, -9223372036854776)


def text(cells: list[bytes | None], kind: Any = None) -> pa.Array:
    """Return a column that says it is text, whatever its bytes are."""
    kind = kind or pa.string()
    plain = pa.array(cells, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind, len(cells), plain.buffers())


def written(folder: Path, table: pa.Table, name: str = "a", **how: Any) -> Path:
    """Write a table."""
    path = folder / f"{name}.parquet"
    pq.write_table(table, path, **how)
    return path


def people(path: object, unit: str | None = None, **asked: Any) -> list[int]:
    """Return the number of people who say yes, and of all."""
    rules: Any = {"unit": unit, "row_is_person": unit is None, "size_importance": 1.0}
    table = hn.release(path, [hn.Count("x", **asked)], privacy=SHARP, **rules)
    assert table.size is not None
    return [round(table["x"].estimate), round(table.size.estimate)]


@pytest.mark.parametrize("how", [{}, {"use_dictionary": False}, {"compression": "none"}], ids=str)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_text_that_is_none(how: dict[str, Any], kind: Any, tmp_path: Path) -> None:
    """Text with bytes that are no UTF-8 is missing as an answer, an id and a group, as is none."""
    cells = [b"yes", *BAD, b"yes", None, "yäs😀".encode(), b""]
    other = {"n": list(range(len(cells))), "nested": [[{"s": "ä"}]] * len(cells)}
    path = written(tmp_path, pa.table({**other, "x": text(cells, kind)}), **how)
    assert people(path) == [2, len(cells)]
    assert people(path, "n") == [2, len(cells)]
    ids = pa.table({"x": [1] * len(cells), **other, "id": text(cells, kind)})
    path = written(tmp_path, ids, **how)
    assert people(path, "id") == [2, 2]
    assert people(path) == [len(cells)] * 2
    rules: Any = {"row_is_person": True, "privacy": SHARP, "by": "id"}
    table = hn.release(path, [hn.Count("x")], groups=["yes", "yäs😀", None], **rules)
    assert [round(each["x"].estimate) for _, each in table.items()] == [2, 1, len(BAD) + 2, 0]


@pytest.mark.parametrize(
    "cell", [b"", b"abc", b'{"a":', b"1 2", b'"\\ud800"', *BAD, b'"\xff"'], ids=str
)
def test_json_that_is_none(cell: bytes, tmp_path: Path) -> None:
    """What is no JSON in a column of it is missing, as an answer and as an id."""
    cells = [b'"yes"', b"true", cell, None, b'"yes"']
    json = pa.ExtensionArray.from_storage(pa.json_(pa.string()), text(cells))
    path = written(tmp_path, pa.table({"x": json, "n": range(5)}))
    assert people(path, equals='"yes"') == [2, 5]
    assert people(path, "n", equals="true") == [1, 5]
    path = written(tmp_path, pa.table({"x": [1] * 5, "id": json}))
    assert people(path, "id") == [2, 2]


@pytest.mark.parametrize("names", [("x", "X"), ("x", "x"), ("x", "X", "X_1", "x_1")], ids=str)
def test_names_that_are_alike(names: tuple[str, ...], tmp_path: Path) -> None:
    """Columns whose names are alike but for case are read alike, whichever holds an odd cell."""
    nested = pa.array([[{"x": "a"}], [], []])
    for odd in range(len(names)):
        for cell in (b"no", b"\xff"):
            columns = [
                text([b"yes", b"yes", cell if i == odd else b"0"]) for i in range(len(names))
            ]
            moments = pa.array([0, 1, 2**62 if cell == b"\xff" else 2], pa.int64())
            table = pa.Table.from_arrays(
                [nested, *columns, moments.view(pa.timestamp("ms"))], ["n", *names, "N"]
            )
            path = written(tmp_path, table)
            assert people(path) == [2, 3]
            assert people(path, equals="no") == [int(odd == 0 and cell == b"no"), 3]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, hn.DataError])
def test_no_way_leads_to_the_cell(
    raised: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt or error while a file is copied says nothing of the cell that made the copy."""
    path = written(tmp_path, pa.table({"x": text([b"yes", b"CANARY\xff"])}))

    def fails(*_: object) -> None:
        raise raised

    monkeypatch.setattr(parquet, "_copy", fails)
    with pytest.raises(raised) as caught:
        people(path)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_far_out(unit: str, zone: str | None, tmp_path: Path) -> None:
    """A moment that the engine cannot hold is missing; no other changes."""
    steps = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    near = [0, 10**9 * steps, 10**9 * steps, None, -(10**9) * steps]
    for far in ((), FAR[:1], FAR[1:2], FAR):
        moments = pa.array([*near, *far], pa.int64()).view(pa.timestamp(unit, zone))
        path = written(tmp_path, pa.table({"x": moments, "n": list(range(len(moments)))}))
        held = far if unit != "ms" else [value for value in far if abs(value) == 2**63 - 1]
        later = 2 + sum(value > 10**9 * steps for value in held)
        for by in (None, "n"):
            assert people(path, by, at_least="2001-01-01") == [later, len(moments)]
        path = written(tmp_path, pa.table({"x": [1] * len(moments), "id": moments}))
        assert people(path, "id")[1] == len({*near, *held} - {None})
        months: Any = {"by": hn.By("id", every="month"), "groups": ["1970-01", "2001-09"]}
        found = hn.release(path, [hn.Count("x")], row_is_person=True, privacy=SHARP, **months)
        inside = [round(each["x"].estimate) for _, each in found.items()]
        assert inside[:2] == [1, 2]


def test_one_bad_cell_changes_no_other(tmp_path: Path) -> None:
    """Several files, columns with odd names and types beside them are read alike either way."""
    near = pa.array([0, 10**12, None], pa.int64())
    columns = {
        'a "b"': text([b"yes", "ä".encode(), None]),
        "it's": near.view(pa.timestamp("ms")),
        "utc": near.view(pa.timestamp("ms", "UTC")),
        "x": pa.array([1, 0, 1]),
        "raw": pa.array([b"\xff", b"a", None]),
    }
    good, bad = pa.table(columns), pa.table(columns | {'a "b"': text([b"yes", b"\xff", None])})
    paths = [written(tmp_path, table, name) for table, name in ((good, "a[1]"), (bad, "b'c"))]
    asked = [
        hn.Count('a "b"', name="text"),
        hn.Count("it's", at_least="2000-01-01", name="moment"),
        hn.Count("utc", at_least="2000-01-01", name="utc"),
        hn.Count("x"),
    ]
    alone, both = (
        hn.release(some, asked, row_is_person=True, privacy=SHARP) for some in (paths[:1], paths)
    )
    for name, times in itertools.product(("text", "moment", "utc", "x"), (2,)):
        assert round(both[name].estimate) == times * round(alone[name].estimate)


def test_files_with_moments_of_their_own(tmp_path: Path) -> None:
    """Files that hold moments in other units are one table, also where a cell is out of range."""
    paths = []
    for unit, steps, far in (("ms", 10**3, 2**62), ("us", 10**6, 0), ("ms", 10**3, 0)):
        moments = pa.array([10**9 * steps, -steps, far], pa.int64()).view(pa.timestamp(unit))
        paths.append(written(tmp_path, pa.table({"x": moments}), f"{unit}{far}"))
    assert people(paths, at_least="2001-01-01") == [3, 9]
