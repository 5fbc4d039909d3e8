"""Text files: their header lines, and copies of those that the engine cannot read as they are."""

import codecs
import csv
import gzip
import io
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from halfnoise.data.quiet import quietly
from halfnoise.data.sources.encodings import Encoding, encoding_of
from halfnoise.data.sources.lines import LONGEST, Readable, blocks, is_plain, plain
from halfnoise.data.sources.source import TextFormat
from halfnoise.errors import DataError, InvalidParameterError

# Of more files than that, none stays open until its rows are read: a process has only so many.
_MANY = 200
_HEADER = 2**12  # bytes that are read at once for a header: few rows are among them


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFiles:
    """Text files, each opened once at most, and closed by ``stack``; copies go to ``scratch``.

    ``failed`` is said where one cannot be read.
    """

    paths: list[Path]
    text: TextFormat
    failed: str
    scratch: Path
    stack: ExitStack
    opened: dict[Path, BinaryIO] = field(default_factory=dict)

    def readable(self) -> list[Readable]:
        """Return files that the engine reads as they are, each line a row.

        All bytes are looked at once; a file with anything else than plain UTF-8 is copied.
        """
        return quietly(
            lambda: [self._readable(i, p) for i, p in enumerate(self.paths)], self.failed
        )

    def _readable(self, i: int, path: Path) -> Readable:
        file, encoding = self._start(path)
        found = Readable(path, zipped=_is_zipped(path))
        if encoding.codec != "utf-8" or not all(map(is_plain, blocks(file, encoding.line_break))):
            found = Readable(self.scratch / f"{i}.txt", copied=True)
            file.seek(encoding.mark)
            with found.path.open("wb") as target:
                target.write(codecs.BOM_UTF8)  # which the engine leaves out, but no second one
                for lines in blocks(file, encoding.line_break):
                    target.write(plain(lines, encoding))
        self.opened.pop(path).close()
        return found

    def header(self) -> list[str]:
        """Return the columns' names from the header lines, which must agree."""
        headers = [self._header_line(path) for path in self.paths]
        names = headers[0]
        for path, other in zip(self.paths, headers, strict=True):
            if other != names:
                said = f"the header of {str(path)!r} differs from that of {str(self.paths[0])!r}"
                raise InvalidParameterError(f"{said}; {_NO_HEADER}")
        for mark in (",", ";", "\t", "|") if len(names) == 1 else ():
            if mark != self.text.delimiter and mark in names[0]:
                said = f"the header is one column containing {mark!r}; try --delimiter {mark!r}"
                raise InvalidParameterError(said)
        if len(set(names)) < len(names):
            said = "two columns of the header have the same name; rename one of the two"
            raise InvalidParameterError(f"{said}, or, {_NO_HEADER}")
        return names

    def _header_line(self, path: Path) -> list[str]:
        failed = f"the header of {str(path)!r} could not be read; check that the file is complete"
        names = quietly(lambda: self._first(path), failed)
        if not names:
            raise DataError(f"the file {str(path)!r} has no header line")
        if len(self.paths) > _MANY:
            self.opened.pop(path).close()
        return names

    def _first(self, path: Path) -> list[str]:
        file, encoding = self._start(path)
        size = LONGEST if self.text.quote_newlines else _HEADER
        found = next(blocks(file, encoding.line_break, size), None) or b""
        if not self.text.quote_newlines:
            found = found.partition(encoding.line_break)[0]
        lines = io.StringIO(encoding.text(found).replace("\r\n", "\n").removesuffix("\r"))
        return next(csv.reader(lines, **self.text.marks), [])

    def _start(self, path: Path) -> tuple[BinaryIO, Encoding]:
        if path not in self.opened:
            opened = gzip.open if _is_zipped(path) else open
            self.opened[path] = self.stack.enter_context(cast("BinaryIO", opened(path, "rb")))
        file = self.opened[path]
        file.seek(0)
        encoding = encoding_of(self.text.encoding, file.read(4))
        file.seek(encoding.mark)
        return file, encoding


_NO_HEADER = "if the first line is no header, name the columns: --names a,b,c"


def _is_zipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")
