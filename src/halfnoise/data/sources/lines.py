"""Lines of text files: each is a row, whatever is in it, and none reaches into another.

A line ends with a line feed, before which one carriage return is left out; no quote spans lines.
What cannot be read is missing within its line: bytes that are no text in the file's encoding, the
three marks that would confuse the engine, and the whole of a line that is too long.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from halfnoise.data.sources.encodings import MISSING, Encoding

LONGEST = 2**21  # bytes of a line; a longer one is a row of missing cells
SEPARATOR = "\x1e"  # between cells, for an engine that shall find one cell in each line
_BLOCK = 2**20  # bytes that are read at once; no more than a line may have
_MARKS = (MISSING, "\r", SEPARATOR)


class Readable(NamedTuple):
    """A file that the engine reads as it is; only a copy can hold ``MISSING``."""

    path: Path
    zipped: bool = False
    copied: bool = False


def blocks(file: BinaryIO, line_break: bytes, size: int = _BLOCK) -> Iterator[bytes | None]:
    """Yield whole lines, many at once; the last has a line break too. None: one is too long."""
    rest, too_long, width = b"", False, len(line_break)
    while block := file.read(size):
        lines, found, rest = (rest + block).rpartition(line_break)
        if found:
            lines += line_break
            first = lines.index(line_break)
            if too_long or first > LONGEST:
                yield None
                lines, too_long = lines[first + width :], False
            if lines:
                yield lines
        if len(rest) >= LONGEST + width:  # which may end within a line break
            rest, too_long = rest[len(rest) + 1 - width :], True
    if too_long or len(rest) > LONGEST:
        yield None
    elif rest:
        yield rest + line_break


def is_plain(lines: bytes | None) -> bool:
    """Whether the engine reads lines as they are: UTF-8 without any mark that confuses it."""
    if lines is None or any(mark.encode() in lines for mark in _MARKS):
        return False
    try:
        return lines.isascii() or bool(lines.decode())
    except UnicodeDecodeError:
        return False


def plain(lines: bytes | None, encoding: Encoding) -> bytes:
    """Return as many lines that the engine reads as they are, with ``MISSING`` for the rest."""
    if lines is None:
        return b"\n"
    text = encoding.text(lines).replace("\r\n", "\n")
    for mark in _MARKS:
        text = text.replace(mark, MISSING)
    return text.encode()
