"""Text files: their header lines, and their copies in UTF-8 where they are in another encoding."""

import csv
import gzip
import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, cast

from halfnoise.data.quiet import quietly
from halfnoise.data.sources.source import TextFormat
from halfnoise.errors import DataError, InvalidParameterError

# Of more files than that, none stays open until it is copied: a process has only so many.
_MANY = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFiles:
    """Text files, each opened once at most, and closed by ``stack``.

    DuckDB reads UTF-8, and files that are all zipped or all not; of others it reads copies in
    ``scratch``, which stay empty until ``fill``. ``failed`` is said when that fails.
    """

    paths: list[Path]
    text: TextFormat
    failed: str
    scratch: Path
    stack: ExitStack
    opened: dict[Path, TextIO] = field(default_factory=dict)

    @property
    def copied(self) -> bool:
        """Whether DuckDB reads copies."""
        return self._encoding != "utf-8-sig" or len({_is_zipped(path) for path in self.paths}) > 1

    @property
    def zipped(self) -> bool:
        """Whether DuckDB reads zipped files."""
        return not self.copied and _is_zipped(self.paths[0])

    @property
    def readable(self) -> list[Path]:
        """The files that DuckDB reads; it wants to find them, be they empty."""
        if not self.copied:
            return self.paths
        copies = [self.scratch / str(i) for i in range(len(self.paths))]
        for copy in copies:
            copy.touch()
        return copies

    @property
    def _encoding(self) -> str:
        name = self.text.encoding
        return "utf-8-sig" if name.lower().replace("_", "-") in ("utf-8", "utf8") else name

    def fill(self) -> None:
        """Copy what must be copied."""
        if self.copied:
            quietly(self._copy, self.failed)

    def _copy(self) -> None:
        for path, copy in zip(self.paths, self.readable, strict=True):
            lines = self._lines(path)
            lines.seek(0)
            with copy.open("w", encoding="utf-8", errors="replace", newline="") as target:
                shutil.copyfileobj(lines, target)
            lines.close()

    def header(self) -> list[str]:
        """Return the columns' names from the header lines, which must agree."""
        headers = [self._header_line(path) for path in self.paths]
        names = headers[0]
        for path, other in zip(self.paths, headers, strict=True):
            if other != names:
                said = f"the header of {str(path)!r} differs from that of {str(self.paths[0])!r}"
                raise InvalidParameterError(said)
        for mark in (",", ";", "\t", "|") if len(names) == 1 else ():
            if mark != self.text.delimiter and mark in names[0]:
                said = f"the header is one column containing {mark!r}; try --delimiter {mark!r}"
                raise InvalidParameterError(said)
        return names

    def _header_line(self, path: Path) -> list[str]:
        failed = f"the header of {str(path)!r} could not be read; check that the file is complete"
        names = quietly(lambda: next(csv.reader(self._lines(path), **self.text.marks), []), failed)
        if not names:
            raise DataError(f"the file {str(path)!r} has no header line")
        if not self.copied or len(self.paths) > _MANY:
            self.opened.pop(path).close()
        return names

    def _lines(self, path: Path) -> TextIO:
        if path not in self.opened:
            opened = gzip.open if _is_zipped(path) else open
            lines = opened(path, "rt", encoding=self._encoding, errors="replace", newline="")
            self.opened[path] = self.stack.enter_context(cast("TextIO", lines))
        return self.opened[path]


def _is_zipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")
