"""Lines before the header, or before the first row, are passed over, whatever they hold."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.data.sources import fetch, open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.spec.words import text_format
from support.commands import run

TITLES = {
    "titles": 'A title\nof, the; "survey\nthree\n',
    "blank": "\n\n\n",
    "an open quote": 'a\n"b\nc\n',
    "long": "x" * 5000 + "\n" + "y" * 3_000_000 + "\n\n",
    "a header too early": "a,b\na,b\n1,2\n",
}
WRITTEN: dict[str, tuple[Callable[[str], bytes], dict[str, Any]]] = {
    "csv": (lambda text: text.encode(), {}),
    "lines of other systems": (lambda text: text.replace("\n", "\r\n").encode(), {}),
    "marked": (lambda text: text.encode("utf-8-sig"), {}),
    "utf-16": (lambda text: text.encode("utf-16"), {"encoding": "utf-16"}),
    "latin-1": (lambda text: text.encode("latin-1"), {"encoding": "latin-1"}),
    "csv.gz": (lambda text: gzip.compress(text.encode()), {}),
}


def rows(data: object, **text: Any) -> list[tuple[Any, ...]]:
    """Return the rows of two columns."""
    with open_source(data, text=TextFormat(**text)) as source:
        source.fill()
        return fetch(source.rows().select(source.names["a"], source.names["b"]))


@pytest.mark.parametrize("titles", TITLES)
@pytest.mark.parametrize("way", WRITTEN)
def test_so_many_lines_are_no_rows(way: str, titles: str, tmp_path: Path) -> None:
    """What is in them, how the file is written and whether names are declared changes nothing."""
    write, how = WRITTEN[way]
    paths = [tmp_path / f"{i}.csv{'.gz' if way == 'csv.gz' else ''}" for i in range(2)]
    for path in paths:
        path.write_bytes(write(TITLES[titles] + "a,b\n1,ä\n\n2,y\n"))
    expected = [("1", "ä"), (None, None), ("2", "y")]
    assert sorted(map(repr, rows(paths, skip=3, **how))) == sorted(map(repr, expected * 2))
    if way != "utf-16":
        assert rows(paths[0], skip=4, names=["a", "b"], **how) == expected


def test_fewer_lines_than_that(tmp_path: Path) -> None:
    """A file that ends before has no header, or, where the columns are named, no rows."""
    (path := tmp_path / "a.csv").write_text("title\n", encoding="utf-8")
    with pytest.raises(hn.DataError, match="no header line"):
        rows(path, skip=1)
    assert rows(path, skip=1, names=["a", "b"]) == rows(path, skip=9, names=["a", "b"]) == []


def test_words_for_it(tmp_path: Path) -> None:
    """The row that holds the names says the same; both are refused, and so is less than none."""
    assert text_format({"header-row": "4"}) == text_format({"skip": "3"}) == TextFormat(skip=3)
    wrong: list[dict[str, str]] = [{"header-row": "0"}, {"skip": "-1"}, {"skip": "x"}]
    for words in (*wrong, {"skip": "1", "header-row": "2"}):
        with pytest.raises(hn.InvalidParameterError, match=f"{[*words][-1]} must be"):
            text_format(words)
    for said in ({"skip": 1.5}, {"skip": True}, {"skip": 1, "quote_newlines": True}):
        with pytest.raises(hn.InvalidParameterError, match="skip must be"):
            TextFormat(**said)
    (path := tmp_path / "a.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(hn.InvalidParameterError, match="skip must be left out"):
        rows(path, skip=1)
    (spec := tmp_path / "a.toml").write_text("skip = 1\n", encoding="utf-8")
    (data := tmp_path / "a.csv").write_text("one\ntwo\na,b\n1,2\n", encoding="utf-8")
    plan = ("plan", data, "--count", "a", "--row-is-person", "--mu", "1")
    assert run(*plan, "--spec", spec, "--header-row", "3").status == 0
    assert run(*plan, "--spec", spec).status == 2
