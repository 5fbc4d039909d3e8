"""What cannot be read in an encoding stays within its line, and what cannot be written is told."""

import encodings.aliases
import io
import random
from pathlib import Path
from typing import Any

import pytest

from halfnoise.data.sources.encodings import MISSING, Encoding
from halfnoise.data.sources.lines import Lines

KNOWN = sorted({name for name in encodings.aliases.aliases.values() if name != "mbcs"})
BY_LINE = [name for name in KNOWN if Encoding.reads_by_line(name)]


def line_by_line(found: Encoding, lines: bytes) -> str:
    """Return what the lines say, each decoded by itself: the slow rule."""
    end = found.line_break
    each = (found.decoded(line + end * 4).rstrip("\n") for line in lines.split(end)[:-1])
    return "".join(line.replace("\n", MISSING) + "\n" for line in each)


def lines_of(found: Encoding, draw: random.Random) -> bytes:
    """Return lines of bytes at random, of which every one is before every line break."""
    ends = (bytes([i]) + found.line_break for i in range(256))
    return b"".join(draw.randbytes(draw.randint(0, 9)) + end for end in ends)


def test_lines_are_decoded_alone() -> None:
    """In every encoding of a byte at least, lines say together what each says alone."""
    draw = random.Random(1)
    narrow = [found for name in BY_LINE if (found := Encoding.of(name, b"")).width == 1]
    assert sum(found.is_by_unit for found in narrow) > 50
    for found in narrow:
        for _ in range(3):
            lines = lines_of(found, draw)
            assert found.text(lines) == line_by_line(found, lines), found


def test_a_character_that_takes_a_line_break_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If an encoding with such were taken for one of single bytes, lines would reach others."""
    monkeypatch.setattr(Encoding, "is_by_unit", True)
    found, lines = Encoding.of("euc_kr", b""), b"\xa4\xd4\n" * 9
    assert found.text(lines) != line_by_line(found, lines)
    monkeypatch.undo()
    assert found.text(lines) == line_by_line(found, lines)


class Full(io.BytesIO):
    """A file that takes any block but one."""

    left_out = 0

    def write(self, block: Any) -> int:
        """Write a block, unless it is that one."""
        self.left_out -= 1
        if not self.left_out:
            raise OSError(28, "No space left on device")
        return super().write(block)

    def close(self) -> None:
        """Leave it open to look at."""


@pytest.mark.parametrize("left_out", range(6))
def test_what_is_not_written_is_told(
    left_out: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that lacks one block, be it the first or the last, is no copy."""
    path, rows, target = tmp_path / "a.csv", 10**5, Full()
    path.write_bytes(b"\xe4,1\n" * rows)  # four blocks, behind a mark
    target.left_out = left_out
    with path.open("rb") as file:
        lines = Lines.of(path, file, "latin-1")
        monkeypatch.setattr(Path, "open", lambda *_: target)
        if left_out:
            with pytest.raises(OSError, match="No space left"):
                lines.copy(path)
        else:
            lines.copy(path)
            assert target.getvalue().decode("utf-8-sig") == "ä,1\n" * rows
