"""The rule from the bytes of a text file to its rows once more, slowly, in plain Python.

And a writer of lines that are as odd as lines can be.
"""

import codecs
import json
import random
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

Row = tuple[str | None, ...]
LONGEST = 2**21
UNREADABLE = "\0\r\x1e"


def rows(content: bytes, *, header: bool, encoding: str = "utf-8", **rule: Any) -> list[Row]:
    """Return the rows of a file of cells; without a header none begins with a mark."""
    if header:
        return [row(line, **rule) for line in texts(content, encoding)[1:]]
    return [row(line and line.lstrip("\ufeff"), **rule) for line in texts(content, encoding)]


def texts(content: bytes, encoding: str) -> list[str | None]:
    """Return the lines of a file; None for one that is too long."""
    for mark, marked in (
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if content.startswith(mark) and marked.startswith(encoding):
            content, encoding = content.removeprefix(mark), marked
            break
    encoding += "-le" if encoding in ("utf-16", "utf-32") else ""
    lines = cut(content, "\n".encode(encoding))
    if not lines[-1]:
        lines.pop()
    return [None if len(line) > LONGEST else text(line, encoding) for line in lines]


def cut(content: bytes, line_break: bytes) -> list[bytes]:
    """Return the lines of a file that is made of whole units, of which a line break is one."""
    width = len(line_break)
    units = np.frombuffer(content, f"<u{width}")
    ends = width * np.flatnonzero(units == int.from_bytes(line_break, "little"))
    starts = [0, *(ends + width)]
    return [content[i:j] for i, j in zip(starts, [*ends, len(content)], strict=True)]


def text(line: bytes, encoding: str) -> str:
    """Decode one line, with a mark for each thing that cannot be read."""
    codecs.register_error("unreadable", lambda error: ("\0", error.end))  # type: ignore[attr-defined]
    read = (line + "\n".encode(encoding) * 4).decode(encoding, "unreadable").rstrip("\n")
    read = read.removesuffix("\r")
    return "".join("\0" if letter in UNREADABLE else letter for letter in read)


def row(line: str | None, *, columns: int, delimiter: str = ",", quote: str | None = '"') -> Row:
    """Return the cells of one line, each None where there is nothing or nothing readable."""
    cells = [] if line is None else split(line, delimiter, quote)
    readable = [cell if cell and "\0" not in cell else None for cell in cells[:columns]]
    return (*readable, *[None] * (columns - len(readable)))


def split(line: str, delimiter: str, quote: str | None) -> list[str]:
    """Return the cells of one line, up to the first that cannot be told from the next."""
    cells: list[str] = []
    i = 0
    while True:
        cell = ""
        if quote is not None and line[i : i + 1] == quote:
            i += 1
            while line[i : i + 1] != quote or line[i : i + 2] == quote * 2:
                if i >= len(line):
                    return cells
                cell += line[i]
                i += 2 if line[i] == quote else 1
            i += 1
            if line[i : i + 1] not in ("", delimiter):
                return cells
        else:
            end = line.find(delimiter, i)
            end = len(line) if end < 0 else end
            i, cell = end, line[i:end]
        cells.append(cell)
        if i >= len(line):
            return cells
        i += 1


def objects(content: bytes, names: Sequence[str]) -> list[Row]:
    """Return the rows of JSON lines whose numbers are spelled in the shortest way.

    Of two values under one name the first is meant.
    """
    found: list[Row] = []
    for line in texts(content, "utf-8"):
        try:
            loaded = "" if line is None or "\0" in line else line.lstrip("\ufeff")
            read = json.loads(loaded, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
        except ValueError:
            read = None
        own = read if isinstance(read, dict) else {}
        found.append(tuple(_value(own.get(name)) for name in names))
    return found


def _value(value: object) -> str | None:
    is_text = value is None or isinstance(value, str)
    spelled = value if is_text else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return cast("str | None", spelled)


PIECES = [
    b"1", b"yes", b"", b",", b",", b",", b",", b";", b"\t", b'"', b'"', b'""', b'","', b'",', b',"',
    b"'", b"\\", b"#", b" ", b"\r", b"\r\r", b"\0", b"\x1e", b"\x1a", b"\x85", b"\xa0", b"\xff",
    b"\xc3", b"\xc3\xa4", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xef\xbb\xbf",
    b"\x81", b"\x8f", b"\xcb8", b"\xd8", b"\xd8\x00", b"\x00\xd8", b"\x0a\x0a", b"\x1b$B", b"~{",
    b"+AA-", b"{", b"}", b"NULL", b"\xef\xbf\xbd", b"\x0b", b"\x0c", b"x" * 300,
]  # fmt: skip


def odd_line(draw: random.Random) -> bytes:
    """Return a line of a few cells, some of them odd, as bytes of no encoding in particular."""
    if draw.random() < 0.3:
        return b",".join(b'"%d"' % i if draw.random() < 0.5 else b"%d" % i for i in range(4))
    return b"".join(draw.choices(PIECES, k=draw.randint(0, 9)))


def odd_file(draw: random.Random, line_break: bytes, lines: int) -> bytes:
    """Return many odd lines with line breaks of one encoding, the last perhaps without."""
    ends = draw.choice([[b""], [b""], [b"\r"], [b"", b"\r"]])
    body = line_break.join(odd_line(draw) + draw.choice(ends) for _ in range(lines))
    return body + draw.choice([b"", line_break, line_break * 3])


KEYS = ["aa", "bb", "AA", "0", "", "a/b", "a~1b", "'\"", "ä\0"]
VALUES = ["x", "", " y ", "y\n", "\0", "😀", 0, -1, 2.5, 10**30, True, None, [], ["z"], {"aa": 1}]


def odd_object(draw: random.Random) -> bytes:
    """Return a line that is a JSON object, or not quite one."""
    if draw.random() < 0.3:
        return odd_line(draw)
    first, last = draw.choice([("{", "}"), ("{", "}"), ("{", "}"), ("[", "]"), (" ", " ")])
    plain = draw.random() < 0.5
    keys = [f"{json.dumps(key, ensure_ascii=plain)}:" if first == "{" else "" for key in KEYS]
    pairs = [
        draw.choice(keys) + json.dumps(draw.choice(VALUES), ensure_ascii=plain)
        for _ in range(1 if first == " " else draw.randint(0, 6))
    ]
    line = " " * draw.choice([0, 0, 1]) + first + ", ".join(pairs) + last
    return (line if draw.random() < 0.9 else line[: draw.randint(0, len(line))]).encode()
