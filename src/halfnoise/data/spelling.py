"""How people write numbers, days, yes and no in text: declared, never learned from the cells."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What a cell of text means, beside what every cell of text can mean.

    ``thousands``: the mark between groups of three digits, if any. ``dates``: how days are written,
    beside the ISO form. ``yes`` and ``no``: words for them, beside those that are always known, in
    capitals or not. ``ignore_case``: codes and categories are the same in any case and spacing.
    """

    decimal: str = "."
    thousands: str | None = None
    dates: str = "yyyy-mm-dd"
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    ignore_case: bool = False


PLAIN = Spelling()
