"""Text files: their header lines, and copies of those that the engine cannot read as they are."""

import csv
import io
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from halfnoise.data.quiet import quietly
from halfnoise.data.sources.encodings import MISSING
from halfnoise.data.sources.lines import Lines, Readable
from halfnoise.data.sources.records import LONGEST, Records
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.sources.values import is_a_value
from halfnoise.data.spelling import SPACES
from halfnoise.errors import DataError, InvalidParameterError
from halfnoise.values import dataclass, field

# Of more files than that, none stays open until its rows are read: a process has only so many.
_MANY = 200
_HEADER = 2**12  # bytes that are read at once for a header: few rows are among them


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFiles:
    """Text files, each opened once at most, and closed by ``stack``; copies go to ``scratch``.

    ``failed`` is said where one cannot be read. ``looked_at`` are those that were, once they were,
    ``numbers`` tell the tables apart that are made of them, and ``waiting`` are those without rows,
    with what then reads them.
    """

    paths: list[Path]
    text: TextFormat
    failed: str
    scratch: Path
    stack: ExitStack
    opened: dict[Path, Lines] = field(default_factory=dict)
    looked_at: list[Readable] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    waiting: dict[str, Callable[[Sequence[Readable]], str]] = field(default_factory=dict)

    def readable(self) -> list[Readable]:
        """Return files that the engine reads as they are, each line a row.

        All bytes are looked at, once; a file with anything else than plain UTF-8 is copied.
        """
        if not self.looked_at:
            numbered = enumerate(self.paths)
            found = quietly(lambda: [self._readable(i, p) for i, p in numbered], self.failed)
            self.looked_at.extend(found)
        return self.looked_at

    def _readable(self, i: int, path: Path) -> Readable:
        lines = self._lines(path)
        plain = lines.are_plain(self._records())
        found = Readable(path) if plain else lines.copy(self.scratch / f"{i}.txt", self._records())
        self.opened.pop(path).close()
        return found

    def _records(self) -> Records | None:
        """Return how rows are told apart, from the first one on, where quotes may span lines."""
        quote = self.text.quote if self.text.quote_newlines else None
        bare = self.text.names is not None
        return Records(self.text.delimiter or ",", quote, bare=bare) if quote else None

    def are_ended(self) -> bool:
        """Whether every line, also the last of each file, is known to end with a line break."""
        return quietly(lambda: all(map(self._is_ended, self.paths)), self.failed)

    def _is_ended(self, path: Path) -> bool:
        found = self._lines(path).are_ended
        self._spare(path)
        return found

    def check_whole(self) -> None:
        """Refuse files whose sizes tell that their last character is cut."""
        for path in self.paths:
            self._lines(path).check_whole()
            self._spare(path)

    def header(self) -> list[str]:
        """Return the columns' names from the header lines, which must agree."""
        headers = [self._header_line(path) for path in self.paths]
        names = headers[0]
        alike(headers, self.paths)
        if names[0].startswith("sep=") and len("".join(names)) <= len("sep=;"):
            mark = names[0][4:] or self.text.delimiter
            said = "the first line is no header: it says to Excel by what cells are parted"
            raise InvalidParameterError(f"{said}; say --skip 1 --delimiter {mark!r}")
        is_text = len(names) == 1 and MISSING not in names[0]
        for mark in (",", ";", "\t", "|") if is_text else ():
            if mark != self.text.delimiter and mark in names[0]:
                said = f"the header is one column containing {mark!r}; try --delimiter {mark!r}"
                commas = "; where numbers have a comma, --decimal ',' too" if mark == ";" else ""
                raise InvalidParameterError(said + commas)
        return told_apart(names)

    def _header_line(self, path: Path) -> "_Line":
        failed = f"the header of {str(path)!r} could not be read; check that the file is complete"
        names = quietly(lambda: self._first(path), failed)
        if not names:
            said = f"the file {str(path)!r} has no header line there, or one of over 2 MB"
            raise DataError(f"{said}; if lines come before it, say how many: --skip 1")
        self._spare(path)
        return names

    def _first(self, path: Path) -> "_Line":
        lines, spans = self._lines(path), self.text.quote_newlines
        lines.check_mark()
        found = self._from_header(lines, LONGEST if spans else _HEADER)
        if not spans:
            found = found[: lines.encoding.first_break(found)]
        text = lines.encoding.text(found).replace("\r\n", "\n").removesuffix("\r")
        read = csv.reader(io.StringIO(text if spans else f"{text}\n\n"), **self.text.marks)
        try:
            names = next(read, [])
            goes_on = read.line_num > 1 and not spans  # in what would be a row
        except csv.Error:
            goes_on = True
        # No header: whether it is one must not hang on what is in its place.
        return _Line([MISSING] if goes_on else names)

    def _from_header(self, lines: Lines, size: int) -> bytes:
        """Return some lines, of which the first is the header; nothing where that is too long."""
        before, width = self.text.skip, lines.encoding.width
        for found in lines.blocks(size):
            if found is None and not before:
                return b""
            rest = found or b""
            before -= found is None
            while before and rest:
                rest, before = rest[lines.encoding.first_break(rest) + width :], before - 1
            if rest:
                return rest
        return b""

    def _lines(self, path: Path) -> Lines:
        if path not in self.opened:
            raw = self.stack.enter_context(path.open("rb"))
            self.opened[path] = Lines.of(path, raw, self.text.encoding)
        return self.opened[path]

    def _spare(self, path: Path) -> None:
        if len(self.paths) > _MANY:
            self.opened.pop(path).close()


def alike(headers: Sequence[object], paths: Sequence[Path]) -> None:
    """Refuse files whose headers differ."""
    for path, other in zip(paths, headers, strict=True):
        if other != headers[0]:
            said = f"the header of {str(path)!r} differs from that of {str(paths[0])!r}"
            raise InvalidParameterError(f"{said}; {_NO_HEADER}")


def told_apart(names: Sequence[str]) -> list[str]:
    """Return names, without spaces around them, none twice; refuse a header in which one is."""
    names = [name.strip(SPACES) for name in names]
    twice = {name for name, count in Counter(names).items() if count > 1}
    if twice and not any(map(is_a_value, names)):
        said = "two columns of the header have the same name; rename one of the two"
        raise InvalidParameterError(f"{said}, or, {_NO_HEADER}")
    # Of what could be a row not even that is told: nobody can ask for either of the two.
    return [f"{name}{MISSING}{i}" if name in twice else name for i, name in enumerate(names)]


class _Line(list[str]):
    """The cells of a first line, which could be a person's: no traceback shows them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{len(self)} cells"


_NO_HEADER = "if the first line is no header, name the columns: --names a,b,c"
