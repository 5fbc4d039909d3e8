"""Codes that people write for something else: which of them can be numbers, or days, in text.

Where a code cannot be what a cell is read as, no cell needs to be compared with it.
"""

import re
from collections.abc import Sequence

from halfnoise.data.spelling import SPACES, Spelling, folded
from halfnoise.data.written import NUMBERS_IN_WORDS
from halfnoise.workload.conditions import Literal, as_number

_WHOLE = re.compile("[+-]?[0-9]{1,15}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?")


def is_its_number(text: str, spelling: Spelling) -> bool:
    """Whether cells that are this text are all found by its number.

    >>> [is_its_number(text, Spelling()) for text in ("65", "6.50", "1e3", "F")]
    [True, True, False, False]
    """
    return not spelling.ignore_case and _is_plain_number(text, spelling)


def numbers_among(codes: Sequence[Literal]) -> list[float]:
    """Return the numbers that codes are."""
    found = [float(code) if isinstance(code, bool) else as_number(code) for code in codes]
    return [number for number in found if number is not None]


def are_found_by_number(codes: Sequence[Literal], spelling: Spelling) -> bool:
    """Whether a cell that reads as a number is one of the codes only if its number is.

    >>> are_found_by_number([-99, "N/A"], Spelling()), are_found_by_number(["true"], Spelling())
    (True, False)
    """
    texts = [str(code).strip(SPACES) for code in codes if not isinstance(code, bool)]
    return all(_is_plain_number(text, spelling) or _is_no_number(text) for text in texts)


def days_among(codes: Sequence[Literal], spelling: Spelling) -> list[Literal]:
    """Return the codes that a cell which reads as a day could be, with a time behind it or not."""
    if len(spelling.dates) < len("yyyy-mm-dd"):  # a day could be a number too
        return list(codes)
    # In whatever case and spacing: the shortest day has six digits.
    return [code for code in codes if sum(map(str.isdigit, str(code))) >= len("112026")]


def _is_plain_number(text: str, spelling: Spelling) -> bool:
    plain = (spelling.decimal, spelling.thousands) == (".", None)
    return bool((_DECIMAL if plain else _WHOLE).fullmatch(text))


def _is_no_number(text: str) -> bool:
    """Whether no cell that reads as a number is this text, in whatever case and spacing."""
    lettered = any(letter.isalpha() and letter not in "eE" for letter in text)
    return lettered and folded(text) not in NUMBERS_IN_WORDS
