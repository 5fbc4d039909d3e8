"""Rows in which quotes span lines: told apart as a slow reader does, wherever parts end."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from attack.test_lines import NAMES, read, write
from halfnoise.data.sources import lines, records
from halfnoise.data.sources.records import Records
from support import text_rows
from support.soak import MORE

SPANS: dict[str, Any] = {"quote_newlines": True}
MARKS = [(",", '"'), (";", "'"), (" ", '"'), ("§", '"'), (",", "«")]


def stays_open(line: str, delimiter: str, quote: str, *, inside: bool) -> bool:
    """Return whether a quote is open at the end of a line; letter by letter."""
    opens = True  # whether a quote would open, here
    for letter in line:
        if inside:
            inside, opens = letter != quote, True
        elif letter == quote:
            inside, opens = opens, False
        else:
            opens = letter == delimiter
    return inside


def rows(content: bytes, *, columns: int, encoding: str, delimiter: str, quote: str) -> list[Any]:
    """Return the rows of a file under a header, slowly."""
    found, whole, inside, long = [], list[str](), False, False
    for line in text_rows.cut(content, "\n".encode(encoding)):
        long = long or len(line) > records.LONGEST
        whole.append(text_rows.text(line, encoding).replace(records.WITHIN, "\0"))
        inside = stays_open(whole[-1], delimiter, quote, inside=inside)
        if not inside:
            found.append(None if long else "\n".join(whole))
            whole, long = [], False
    if whole:  # a quote is open at the end, or the last line has no break
        found.append(None if long else "\n".join(whole))
    elif content.endswith("\n".encode(encoding)):
        found.pop()
    texts = [x if x is None or len(x.encode()) <= records.LONGEST else None for x in found[1:]]
    return [text_rows.row(x, columns=columns, delimiter=delimiter, quote=quote) for x in texts]


def odd_record(draw: random.Random, delimiter: str, quote: str) -> str:
    """Return a row whose quotes are as they should be, most of the time."""
    cells = list[str]()
    for _ in range(draw.randint(1, 5)):
        text = "".join(
            draw.choices(["a", "\n", delimiter, quote, " ", "\0", "\x1f", "ä", "か|", "\r"], k=4)
        )
        proper = f"{quote}{text.replace(quote, quote * 2)}{quote}"
        cells.append(draw.choice([proper, proper, "1", "", text if draw.random() < 0.1 else "x"]))
    return delimiter.join(cells)


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize(("delimiter", "quote"), MARKS)
def test_rows_are_those_of_a_slow_reader(
    ending: str, delimiter: str, quote: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever quotes are there, also where rows, or lines of them, are too long."""
    draw = random.Random(f"{ending}{delimiter}{quote}")
    said: dict[str, Any] = {"delimiter": delimiter, "quote": quote, **SPANS}
    for _ in range(25 * MORE):
        longest = draw.choice([30, 60, 2**21])
        for module in (lines, records):
            monkeypatch.setattr(module, "LONGEST", longest)
        encoding = draw.choice(["utf-8", "utf-8", "utf-16-le", "cp1252", "gb18030", "shift_jis"])
        rest = [odd_record(draw, delimiter, quote) for _ in range(draw.randint(0, 40))]
        end = draw.choice(["\n", "\r\n"])
        text = end.join([delimiter.join(NAMES), *rest]) + draw.choice(["", end])
        content = text.encode(encoding, "replace")
        path = tmp_path / f"a.{ending}"
        write(path, content)
        monkeypatch.setattr(
            lines.Lines.blocks, "__defaults__", (4 * draw.choice([3, 7, longest // 4]),)
        )
        expected = rows(content, columns=4, encoding=encoding, delimiter=delimiter, quote=quote)
        assert read(path, encoding=encoding, **said) == expected


def test_nobody_takes_rows_of_others(tmp_path: Path) -> None:
    """A row that is closed is one row, however long it, or a line of it, may be."""
    much = b"9" * (records.LONGEST + 5)
    long = [
        b'1,"x\n' + much + b'"',
        b'1,"' + much + b'\n","z"',
        b'1,"' + b"9\n" * (17 * 2**20) + b'"',
        b'1,"' + b'""' * (2**21) + b'\n"',
        b"1," + much,
        b"1" + b"," * (2**22),
        b'"' + b"\n" * (2**21 + 1) + b'"',
    ]
    others = [b"1,5,,"] * 50 + [b'0,"7\n8",,']
    for each in long:
        for ending in ("csv", "csv.gz"):
            content = b"\n".join([",".join(NAMES).encode(), b"1,1,,", each, *others, b""])
            path = tmp_path / f"a.{ending}"
            write(path, content)
            found = read(path, **SPANS)
            assert found[0] == ("1", "1", None, None)
            assert found[1] == (None,) * 4
            assert found[2:] == [("1", "5", None, None)] * 50 + [("0", "7\n8", None, None)]


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "gb18030"])
def test_a_mark_hides_no_quote(ending: str, encoding: str, tmp_path: Path) -> None:
    """Without a header a row with a byte order mark is read alike, wherever it stands."""
    path, row = tmp_path / f"a.{ending}", '\ufeff"7\n\ufeff8",2,x\ufeff"\n'
    for before in ("", "1,5\n", "\ufeff"):
        write(path, (before + row + "1,1\n").encode(encoding))
        found = read(path, names=NAMES, encoding=encoding, **SPANS)
        assert found[-2:] == [("7\n8", "2", 'x\ufeff"', None), ("1", "1", None, None)]
        assert len(found) == 2 + before.count("\n")


class Slow(Records):
    """Rows told mark by mark, always."""

    def _ends(self, part: bytes) -> Any:
        return self._ends_by_marks(part)


def test_a_mark_within_a_line_stays() -> None:
    """It is told from one where a line begins, wherever parts end."""
    rows = Records(",", '"', bare=True)
    assert rows.whole(b"x,") == b""
    assert rows.whole('\ufeff"\n\ufeff"'.encode()) == 'x,\ufeff"\n'.encode()
    assert rows.whole(b'\n"\n') == b'"\x1f"\n'


def told(rows: Records, content: bytes, draw: random.Random) -> bytes:
    """Return rows as lines, of a file in parts that end anywhere, most of them where lines do."""
    found, i = b"", 0
    while i < len(content):
        stop = i + draw.randint(1, 8)
        at = content.find(b"\n", stop) + 1
        stop = at or len(content) if draw.random() < 0.7 else stop
        found += rows.whole(content[i:stop])
        i = stop
    return found + rows.rest()


def test_quick_and_slow_agree() -> None:
    """Rows end at the same breaks, told by all quotes of a part at once or mark by mark."""
    draw = random.Random(3)
    pieces = [b"a", b'"', b"\n", b",", b" ", b'"a"', b',"', b'",', b'"\n', b"x\ny", b'""']
    for seed in range(4000 * MORE):
        content = b"".join(draw.choices(pieces, k=draw.randint(1, 14))) + b"\n"
        quick = told(Records(",", '"'), content, random.Random(seed))
        assert quick == told(Slow(",", '"'), content, random.Random(seed + 1))


class Counting(Records):
    """Rows for which quotes behind letters open."""

    def _ends(self, part: bytes) -> Any:
        ends = [i + 1 for i, x in enumerate(part) if x == 10 and part[:i].count(b'"') % 2 == 0]
        return np.array(ends, np.intp)


def test_a_reader_that_counts_quotes_alone_is_seen() -> None:
    """The test above rejects it."""
    content = b'x"\n1,2\n'
    assert Records(",", '"').whole(content) == content
    assert Counting(",", '"').whole(content) != content


def test_marks_that_nothing_can_hold() -> None:
    """A mark that is half a character is refused, as everywhere."""
    for name in ("delimiter", "quote", "decimal", "thousands"):
        said: Any = {name: "\udcff"}
        with pytest.raises(hn.InvalidParameterError, match=name):
            hn.TextFormat(**said)
