"""Lines of text files: each is a row, whatever is in it, and none reaches into another.

A line ends with a line feed, before which one carriage return is left out; no quote spans lines,
unless that was declared: then ``records`` makes one line of several. What cannot be read is missing
within its line: bytes that are no text in the file's encoding, the three marks that would confuse
the engine, and the whole of a line that is too long.
"""

import codecs
import concurrent.futures
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from halfnoise.data.sources.encodings import MISSING, Encoding
from halfnoise.data.sources.records import LONGEST, Records
from halfnoise.errors import DataError
from halfnoise.values import dataclass

SEPARATOR = "\x1e"  # between cells, for an engine that shall find one cell in each line
_ZIPPED = b"\x1f\x8b"
_BLOCK = 2**17  # bytes that are read at once: few enough for a processor to keep them at hand
_MISSING, _RETURN, _BREAK, _SEPARATOR = (m.encode() for m in (MISSING, "\r", "\n", SEPARATOR))


class Readable(NamedTuple):
    """A file that the engine reads as it is, and whether it may hold ``MISSING``."""

    path: Path
    spoiled: bool = False


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
        if zipped := path.name.lower().endswith(".gz"):
            _check_zipped(path, raw)
        file = _unzipped(raw) if zipped else raw
        return cls(path, raw, file, end, Encoding.of(encoding, file.read(4)))

    def close(self) -> None:
        """Close the file."""
        self.file.close()
        self.raw.close()

    def check_mark(self) -> None:
        """Refuse a file that begins with the mark of another encoding: before a header, no row."""
        self.file.seek(0)
        if other := self.encoding.other(self.file.read(4)):
            said = f"the file {str(self.path)!r} begins with the mark of {other.upper()}"
            raise DataError(f"{said}; try --encoding {other}")

    def check_whole(self) -> None:
        """Refuse a file whose size tells that its last character is cut: one that is not zipped."""
        if not self.zipped and self.raw.seek(0, 2) % self.encoding.width:
            raise self._cut_short()

    @property
    def zipped(self) -> bool:
        """Whether the file is zipped."""
        return self.file is not self.raw

    @property
    def are_ended(self) -> bool:
        """Whether each line, the last too, is known to end with a line break."""
        return not self.zipped and self.end.endswith(self.encoding.line_break)

    def blocks(self, size: int = _BLOCK, *, parts: bool = False) -> Iterator[bytes | None]:
        """Yield whole lines, many at once; the last has a line break too. None: one is too long.

        ``parts``: of one that is too long, what is in it follows, in parts.
        """
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
                    lines, too_long = lines if parts else lines[first + width :], False
                if lines:
                    yield lines
            if len(rest) >= LONGEST + width:
                stop, too_long = len(rest) - self.encoding.unfinished(rest), True
                if parts:
                    yield None
                    yield rest[:stop]
                rest = rest[stop:]
        whole = len(rest) - len(rest) % width
        if too_long or whole > LONGEST:
            yield None
        if whole and (parts or not (too_long or whole > LONGEST)):
            yield rest[:whole] + self.encoding.line_break
        if whole < len(rest):  # which who wants no more than the header never learns
            raise self._cut_short()

    def _cut_short(self) -> DataError:
        said = f"the file {str(self.path)!r} is cut short: its bytes are not whole characters"
        return DataError(f"{said}; get a complete copy, or check its encoding")

    def are_plain(self, rows: Records | None = None) -> bool:
        """Whether the engine reads the file as it is: UTF-8 without any mark that confuses it.

        It would also read zipped ones, but all bytes are looked at first: they are unzipped once.
        ``rows``: how they are told apart where they may span lines; then none does.
        """
        return not self.zipped and all(self._is_plain(lines, rows) for lines in self.blocks())

    def _is_plain(self, lines: bytes | None, rows: Records | None) -> bool:
        if lines is None or any(mark in lines for mark in (_MISSING, _RETURN, _SEPARATOR)):
            return False
        return self.encoding.is_utf8(lines) and (rows is None or rows.whole(lines) == lines)

    def copy(self, path: Path, rows: Records | None = None) -> Readable:
        """Write as many lines that the engine reads as they are, with ``MISSING`` for the rest.

        Where rows may span lines, each becomes one. While some are written, the next ones are read.
        """
        spoiled = False
        with path.open("wb") as target, concurrent.futures.ThreadPoolExecutor(1) as writer:
            # The engine leaves out a mark at the start, but no second one.
            written = writer.submit(target.write, codecs.BOM_UTF8)
            for text in self._texts(rows):
                spoiled = spoiled or _MISSING in text
                written.result()  # or what was wrong with it
                written = writer.submit(target.write, text)
            written.result()
        return Readable(path, spoiled=spoiled)

    def _texts(self, rows: Records | None) -> Iterator[bytes]:
        """Yield lines in UTF-8, many at once, without marks that confuse the engine."""
        for lines in self.blocks(parts=rows is not None):
            text = None if lines is None else _without_marks(self.encoding.utf8(lines))
            yield rows.whole(text) if rows else _BREAK if text is None else text
        if rows:
            yield rows.rest()


def _check_zipped(path: Path, raw: BinaryIO) -> None:
    if not _ZIPPED.startswith(raw.read(len(_ZIPPED))):
        said = f"the file {str(path)!r} is not zipped as .gz files are"
        raise DataError(f"{said}; leave .gz out of its name if it is text, or unpack it")
    raw.seek(0)


def _unzipped(raw: BinaryIO) -> BinaryIO:
    """Return what a file holds, unzipped: by ISA-L, four times faster, where that is installed."""
    try:
        unzip: Any = importlib.import_module("isal.igzip").IGzipFile
    except ImportError:
        unzip = importlib.import_module("gzip").GzipFile
    return cast("BinaryIO", unzip(fileobj=raw))


def _without_marks(lines: bytes) -> bytes:
    """Return whole lines of UTF-8 without the returns at their ends, and with no other mark."""
    if _RETURN in lines:
        each = np.frombuffer(lines, np.uint8)
        within = (each[:-1] == ord(_RETURN)) & (each[1:] != ord(_BREAK))
        if within.any():
            lines = lines.replace(_RETURN + _BREAK, _BREAK).replace(_RETURN, _MISSING)
        else:
            lines = lines.replace(_RETURN, b"")
    return lines.replace(_SEPARATOR, _MISSING)
