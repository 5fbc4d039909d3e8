"""The way from words to a table: what is opened, read and checked on it, and how often."""

import gzip
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data.sources import parquet
from halfnoise.data.sources.texts import TextFiles
from support.commands import EXACT, SURVEY, run, write_survey
from support.walk import LIMIT, walk

MIXED = ("--count", "q_*", "--sum", "visits=0:20", *EXACT)
_opened: list[str] | None = None


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _opened is not None and isinstance(arguments[0], str):
        written = "w" in str(arguments[1] or "")
        _opened.append(f"{'write ' if written else ''}{arguments[0]}")


sys.addaudithook(_listen)


@contextmanager
def opening() -> Iterator[list[str]]:
    """List the files that Python opens, those to be written marked."""
    global _opened  # noqa: PLW0603  # a hook cannot be taken away
    found: list[str] = []
    _opened = found
    try:
        yield found
    finally:
        _opened = None


def copies(found: list[str]) -> list[str]:
    """Return the copies of tables that were written."""
    return [path for path in found if path.startswith("write ") and "/halfnoise-" in path]


def write(folder: Path, name: str, encoding: str = "utf-8", text: str = SURVEY) -> Path:
    """Write the survey under another name."""
    content = text.encode(encoding)
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def test_the_walk_is_short() -> None:
    """A release takes few hops from file to file."""
    hops, _ = walk()
    assert len(hops) <= LIMIT, "\n".join(hops)


@pytest.mark.parametrize("command", ["release", "plan", "dry-run", "check"])
@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        (["a.csv"], "utf-8"),
        (["a.csv.gz", "b.csv.gz"], "utf-8"),
        (["a.csv.gz", "b.csv"], "utf-8"),
        (["a.csv"], "utf-16"),
        (["a.csv.gz", "b.csv"], "latin-1"),
    ],
)
def test_a_table_is_opened_once(
    tmp_path: Path, names: list[str], encoding: str, command: str
) -> None:
    """Each file is opened once, its header read once, and copied only to be released.

    That is where it is zipped, or not what it would be in UTF-8.
    """
    paths = [write(tmp_path, name, encoding) for name in names]
    words = {"dry-run": ("release", "--dry-run")}.get(command, (command,))
    headers: list[Path] = []
    header_line = TextFiles._header_line

    def counted(files: TextFiles, path: Path) -> list[str]:
        headers.append(path)
        return header_line(files, path)

    with opening() as found, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextFiles, "_header_line", counted)
        ran = run(*words, *paths, *MIXED, "--encoding", encoding)
    assert ran.status == 0, ran.err
    assert [found.count(str(path)) for path in paths] == [1] * len(paths)
    assert headers == paths
    must = [name.endswith(".gz") or encoding == "utf-16" for name in names]
    assert len(copies(found)) == (sum(must) if command == "release" else 0)
    assert len(set(copies(found))) == len(copies(found))


def test_objects_in_another_encoding_are_copied_once(tmp_path: Path) -> None:
    """JSON lines have no header; in another encoding they are opened once, and copied once."""
    rows = '{"x": 1, "who": "a"}\n{"x": 0, "who": "b"}\n'
    path = write(tmp_path, "rows.jsonl", "utf-16-le", rows)
    asked = ["--count", "x", "--unit", "who", "--mu", "1e6", "--encoding", "utf-16-le"]
    for words, times in ((("plan",), 0), (("release", "--dry-run"), 0), (("release",), 1)):
        with opening() as found:
            ran = run(*words, path, *asked)
        assert ran.status == 0, ran.err
        assert (found.count(str(path)), len(copies(found))) == (1, times)
    assert ran.table == {"number of people": 2, "x": 1}


def test_a_copy_waits_for_the_ledger(tmp_path: Path) -> None:
    """A file in another encoding is copied after the charge, and not where that is refused."""
    path = write(tmp_path, "a.csv", "utf-16")
    options: Any = {"privacy": hn.GaussianDP(mu=1e6), "text": hn.TextFormat(encoding="utf-16")}
    options["unit"] = "person_id"
    little = hn.Ledger.create(tmp_path / "b", limit=hn.GaussianDP(mu=1), unit="person_id")
    enough = hn.Ledger.create(tmp_path / "c", limit=hn.GaussianDP(mu=1e6), unit="person_id")
    with opening() as found:
        with pytest.raises(hn.BudgetError, match="the budget does not allow it"):
            hn.release(path, [hn.Count("q_a")], ledger=little, **options)
        for wrong in (hn.Count("nothing"), hn.Count("person_id")):
            with pytest.raises(hn.InvalidParameterError):
                hn.release(path, [wrong], **options)
    assert not copies(found)
    charge = hn.Ledger.charge
    with opening() as found, pytest.MonkeyPatch.context() as patch:

        def noted(*told: Any, **named: Any) -> Any:
            charged = charge(*told, **named)
            found.append("charged")
            return charged

        patch.setattr(hn.Ledger, "charge", noted)
        table = hn.release(path, [hn.Count("q_a")], ledger=enough, **options)
    (copy,) = copies(found)
    assert found.index("charged") < found.index(copy)
    assert round(table["q_a"].estimate) == 4


def test_a_spec_and_its_lists_are_read_once(tmp_path: Path) -> None:
    """The TOML file and each list that it names are opened once."""
    survey = write_survey(tmp_path)
    lists = {name: tmp_path / f"{name}.txt" for name in ("blood", "groups", "missing", "who")}
    contents = ("A\nB\n", "1\n2\n", "-99\nN/A\n", "person_id\n")
    for path, content in zip(lists.values(), contents, strict=True):
        path.write_text(content, encoding="utf-8")
    spec = tmp_path / "release.toml"
    spec.write_text(
        'choice = ["blood=@blood.txt"]\nby = "smoker"\ngroups = "@groups.txt"\n'
        'missing = "@missing.txt"\nunit = "@who.txt"\nmu = 1\n',
        encoding="utf-8",
    )
    for words in (("plan",), ("check",), ("release", "--dry-run"), ("release",)):
        with opening() as found:
            ran = run(*words, survey, "--spec", spec)
        assert ran.status == 0, ran.err
        times = Counter(found)
        assert [times[str(path)] for path in (survey, spec, *lists.values())] == [1] * 6


def test_nothing_is_parsed_or_checked_twice(tmp_path: Path) -> None:
    """Each reader of words sees each text once, and people and columns are checked once."""
    path = write(tmp_path, "a.csv")
    seen: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        if event != "call" or "halfnoise" not in file:
            return
        if "/spec/" in file and "<" not in name and "text" in frame.f_locals:
            seen[f"{file}:{name}", str(frame.f_locals["text"])] += 1
        elif name in ("Request.check", "Source.of", "TextFiles.header"):
            seen[name, ""] += 1

    words = "--count age:between:18..64 --sum visits=0:20 --mean income=1:500 --bins age=2,19,66"
    words += (
        " --choice blood=A,B --where day:at-least:2026-01-01 --missing -99,N/A --unit person_id"
    )
    words += " --importance visits=3 --by smoker --groups x,y --max-groups 4 --epsilon 5"
    words += " --delta 1e-6 --level 0.9 --size-importance 8 --neighbors add-remove"
    for command in (["release"], ["release", "--dry-run"], ["plan"]):
        seen.clear()
        sys.settrace(note)
        try:
            ran = run(*command, path, *words.split())
        finally:
            sys.settrace(None)
        assert ran.status == 0, ran.err
        assert len(seen) > 15
        assert set(seen.values()) == {1}, [each for each in seen if seen[each] > 1]


def test_a_parquet_file_is_bound_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One Parquet file is handed to DuckDB once."""
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": [1, 0], "who": [1, 2]}).write_parquet(path)
    bound: list[Sequence[Path]] = []
    named = parquet._named

    def noted(paths: Sequence[Path]) -> list[str]:
        bound.append(paths)
        return named(paths)

    monkeypatch.setattr(parquet, "_named", noted)
    table = hn.release(path, [hn.Count("x")], unit="who", privacy=hn.GaussianDP(mu=1e6))
    assert round(table["x"].estimate) == 1
    assert bound == [[path]]
