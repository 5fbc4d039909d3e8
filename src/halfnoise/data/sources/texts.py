"""Text files: their header lines, and their copies in UTF-8 where they are in another encoding."""

import contextlib
import csv
import gzip
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, cast

from halfnoise.data.quiet import quietly
from halfnoise.data.sources.source import TextFormat, ready
from halfnoise.errors import DataError, InvalidParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFiles:
    """Text files, each opened once at most, and closed by ``stack``.

    DuckDB reads UTF-8 and files that are all zipped or all not; of others it reads copies in
    ``scratch``, which stay empty until the release is allowed.
    """

    paths: list[Path]
    text: TextFormat
    scratch: Path
    stack: contextlib.ExitStack
    opened: dict[Path, TextIO] = field(default_factory=dict)

    @property
    def copied(self) -> bool:
        """Whether DuckDB reads copies."""
        return self._encoding != "utf-8-sig" or len({is_zipped(path) for path in self.paths}) > 1

    @property
    def _encoding(self) -> str:
        name = self.text.encoding
        return "utf-8-sig" if name.lower().replace("_", "-") in ("utf-8", "utf8") else name

    def readable(self, failed: str) -> tuple[list[Path], Callable[[], None]]:
        """Return the files that DuckDB reads, and what fills them; ``failed``, if that fails."""
        if not self.copied:
            return self.paths, ready
        copies = [self.scratch / f"{i}{ending(path)}" for i, path in enumerate(self.paths)]
        for copy in copies:
            copy.touch()

        def fill() -> None:
            for path, copy in zip(self.paths, copies, strict=True):
                lines = self._lines(path)
                lines.seek(0)
                with copy.open("w", encoding="utf-8", errors="replace", newline="") as target:
                    shutil.copyfileobj(lines, target)

        return copies, lambda: quietly(fill, failed)

    def header(self) -> list[str]:
        """Return the columns' names from the header lines, which must agree."""
        headers = [self._header_line(path) for path in self.paths]
        names = headers[0]
        for path, other in zip(self.paths, headers, strict=True):
            if other != names:
                raise InvalidParameterError(
                    f"the header of {str(path)!r} differs from that of {str(self.paths[0])!r}"
                )
        if len(names) == 1:
            for mark in (",", ";", "\t", "|"):
                if mark != self.text.delimiter and mark in names[0]:
                    raise InvalidParameterError(
                        f"the header is one column containing {mark!r}; try --delimiter {mark!r}"
                    )
        return names

    def _header_line(self, path: Path) -> list[str]:
        names = quietly(
            lambda: next(csv.reader(self._lines(path), **self.text.marks), []),
            f"the header of {str(path)!r} could not be read; check that the file is complete",
        )
        if not names:
            raise DataError(f"the file {str(path)!r} has no header line")
        if not self.copied:
            self.opened[path].close()
        return names

    def _lines(self, path: Path) -> TextIO:
        if path not in self.opened:
            opened = gzip.open if is_zipped(path) else open
            lines = opened(path, "rt", encoding=self._encoding, errors="replace", newline="")
            self.opened[path] = self.stack.enter_context(cast("TextIO", lines))
        return self.opened[path]


def ending(path: Path) -> str:
    """Return the ending that says the format, without that of zipping."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def is_zipped(path: Path) -> bool:
    """Whether a file is zipped, by its name."""
    return path.name.lower().endswith(".gz")
