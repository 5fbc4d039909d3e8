"""Encodings in which every line can be read alone, and what ends a line in them."""

import codecs
import sys

from halfnoise.values import dataclass

# Beside those that have a table of all bytes: no byte in them says how a later line is read.
_BY_LINE = (
    "ascii", "big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jis_2004", "euc_jisx0213",
    "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "johab", "shift_jis",
    "shift_jis_2004", "shift_jisx0213", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be",
    "utf-32-le", "utf-8", "utf-8-sig",
)  # fmt: skip
_MARKS = {  # at the start of a file, the longer ones first
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_EITHER = ("utf-16", "utf-32")  # of either order of bytes, by the mark
_MISSING = "halfnoise-missing"
_ASCII, _BYTES = bytes(range(128)), bytes(range(256))

MISSING = "\0"
"""What stands for that which cannot be read; no readable text holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How the lines of one file are encoded, and how many bytes before them say so."""

    codec: str
    line_break: bytes
    mark: int = 0

    @classmethod
    def of(cls, name: str, start: bytes) -> "Encoding":
        """Return that of a file, by the declared name and by the mark at its start, if any."""
        codec = codecs.lookup(name).name.removesuffix("-sig")
        for mark, marked in _MARKS.items():
            if start.startswith(mark) and marked.startswith(codec):
                return cls(codec=marked, line_break="\n".encode(marked), mark=len(mark))
        codec += "-le" if codec in _EITHER else ""
        return cls(codec=codec, line_break="\n".encode(codec))

    @staticmethod
    def reads_by_line(name: str) -> bool:
        """Whether an encoding is one in which every line can be read alone.

        >>> [Encoding.reads_by_line(name) for name in ("cp1252", "utf-16", "iso2022_jp")]
        [True, True, False]
        """
        return codecs.lookup(name).name in _BY_LINE or _has_table(name)

    @staticmethod
    def needs_mark(name: str) -> bool:
        """Whether only a mark at the start of a file says the order of its bytes."""
        return codecs.lookup(name).name in _EITHER

    def other(self, start: bytes) -> str | None:
        """Return the encoding whose mark a file begins with, where it is none in UTF-8.

        >>> Encoding.of("utf-8", b"").other("a".encode("utf-16"))
        'utf-16'
        """
        found = (name for mark, name in _MARKS.items() if start.startswith(mark))
        marked = next(found, "utf-8")
        return None if self.codec != "utf-8" or marked == "utf-8" else marked[:-3]

    @property
    def width(self) -> int:
        """Bytes of one unit: a line break is one, and a file is made of whole ones."""
        return len(self.line_break)

    @property
    def is_by_unit(self) -> bool:
        """Whether each unit is decoded by itself, or not at all, and none else is a line break.

        >>> [Encoding.of(name, b"").is_by_unit for name in ("cp1252", "utf-16", "shift_jis")]
        [True, True, False]
        """
        return self.width > 1 or (_has_table(self.codec) and self.decoded(_BYTES).count("\n") == 1)

    def first_break(self, found: bytes) -> int:
        """Return where the first line break begins, or -1; others begin between two units."""
        place, width = found.find(self.line_break), self.width
        while place % width and place > 0:
            place = found.find(self.line_break, place + 1)
        return place

    def last_break(self, found: bytes) -> int:
        """Return where the last line break begins, or -1."""
        place, width = found.rfind(self.line_break), self.width
        while place % width and place > 0:
            place = found.rfind(self.line_break, 0, place + width - 1)
        return place

    def is_utf8(self, lines: bytes) -> bool:
        """Whether lines are as readable in UTF-8, and mean the same.

        >>> [Encoding.of(name, b"").is_utf8("ö".encode()) for name in ("utf-8", "cp1252")]
        [True, False]
        """
        if lines.isascii():
            return self.decoded(_ASCII) == _ASCII.decode("ascii")
        return self.codec == "utf-8" and MISSING not in self.decoded(lines)

    def utf8(self, lines: bytes) -> bytes:
        """Return whole lines in UTF-8; what cannot be decoded is ``MISSING``."""
        return lines if self.is_utf8(lines) else self.text(lines).encode()

    def text(self, lines: bytes) -> str:
        """Decode whole lines, each by itself; what cannot be decoded is ``MISSING``.

        A line that ends within a character reaches no other.
        """
        text = self.decoded(lines)
        # What cannot be decoded is one unit, or, where a unit is a byte, may hold a line break.
        if self.is_by_unit or text.count("\n") == lines.count(self.line_break):
            return text
        # At the end of all bytes a decoder may take more for one character than before a line.
        end = self.line_break * 4
        each = (self.decoded(line + end).rstrip("\n") for line in lines.split(self.line_break))
        return "\n".join(line.replace("\n", MISSING) for line in each)

    def unfinished(self, part: bytes) -> int:
        """Return how many bytes at the end of a part of a line go with what follows.

        They begin a character, or are a carriage return, behind which the line may end.
        """
        _register()
        decoder = codecs.getincrementaldecoder(self.codec)(_MISSING)
        ends = decoder.decode(part).endswith("\r")
        return len(decoder.getstate()[0]) + ends * self.width

    def decoded(self, found: bytes) -> str:
        """Decode bytes, with ``MISSING`` for what cannot be decoded."""
        _register()
        return found.decode(self.codec, _MISSING)


def _register() -> None:
    # The type of errors in general does not tell where those of decoding end.
    codecs.register_error(_MISSING, lambda error: (MISSING, error.end))  # type: ignore[attr-defined]


def _has_table(name: str) -> bool:
    """Whether an encoding has a table of all bytes: each is a character, or none, by itself."""
    found = codecs.lookup(name)
    module = sys.modules.get(getattr(found.incrementaldecoder, "__module__", ""))
    return found.name == "iso8859-1" or hasattr(module, "decoding_table")
