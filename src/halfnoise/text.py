"""Plain text tables and numbers as people write them."""

import unicodedata
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Decimal

_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])  # Unicode, UAX 9
_ORDERS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], "\N{REPLACEMENT CHARACTER}")
_ORDERS |= {ord("\t"): " "}


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Align columns: the first ``left`` to the left, the others to the right; each a line."""
    table = [[*map(on_screen, row)] for row in (header, *rows)]
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        gaps = [" " * (most - width(cell)) for cell, most in zip(row, widths, strict=True)]
        cells = [c + gap for c, gap in zip(row[:left], gaps[:left], strict=True)]
        cells += [gap + c for c, gap in zip(row[left:], gaps[left:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters two, accents none."""
    seen = [mark for mark in text if unicodedata.category(mark) not in ("Mn", "Me", "Cf")]
    return len(seen) + sum(unicodedata.east_asian_width(mark) in "WF" for mark in seen)


def short(x: float) -> str:
    """Write a number with three digits that count: 45.5, 1,230,000, 0.0123, 3."""
    digits = float(f"{x:.3g}")
    return f"{digits:,.0f}" if abs(digits) >= 1000 else f"{digits:.10g}"


def percent(x: float) -> str:
    """Write a probability in per cent, never rounded to certainty: 54.7%, 95%, over 99.9%."""
    return "over 99.9%" if 0.9995 < x < 1 else f"{100 * x:.3g}%"


def above(x: float) -> float:
    """Return a probability to a tenth of a per cent, rounded up, and certain only if it was.

    >>> above(0.5), above(0.54712), above(0.99953)
    (0.5, 0.548, 0.9996)
    """
    exact = Decimal(repr(x))
    missing = (1 - exact).adjusted() if exact < 1 else 0  # where its first digit stands
    return float(exact.quantize(Decimal(1).scaleb(min(-3, missing)), ROUND_CEILING))


def at_most(x: float) -> str:
    """Write how often a guess is right at most, in per cent: 54.8% for 0.5472.

    >>> at_most(0.5472), at_most(0.5), at_most(0.99953), at_most(1.0)
    ('54.8%', '50%', '99.96%', '100%')
    """
    return f"{Decimal(repr(above(x))) * 100:f}".rstrip("0").rstrip(".") + "%"


def tame(text: str) -> str:
    r"""Return a text on one line, without the marks that turn round what stands behind it.

    >>> tame("a\nb\u202ec")
    'a bc'
    """
    return " ".join(text.translate(_TURNING).splitlines())


def on_screen(text: str) -> str:
    r"""Return a text on one line, without those marks and without orders to a terminal.

    >>> on_screen("\x1b[31mred\n") == "\ufffd[31mred"
    True
    """
    return tame(text).translate(_ORDERS)


def isolated(text: str) -> str:
    """Return a text that is read from right to left, so that what stands around it is not."""
    turns = any(unicodedata.bidirectional(mark) in ("R", "AL", "AN") for mark in text)
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}" if turns else text


def spelled(value: object) -> str:
    """Return a key, name or number as text: north, 7, true, 2026-01-02, and nothing for None."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def named(value: object) -> str:
    """Return what names a group as text; None, where a key is missing, is (none)."""
    return "(none)" if value is None else spelled(value)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return so many names, and how many more there are.

    >>> listed(["a", "b", "c"], 3), listed(["a", "b", "c"], 1)
    ('a, b, c', 'a and 2 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def free(title: str, taken: Iterable[str], mark: str) -> str:
    """Return a title that no other has, in any case: with a mark behind it where one does.

    >>> free("Std", ["name", "std"], "noise")
    'Std (noise)'
    """
    others = {other.casefold() for other in taken}
    while title.casefold() in others:
        title += f" ({mark})"
    return title
