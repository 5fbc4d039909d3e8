"""What a cell says, in plain Python: slow, and independent of how engines are told it."""

import calendar
import datetime as dt
import math
from dataclasses import dataclass
from typing import Any

from halfnoise.data.spelling import PLAIN, Spelling

SPACES = " \t\n\r\x0b\x0c"
DIGITS = "0123456789"
YES, NO = ("true", "yes", "y", "t"), ("false", "no", "n", "f")
ENDLESS = ("inf", "infinity")
# Letters that not all engines lower alike: a text with one of them has no other case.
ODD = [(0x130, 0x130), (0x3A3, 0x3A3), (0x1C89, 0x1CBF), (0x2C2F, 0x2C2F), (0x2C5F, 0x2C5F)]
ODD += [(0xA7B8, 0xA7FF), (0xAB6C, 0xAB6F), (0x10000, 0x1EFFF)]


def trim(text: str) -> str:
    """Strip spaces as ASCII knows them."""
    return text.strip(SPACES)


def small(text: str) -> str:
    """Return a text in small letters, unless it holds a letter that engines lower differently."""
    others = {ord(letter) for letter in text}
    odd = any(first <= letter <= last for letter in others for first, last in ODD)
    return text if odd else text.lower()


def is_nothing(cell: Any) -> bool:
    """Whether a cell is missing: none, empty text, or text of which a part could not be read."""
    return cell is None or (isinstance(cell, str) and (cell == "" or "\0" in cell))


def is_digits(text: str, least: int, most: int) -> bool:
    """Whether a text is so many digits."""
    return least <= len(text) <= most and all(letter in DIGITS for letter in text)


def whole_part(text: str, mark: str | None) -> str | None:
    """Return the digits before the decimal mark; None where groups of thousands are wrong."""
    if mark is None or mark not in text:
        return text
    first, *others = text.split(mark)
    right = 1 <= len(first) <= 3 and all(len(other) == 3 for other in others)
    return first + "".join(others) if right else None


def exponent_fits(whole: str, fraction: str, exponent: str) -> bool:
    """Whether an exponent is short, or one of three digits that keeps the number in range."""
    sign, digits = exponent[:1], exponent.lstrip("+-")
    if len(exponent) - len(digits) > 1 or not is_digits(digits, 1, 3):
        return False
    if len(digits) < 3:
        return True
    if len(whole) != 1 or digits[0] == "0":
        return False
    if int(digits) < 300:
        return True
    return sign != "-" and int(digits) <= 308 and whole == "1" and not fraction.strip("0")


def literal_number(literal: Any) -> float | None:
    """Return the number that a value of a request is or spells: with a point, whatever cells do."""
    if isinstance(literal, bool):
        return float(literal)
    if isinstance(literal, dt.date) or "_" in str(literal) or not str(literal).isascii():
        return None
    try:
        value = float(literal)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def literal_day(literal: Any) -> str | None:
    """Return the day that a value of a request is or spells, in ISO form."""
    if isinstance(literal, dt.datetime):
        return literal.date().isoformat()
    if isinstance(literal, dt.date):
        return literal.isoformat()
    try:
        found = dt.date.fromisoformat(str(literal)) if len(str(literal)) == 10 else None
    except ValueError:
        return None
    return None if found is None else found.isoformat()


@dataclass(frozen=True, kw_only=True)
class SlowCells:
    """Reads cells as a spelling says."""

    spelling: Spelling = PLAIN

    def number(self, cell: Any) -> float | None:
        """Return a cell as a number, if it is one."""
        if isinstance(cell, str):
            return self._spelled(trim(cell))
        if cell is None or isinstance(cell, dt.date) or math.isnan(cell):
            return None
        return float(cell)

    def _spelled(self, text: str) -> float | None:
        word = small(text)
        if word in ("true", "false"):
            return float(word == "true")
        unsigned = word[1:] if word[:1] in ("+", "-") else word
        if unsigned in ENDLESS:
            return -math.inf if word.startswith("-") else math.inf
        bare = text[1:] if text[:1] in ("+", "-") else text
        amount, mark, exponent = bare.replace("E", "e").partition("e")
        whole, _, fraction = amount.partition(self.spelling.decimal)
        digits = whole_part(whole, self.spelling.thousands)
        if digits is None or not is_digits(digits, 0, 30) or not is_digits(fraction, 0, 30):
            return None
        if not digits and not fraction:
            return None
        if mark and not exponent_fits(digits, fraction, exponent):
            return None
        value = float(f"{digits or 0}.{fraction or 0}e{exponent or 0}")
        return -value if text.startswith("-") else value

    def day(self, cell: Any) -> str | None:
        """Return the day of a cell in ISO form, in which days can be compared; if it is one."""
        if not isinstance(cell, str):
            return literal_day(cell) if isinstance(cell, dt.date) else None
        text = "" if is_nothing(cell) else trim(cell)
        return self._day(text, "yyyy-mm-dd", exact=True) or self._day(
            text, self.spelling.dates, exact=self.spelling.dates == "yyyy-mm-dd"
        )

    def _day(self, text: str, form: str, *, exact: bool) -> str | None:
        """Read a day part by part; ``exact``: with as many digits as the form has letters."""
        parts, at = dict[str, str](), 0
        for i, letter in enumerate(form):
            if letter not in "ymd":
                if text[at : at + 1] != letter:
                    return None
                at += 1
            elif form[i - 1 : i] != letter:  # a part begins
                most = form.count(letter)
                least = most if exact or letter == "y" or not set(form) - set("ymd") else 1
                found = ""
                while len(found) < most and text[at : at + 1] and text[at] in DIGITS:
                    found += text[at]
                    at += 1
                if len(found) < least:
                    return None
                parts[letter] = found
        if text[at : at + 1] not in ("", "T", " "):
            return None
        month, last = int(parts["m"]), [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        last[1] += calendar.isleap(int(parts["y"]))
        right = 1 <= month <= 12 and 1 <= int(parts["d"]) <= last[month - 1]
        return f"{parts['y']}-{parts['m']:0>2}-{parts['d']:0>2}" if right else None

    def is_yes(self, cell: Any) -> bool:
        """Whether a cell says yes."""
        if isinstance(cell, str) and small(trim(cell)) in (*YES, *self.spelling.yes):
            return True
        return self.number(cell) == 1

    def code(self, text: str) -> str:
        """Return a text as codes are compared."""
        if not self.spelling.ignore_case:
            return trim(text)
        return small("".join(letter for letter in text if letter not in SPACES))

    def equal(self, cell: Any, literal: Any) -> bool:
        """Whether a cell is a value of a request, as text, number or day."""
        if is_nothing(cell):
            return False
        number, day = literal_number(literal), literal_day(literal)
        same = (number is not None and self.number(cell) == number) or (
            day is not None and self.day(cell) == day
        )
        if isinstance(cell, bool):
            words = (*YES, *self.spelling.yes) if cell else (*NO, *self.spelling.no)
            return same or small(str(literal).strip()) in words
        if not isinstance(cell, str):
            return same
        if isinstance(literal, bool):
            words = (*YES, *self.spelling.yes) if literal else (*NO, *self.spelling.no)
            return same or small(trim(cell)) in words
        return same or self.code(cell) == self.code(str(literal).strip())
