"""Rows of text in which quotes span lines: each becomes one line, which is read as any other.

A quote opens where a cell begins, one behind a quote that closed makes both of them a letter, and
all others are letters. So rows end at the breaks that are outside of quotes; those within are
written as ``WITHIN``. A row that is too long is one of missing cells, as a line is.
"""

import codecs
import re

import numpy as np
from numpy.typing import NDArray

from halfnoise.data.sources.encodings import MISSING

LONGEST = 2**21  # bytes of a line, or of a row of several; a longer one is a row of missing cells
WITHIN = "\x1f"  # a line break within quotes; no readable text of such files holds it
_WITHIN, _MISSING, _BREAK = WITHIN.encode(), MISSING.encode(), b"\n"
_MARKS = re.compile(b"(?<=\n)(?:%b)+" % codecs.BOM_UTF8)


class Records:
    """Rows of a file in UTF-8, told apart part by part."""

    __slots__ = (
        "_bare", "_begins", "_delimiter", "_ended", "_held", "_inside", "_marks", "_quote",
        "_too_long",
    )  # fmt: skip

    def __init__(self, delimiter: str, quote: str, *, bare: bool = False) -> None:
        """Begin before the first row; ``bare``: without a header, where lines begin with no mark.

        The engine leaves one out of each, but only now can a quote behind it be seen to open.
        """
        self._bare, self._ended = bare, True
        self._delimiter, self._quote = delimiter.encode(), quote.encode()
        marks = b"|".join(map(re.escape, (self._quote, self._delimiter, _BREAK)))
        self._marks, self._begins, self._inside = re.compile(marks), True, False
        self._held, self._too_long = b"", False

    def whole(self, part: bytes | None) -> bytes:
        """Return the rows that end in a part, as lines; None: the next line is too long."""
        if part is None:
            self._too_long = True
            return b""
        if self._bare and codecs.BOM_UTF8 in part:
            part = _MARKS.sub(b"", _BREAK * self._ended + part)[self._ended :]
        self._ended = part.endswith(_BREAK)
        part = part.replace(_WITHIN, _MISSING)
        ends, each = self._ends(part), np.frombuffer(bytearray(part), np.uint8)
        within = each == ord(_BREAK)
        within[ends - 1] = False
        each[within] = ord(_WITHIN)
        found, ends = self._held + each.tobytes(), ends + len(self._held)
        stop = int(ends[-1]) if ends.size else 0
        far = np.diff(ends, prepend=0) > LONGEST + 1
        far[:1] |= self._too_long
        kept, last = list[bytes](), 0
        for place in np.flatnonzero(far).tolist():
            kept += [found[last : ends[place - 1] if place else 0], _BREAK]
            last = int(ends[place])
        self._too_long = (self._too_long and not stop) or len(found) - stop > LONGEST
        self._held = b"" if self._too_long else found[stop:]
        return b"".join([*kept, found[last:stop]])

    def rest(self) -> bytes:
        """Return what is left at the end, of a quote that nobody closed."""
        return self._held + _BREAK if self._held or self._too_long else b""

    def _ends(self, part: bytes) -> NDArray[np.intp]:
        """Return where rows end: behind breaks outside of quotes."""
        each = np.frombuffer(part, np.uint8)
        quotes = np.flatnonzero(each == self._quote[0])
        # Each that opens stands where a cell begins, or behind one that closed.
        before = each[quotes[int(self._inside) :: 2] - 1]
        begun = np.isin(before, [self._delimiter[0], self._quote[0], ord(_BREAK)]).all()
        marks = len(self._delimiter) == len(self._quote) == 1
        if not (begun and marks and self._begins and part.endswith(_BREAK)):
            return self._ends_by_marks(part)
        breaks = np.flatnonzero(each == ord(_BREAK)) + 1
        outside = (np.searchsorted(quotes, breaks) + self._inside) % 2 == 0
        self._inside ^= bool(len(quotes) % 2)
        found: NDArray[np.intp] = breaks[outside]
        return found

    def _ends_by_marks(self, part: bytes) -> NDArray[np.intp]:
        """Return the same, mark by mark."""
        ends, opens = list[int](), 0 if self._begins else -1
        for mark in self._marks.finditer(part):
            if self._inside:
                self._inside = mark[0] != self._quote
                opens = mark.end()
            elif mark[0] == self._quote:
                self._inside = mark.start() == opens
            else:
                opens = mark.end()
                ends += [opens] * (mark[0] == _BREAK)
        self._begins = self._inside or opens == len(part)
        return np.array(ends, np.intp)
