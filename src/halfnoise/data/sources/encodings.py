"""Encodings in which every line can be read alone, and what ends a line in them."""

import codecs
import sys
from dataclasses import dataclass

# Beside those that have a table of all bytes: no byte in them says how a later line is read.
_BY_LINE = (
    "ascii", "big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jis_2004", "euc_jisx0213",
    "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso8859-1", "johab", "shift_jis",
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
_MISSING = "halfnoise-missing"

MISSING = "\0"
"""What stands for that which cannot be read; no readable text holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How the lines of one file are encoded, and how many bytes before them say so."""

    codec: str
    line_break: bytes
    mark: int = 0

    def text(self, lines: bytes) -> str:
        """Decode whole lines, each by itself; what cannot be decoded is ``MISSING``.

        A line that lacks a byte, or ends within a character, reaches no other.
        """
        text = self._decoded(lines)
        # Line breaks are told by bytes, wherever they stand: if as many came out, all are there.
        if text.count("\n") == lines.count(self.line_break):
            return text
        # At the end of all bytes a decoder may take more for one character than before a line.
        end = self.line_break * 4
        each = (self._decoded(line + end).rstrip("\n") for line in lines.split(self.line_break))
        return "\n".join(line.replace("\n", MISSING) for line in each)

    def _decoded(self, line: bytes) -> str:
        codecs.register_error(_MISSING, lambda error: (MISSING, error.end))  # type: ignore[attr-defined]
        return line.decode(self.codec, _MISSING)


def encoding_of(name: str, start: bytes) -> Encoding:
    """Return how a file is encoded, by the declared name and by the mark at its start, if any."""
    codec = codecs.lookup(name).name.removesuffix("-sig")
    for mark, marked in _MARKS.items():
        if start.startswith(mark) and marked.startswith(codec):
            return Encoding(codec=marked, line_break="\n".encode(marked), mark=len(mark))
    if codec in ("utf-16", "utf-32"):
        codec += "-le"
    return Encoding(codec=codec, line_break="\n".encode(codec))


def reads_by_line(name: str) -> bool:
    """Whether an encoding is one in which every line can be read alone.

    >>> reads_by_line("cp1252"), reads_by_line("utf-16"), reads_by_line("iso2022_jp")
    (True, True, False)
    """
    found = codecs.lookup(name)
    module = sys.modules.get(getattr(found.incrementaldecoder, "__module__", ""))
    return found.name in _BY_LINE or hasattr(module, "decoding_table")
