"""How people write numbers, days, yes and no in text: declared, never learned from the cells.

Here is what no engine has to know: which marks and words may be declared, and the patterns by which
cells are then recognised, in the syntax that all engines share. Reading cells is ``cells``' work.
"""

import re
from itertools import product
from typing import Any

from halfnoise import checks
from halfnoise.checks import is_text, refuse, yes_or_no
from halfnoise.values import dataclass
from halfnoise.workload.conditions import as_number

SPACES = checks.SPACES
YES = ("true", "yes", "y", "t")  # beside 1 and 0, known in every file
NO = ("false", "no", "n", "f")
ISO = "yyyy-mm-dd"
LAST = "29"  # a month has this many days, or fewer: what is below it exists,
SHORTER = r"^[0-9]{4}-(?:02-(?:29|3[01])|(?:04|06|09|11)-31)"  # and of others what is not this,
LEAP = r"^(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"
# A text with one of these letters has no other case: engines lower them in different ways. They are
# the Turkish İ, the Greek Σ (which has two small letters), and letters, or places for letters, of
# Unicode 11 and later, of which an engine may know more than another; so all historic scripts.
ODD_CASE = "[\u0130\u03a3\u1c89-\u1cbf\u2c2f\u2c5f\ua7b8-\ua7ff\uab6c-\uab6f\U00010000-\U0001efff]"
ANY_SPACES = f"[{SPACES}]+"  # as a pattern
_THOUSANDS = ".,' \u00a0\u202f_\u2019"
_NO_DECIMAL = "+-_"
BLANKS = {" ": "space", "\u00a0": "no-break", "\u202f": "narrow"}  # marks that cannot be seen
_DATES = re.compile(r"(?:(yyyy)([-./ ]?)(mm|dd)\2(mm|dd)|(mm|dd)([-./ ]?)(mm|dd)\6(yyyy))")
_MONTHS = ("[1-9]", "(?:0[1-9]|1[0-2])")  # with one digit, with two
_DAYS = ("[1-9]", "(?:0[1-9]|[12][0-9]|3[01])")


@dataclass(frozen=True, slots=True, kw_only=True)
class DayForm:
    """One way to write a day, with so many digits: how it begins, how long it is, what is where.

    A cell is such a day if ``pattern`` holds for it, and it ends there or goes on with T or a space
    (``moment``). The places are offsets and lengths.
    """

    pattern: str
    length: int
    year: int
    month: tuple[int, int]
    day: tuple[int, int]

    @property
    def is_iso(self) -> bool:
        """Whether it is the ISO form."""
        places = (self.length, self.year, self.month)
        return places == (10, 0, (5, 2)) and as_class("-") in self.pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What a cell of text means, beside what every cell of text can mean.

    ``thousands``: the mark between groups of three digits, if any. ``dates``: how days are written,
    beside the ISO form. ``yes`` and ``no``: words for them, beside those that are always known, in
    capitals or not. ``ignore_case``: codes and categories are the same in any case and spacing.

    >>> Spelling(decimal=",", thousands=".", dates="dd.mm.yyyy", yes=("Ja",)).yes
    ('ja',)
    """

    decimal: str = "."
    thousands: str | None = None
    dates: str = ISO
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    ignore_case: bool = False

    def __post_init__(self) -> None:
        """Refuse what would be read in two ways; put the rest into one form."""
        if len(self.decimal) != 1 or self.decimal.isalnum() or self.decimal in _NO_DECIMAL:
            raise refuse("decimal", "a mark such as ',' or '.'", self.decimal)
        self._check_thousands()
        object.__setattr__(self, "dates", _checked_dates(self.dates))
        yes, no = (*YES, "1"), (*NO, "0")
        for name, known, opposite in (("yes", yes, no), ("no", no, yes)):
            words = _checked_words(name, getattr(self, name), known, opposite)
            object.__setattr__(self, name, words)
        if both := sorted({*self.yes} & {*self.no}):
            raise refuse("no", "words that do not mean yes as well", both[0])
        yes_or_no(ignore_case=self.ignore_case)

    def _check_thousands(self) -> None:
        mark = self.thousands
        if mark is None:
            return
        if not isinstance(mark, str) or len(mark) != 1 or mark not in _THOUSANDS:
            raise refuse("thousands", "one of . , ' _ \u2019 or a space", mark, "or left out")
        if mark == self.decimal:
            remedy = f"say decimal={',' if mark == '.' else '.'!r} too"
            raise refuse("thousands", "another mark than the decimal one", mark, remedy)

    @property
    def yes_words(self) -> tuple[str, ...]:
        """All words for yes, as ``lowered`` returns them."""
        return (*YES, *self.yes)

    @property
    def no_words(self) -> tuple[str, ...]:
        """All words for no, as ``lowered`` returns them."""
        return (*NO, *self.no)

    @property
    def day_forms(self) -> tuple[DayForm, ...]:
        """The ways to write a day, of which no cell is two: the ISO form first.

        >>> Spelling(dates="dd.mm.yyyy").day_forms[1].pattern
        '^[1-9][.][1-9][.][0-9]{4}'
        """
        iso = _form(ISO, 2, 2)
        if self.dates == ISO:
            return (iso,)
        widths = (1, 2) if len(self.dates) == 10 else (2,)
        return (iso, *(_form(self.dates, *each) for each in product(widths, widths)))

    @property
    def grouped(self) -> str | None:
        """What holds for a number with marks between its thousands, and for no other text.

        Without the marks it is written as a number without them. Where the mark is in a text for
        which this does not hold, it is no number.

        >>> bool(re.search(Spelling(thousands=",").grouped or "", "-1,234,567.5e3"))
        True
        """
        if self.thousands is None:
            return None
        mark, decimal = as_class(self.thousands), as_class(self.decimal)
        whole = rf"[+-]?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+"
        return rf"^{whole}(?:{decimal}[0-9]*)?(?:[eE][+-]?[0-9]+)?$"


def lowered(text: str) -> str:
    """Return a text in small letters, or as it is where engines would not agree on them.

    >>> lowered("JÄ"), lowered("İ")
    ('jä', 'İ')
    """
    return text if re.search(ODD_CASE, text) else text.lower()


def folded(text: str) -> str:
    """Return a code as it is compared where neither case nor spaces matter.

    >>> folded(" J 45.0 ") == folded("j45.0")
    True
    """
    return lowered(re.sub(ANY_SPACES, "", text))


def exists(day: str) -> bool:
    """Return whether a month, as ISO text says a day, has so many days.

    >>> exists("2024-02-29"), exists("2023-02-29")
    (True, False)
    """
    return not re.search(SHORTER, day) or bool(re.search(LEAP, day))


def iso_day(text: str, spelling: Spelling) -> str | None:
    """Return the day that a text without spaces around it begins with, as yyyy-mm-dd.

    >>> iso_day("1.2.2024 10:30", Spelling(dates="dd.mm.yyyy"))
    '2024-02-01'
    """
    for form in spelling.day_forms:
        if re.search(form.pattern, text) and text[form.length : form.length + 1] in ("", "T", " "):
            year = text[form.year : form.year + 4]
            month, day = (text[at : at + n].zfill(2) for at, n in (form.month, form.day))
            return found if exists(found := f"{year}-{month}-{day}") else None
    return None


def day_alone(text: str, spelling: Spelling) -> str | None:
    """Return the day that a text is, with nothing behind it, as yyyy-mm-dd.

    >>> day_alone("1.2.2024", Spelling(dates="dd.mm.yyyy"))
    '2024-02-01'
    """
    alone = any(re.fullmatch(form.pattern, text) for form in spelling.day_forms)
    return iso_day(text, spelling) if alone else None


def as_class(mark: str) -> str:
    """Return the pattern of one mark, as every engine reads it."""
    return f"[\\{mark}]" if mark in "^[]\\-" else f"[{mark}]"


def _form(dates: str, month: int, day: int) -> DayForm:
    """Return a way to write days in which month and day have so many digits."""
    found = {"yyyy": "[0-9]{4}", "mm": _MONTHS[month - 1], "dd": _DAYS[day - 1]}
    widths = {"yyyy": 4, "mm": month, "dd": day}
    pattern, at, places = "^", 0, dict[str, int]()
    for part in re.findall("yyyy|mm|dd|[-./ ]", dates):
        places[part] = at
        pattern += found.get(part, as_class(part))
        at += widths.get(part, 1)
    return DayForm(
        pattern=pattern,
        length=at,
        year=places["yyyy"],
        month=(places["mm"], month),
        day=(places["dd"], day),
    )


def _checked_dates(dates: Any) -> str:
    plain = dates.lower() if isinstance(dates, str) else ""
    found = _DATES.fullmatch(plain)
    if found is None or "mm" not in plain or "dd" not in plain:
        rule = "yyyy, mm and dd, the year first or last, parted by one of . / - or a space, or not"
        raise refuse("dates", rule, dates, "for example dd.mm.yyyy")
    if plain == "yyyy-dd-mm":
        remedy = "write the dates in the file as yyyy-mm-dd"
        raise refuse("dates", "another form than ISO with day and month changed", dates, remedy)
    return plain


def _checked_words(
    name: str, words: Any, known: tuple[str, ...], opposite: tuple[str, ...]
) -> tuple[str, ...]:
    """Return words in one form and order: in small letters, each once."""
    if not isinstance(words, list | tuple) or not all(map(is_text, words)):
        raise refuse(name, "a list of words", words, f"for example {name}=['ja']")
    plain = {lowered(word.strip(SPACES)) for word in words}
    for word in sorted(plain):
        if not word:
            raise refuse(name, "words that are not empty", words)
        if word in opposite:
            raise refuse(name, f"words that do not mean {'no' if name == 'yes' else 'yes'}", word)
        digits = any(map(str.isdecimal, word))  # it could be a number or a day, as they are spelled
        if word not in known and (digits or as_number(word) is not None):
            remedy = "for a code, say so where the column is named: smoker:yes:2"
            raise refuse(name, "words, without digits", word, remedy)
    return tuple(sorted(plain))


PLAIN = Spelling()
