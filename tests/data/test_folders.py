"""Folders of files, and the columns that their names say."""

import errno
import gzip
import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from halfnoise.data.sources import fetch, open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.ledger.booking import beside
from support.commands import run

ODD = pa.array([1], pa.int32())
SHARP: Any = {"privacy": hn.GaussianDP(mu=1e6), "i_know": True, "ledger": None}


def rows(data: object, *columns: str, **text: Any) -> list[tuple[Any, ...]]:
    """Return the rows of some columns in one order."""
    with open_source(data, text=TextFormat(**text)) as opened:
        source = opened.of(columns)
        source.fill()
        frame = source.rows(columns).select(*(source.names[column] for column in columns))
        return sorted(fetch(frame), key=repr)


def refused(data: object, *columns: str, **text: Any) -> str:
    """Return the sentence with which a folder is refused."""
    with pytest.raises(hn.InvalidParameterError) as caught:
        rows(data, *(columns or ("a",)), **text)
    return str(caught.value)


def written(path: Path, cells: list[Any]) -> None:
    """Write a column a to a file of any kind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"a": cells}), path)
        return
    lines = [f'{{"a": "{cell}"}}' for cell in cells] if "json" in path.name else ["a", *cells]
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


ENDINGS = ["csv", "csv.gz", "jsonl", "parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_folders_say_columns(ending: str, tmp_path: Path) -> None:
    """Names and values are decoded, a value that is none is missing, and all of it is text."""
    folder = tmp_path / "visits.parquet"  # as Spark calls what it writes
    written(folder / "year=2024" / "my%20place=a%2Fb'" / f"1.{ending}", ["x", "y"])
    written(folder / "year=2024" / "my%20place=a%2Fb'" / "more" / f"2.{ending}", ["z"])
    written(folder / "year=__HIVE_DEFAULT_PARTITION__" / "my%20place=" / f"1.{ending}", ["x"])
    for aside in ("_SUCCESS", ".part.crc", f"_temporary/0.{ending}", f".hidden/0.{ending}"):
        (folder / aside).parent.mkdir(exist_ok=True)
        (folder / aside).write_text("nothing", encoding="utf-8")
    (folder / "x.csv.ledger").write_text("nothing", encoding="utf-8")
    expected = [(None, "x", None), *(("2024", a, "a/b'") for a in "xyz")]
    for data in (folder, f"{folder}/", [folder]):
        found = rows(data, "year", "a", "my place")
        assert found == sorted(expected, key=repr)
    assert rows(folder, "a") == [("x",), ("x",), ("y",), ("z",)]
    with open_source(folder, text=TextFormat()) as source:
        assert len(source.files) == 3
    one = folder / "year=2024" / "my%20place=a%2Fb'" / f"1.{ending}"
    if ending != "jsonl":  # which has what is asked of it
        assert "year" in refused(one, "a", "year")
    counted = [hn.Count("a", equals="x", name="x")]
    release = hn.release(folder, counted, by="year", groups=["2024"], row_is_person=True, **SHARP)
    assert [round(release[key]["x"].estimate) for key in ("2024", "other")] == [1, 1]


def test_many_partitions(tmp_path: Path) -> None:
    """Hundreds of folders are read in one go."""
    for i in range(40):
        written(tmp_path / f"day={i}" / "x.csv", [f"{i}"])
    assert rows(tmp_path, "a", "day") == sorted(((f"{i}", f"{i}") for i in range(40)), key=repr)


def test_mended_files_keep_what_folders_say(tmp_path: Path) -> None:
    """Where a cell of Parquet cannot be held, it is missing, and the folders say the same."""
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    (tmp_path / "k=1").mkdir()
    pq.write_table(pa.table({"a": bad}), tmp_path / "k=1" / "x.parquet")
    written(tmp_path / "k=2" / "x.parquet", ["1"])
    counted = [hn.Count("a")]
    release = hn.release(tmp_path, counted, by="k", groups=["1", "2"], row_is_person=True, **SHARP)
    assert [round(release[key]["a"].estimate) for key in ("1", "2")] == [0, 1]


def test_folders_that_are_no_table(tmp_path: Path) -> None:
    """What holds nothing, several formats, or says columns in two ways is refused in words."""
    (empty := tmp_path / "empty").mkdir()
    (empty / "_SUCCESS").touch()
    assert "holds no file" in refused(empty)
    several = tmp_path / "several"
    written(several / "1.csv", ["x"])
    written(several / "2.parquet", ["x"])
    assert "one format, got .csv and .parquet" in refused(several)
    foreign = tmp_path / "foreign"
    written(foreign / "1.csv", ["x"])
    (foreign / "readme.md").touch()
    assert "by its ending" in refused(foreign)
    uneven = tmp_path / "uneven"
    written(uneven / "k=1" / "1.csv", ["x"])
    written(uneven / "1.csv", ["x"])
    assert "say different columns" in refused(uneven)
    for name, other in (("A=1", "csv"), ("a=1", "parquet")):
        written(tmp_path / f"both {other}" / name / f"1.{other}", ["x"])
        assert "one of the files and one of their folders" in refused(tmp_path / f"both {other}")
    written(tmp_path / "twice" / "k=1" / "K=2" / "1.csv", ["x"])
    assert "says a column once" in refused(tmp_path / "twice")
    written(tmp_path / "bytes" / "k=%ff" / "1.csv", ["x"])
    assert "named in UTF-8" in refused(tmp_path / "bytes")
    written(tmp_path / "delta" / "1.parquet", ["x"])
    (tmp_path / "delta" / "_delta_log").mkdir()
    assert "a log that says which of its files count" in refused(tmp_path / "delta")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "delta" / "2.parquet")
    (tmp_path / "delta" / "_delta_log").rmdir()
    assert "differ from those of" in refused(tmp_path / "delta")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"a": [1], "b": ["x"]}, "'a' (BIGINT) in the place of 'a' (INTEGER); write all"),
        ({"b": ["x"], "a": ODD}, "'b' (VARCHAR) in the place of 'a' (INTEGER); write all"),
        ({"a": ODD, "b": ["x"], "new": [1]}, "'new' (BIGINT) in the place of no column; write all"),
        ({"a": ODD}, "no column in the place of 'b' (VARCHAR); write all"),
    ],
)
def test_parquet_files_that_differ(other: dict[str, Any], said: str, tmp_path: Path) -> None:
    """The first column in which they do is named, as what is added later differs often."""
    for name, columns in (("1", {"a": ODD, "b": ["x"]}), ("2", other)):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    assert said in refused(tmp_path, "a")


def test_only_ledgers_are_passed_over_as_ledgers(tmp_path: Path) -> None:
    """What SQLite keeps beside one is none of the data; a name that merely sounds like it is."""
    written(tmp_path / "a.ledgers.csv", ["x"])
    written(tmp_path / "old.ledger" / "my.ledger-wal.csv", ["y"])
    for ending in ("", "-wal", "-shm", "-journal"):
        (tmp_path / f"a.csv.ledger{ending}").write_bytes(b"nothing")
    assert rows(tmp_path, "a") == [("x",), ("y",)]


def test_links_lead_nowhere_twice(tmp_path: Path) -> None:
    """A link back up is not followed; one to another folder is; a file is not read twice."""
    written(tmp_path / "in" / "1.csv", ["x"])
    written(tmp_path / "out" / "2.csv", ["y"])
    (tmp_path / "in" / "up").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "out").symlink_to(tmp_path / "out")
    assert rows(tmp_path / "in", "a") == [("x",), ("y",)]
    (tmp_path / "in" / "again").symlink_to(tmp_path / "out")
    assert "named twice" in refused(tmp_path / "in")
    (tmp_path / "in" / "again").unlink()
    (tmp_path / "in" / "3.csv").hardlink_to(tmp_path / "out" / "2.csv")
    for data in (tmp_path / "in", [tmp_path / "in" / "3.csv", tmp_path / "out" / "2.csv"]):
        assert "named twice, perhaps by a link to it" in refused(data)


def test_a_link_to_what_is_gone(tmp_path: Path) -> None:
    """It is told as what it is, in a folder and by its name."""
    written(tmp_path / "1.csv", ["x"])
    (tmp_path / "2.csv").symlink_to(tmp_path / "gone.csv")
    for data in (tmp_path, tmp_path / "2.csv", f"{tmp_path}/*.csv"):
        with pytest.raises(hn.DataError, match=r"the link '.*2\.csv' leads nowhere; remove it"):
            rows(data, "a")


def test_the_ledger_of_a_folder(tmp_path: Path) -> None:
    """It lies beside the folder, and no file in the folder is a list: it holds rows."""
    folder = tmp_path / "visits"
    written(folder / "k=1" / "1.csv", ["sEcReT", "y"])
    ledger = beside([f"{folder}/"])
    assert ledger is not None
    assert ledger.store.name == f"{folder}.ledger"
    asked: tuple[str | Path, ...] = (
        "release",
        folder,
        "--count",
        "a",
        "--row-is-person",
        "--mu",
        "1",
    )
    for out in ("out.csv", "k=1/out.csv", "k=1/1.csv"):
        assert "--out must be" in run(*asked, "--no-ledger", "--out", folder / out).err
    lists = ("--choice", f"a=@{folder}/k=1/1.csv")
    ran = run("plan", folder, *lists, "--unit", "a", "--mu", "1")
    assert ran.status == 2
    assert "sEcReT" not in ran.err


def test_what_folders_say_stays_with_its_file(tmp_path: Path) -> None:
    """However files are named and ordered, whatever they hold, and where some are left out."""
    names = ["b", "a", "[x]", "it's", "ü", "z 1"]
    places = [tmp_path / f"k={name}" / "part.parquet" for name in names]
    for number, path in enumerate(places):
        written(path, [number] * (number + 1))
    wanted = sorted(((n, k) for n, k in enumerate(names) for _ in range(n + 1)), key=repr)
    assert rows(tmp_path, "a", "k") == wanted
    asked = [hn.Sum("a", bounds=(0, 10))]
    for name in names:  # an engine that leaves files out must not count others instead
        only = hn.Where("k", equals=name)
        found = hn.release(tmp_path, asked, where=[only], row_is_person=True, **SHARP)
        assert round(found["a"].estimate) == names.index(name) * (names.index(name) + 1)


def test_folders_of_parquet_are_read_in_one_look(tmp_path: Path) -> None:
    """Of several looks at once, each would hold the people that it meets: more than fits."""
    for i in range(5):
        written(tmp_path / f"k={i}" / "x.parquet", ["1"])
    with open_source(tmp_path, text=TextFormat()) as opened:
        native: Any = opened.of(["a", "k"]).frame.to_native()
        plan = native.explain()
    assert (plan.count("READ_PARQUET"), plan.count("Union")) == (1, 0)


@pytest.mark.parametrize("title", ["file_index", "FILE_INDEX", "filename"])
def test_columns_that_an_engine_has_names_for(title: str, tmp_path: Path) -> None:
    """A column of the files is what they say, and takes nothing from what their folders say."""
    for number in range(3):
        (folder := tmp_path / f"k={number}").mkdir()
        pq.write_table(pa.table({title: [7]}), folder / "x.parquet")
    assert rows(tmp_path, title, "k") == [(7, "0"), (7, "1"), (7, "2")]


def test_a_folder_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, wherever below it is; that is nothing unforeseen."""
    for name in ("k=1", "k=2"):
        written(tmp_path / name / "x.csv", [1])
    closed, walk = tmp_path / "k=2", Path.iterdir

    def iterdir(self: Path) -> Any:
        if self == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return walk(self)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    for folder in (tmp_path, closed):
        said = f"the folder {str(closed)!r} may not be read by you; ask its owner"
        with pytest.raises(hn.DataError, match=re.escape(said)) as caught:
            rows(folder, "a")
        assert caught.value.__cause__ is None
