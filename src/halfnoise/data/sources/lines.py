"""Lines of text files: each is a row, whatever is in it, and none reaches into another.

A line ends with a line feed, before which one carriage return is left out; no quote spans lines.
What cannot be read is missing within its line: bytes that are no text in the file's encoding, the
three marks that would confuse the engine, and the whole of a line that is too long.
"""

import codecs
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from halfnoise.data.sources.encodings import MISSING, Encoding
from halfnoise.errors import DataError

LONGEST = 2**21  # bytes of a line; a longer one is a row of missing cells
SEPARATOR = "\x1e"  # between cells, for an engine that shall find one cell in each line
_BLOCK = 2**20  # bytes that are read at once; no more than a line may have
_MARKS = (MISSING, "\r", SEPARATOR)
_BYTES = tuple(mark.encode() for mark in _MARKS)


class Readable(NamedTuple):
    """A file that the engine reads as it is; only a copy can hold ``MISSING``."""

    path: Path
    zipped: bool = False
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one file, which is open: ``file`` is what ``raw`` holds, unzipped.

    ``end`` are its last bytes as they are stored.
    """

    path: Path
    raw: BinaryIO
    file: BinaryIO
    end: bytes
    encoding: Encoding

    @classmethod
    def of(cls, path: Path, raw: BinaryIO, encoding: str) -> "Lines":
        """Return those of a file; nothing is read but its first and its last four bytes."""
        raw.seek(max(raw.seek(0, 2) - 4, 0))
        end = raw.read()
        raw.seek(0)
        zipped = path.name.lower().endswith(".gz")
        file = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if zipped else raw
        return cls(path, raw, file, end, Encoding.of(encoding, file.read(4)))

    def close(self) -> None:
        """Close the file."""
        self.file.close()
        self.raw.close()

    @property
    def zipped(self) -> bool:
        """Whether the file is zipped."""
        return self.file is not self.raw

    @property
    def are_ended(self) -> bool:
        """Whether each line, the last too, is known to end with a line break."""
        return not self.zipped and self.end.endswith(self.encoding.line_break)

    def blocks(self, size: int = _BLOCK) -> Iterator[bytes | None]:
        """Yield whole lines, many at once; the last has a line break too. None: one is too long."""
        width, rest, too_long = self.encoding.width, b"", False
        self.file.seek(self.encoding.mark)
        while block := self.file.read(size):  # of whole units, but for the last
            stop = self.encoding.last_break(block) + width
            if stop < width:
                rest += block
            else:
                first = len(rest) + self.encoding.first_break(block)
                lines, rest = rest + block[:stop], block[stop:]
                if too_long or first > LONGEST:
                    yield None
                    lines, too_long = lines[first + width :], False
                if lines:
                    yield lines
            if len(rest) >= LONGEST + width:
                rest, too_long = rest[len(rest) - len(rest) % width :], True
        whole = len(rest) - len(rest) % width
        if too_long or whole > LONGEST:
            yield None
        elif whole:
            yield rest[:whole] + self.encoding.line_break
        if whole < len(rest):  # which who wants no more than the header never learns
            said = f"the file {str(self.path)!r} is cut short: its bytes are not whole characters"
            raise DataError(f"{said}; get a complete copy, or check its encoding")

    def are_plain(self) -> bool:
        """Whether the engine reads the file as it is: UTF-8 without any mark that confuses it."""
        is_plain = self.encoding.codec == "utf-8" and all(map(self._is_plain, self.blocks()))
        # The engine reads no zipped file that is padded; one of several parts may be, within.
        size = int.from_bytes(self.end, "little")  # which a zipped file ends with
        return is_plain and (not self.zipped or 0 < size == self.file.tell() % 2**32)

    def _is_plain(self, lines: bytes | None) -> bool:
        if lines is None or any(mark in lines for mark in _BYTES):
            return False
        return lines.isascii() or MISSING not in self.encoding.decoded(lines)

    def copy(self, path: Path) -> None:
        """Write as many lines that the engine reads as they are, with ``MISSING`` for the rest."""
        with path.open("wb") as target:
            target.write(codecs.BOM_UTF8)  # which the engine leaves out, but no second one
            for lines in self.blocks():
                text = "\n" if lines is None else self.encoding.text(lines).replace("\r\n", "\n")
                for mark in _MARKS:
                    text = text.replace(mark, MISSING)
                target.write(text.encode())
