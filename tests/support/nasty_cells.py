"""Cells that people, programs and enemies write: every kind, each in many ways, from a seed."""

import random
from collections.abc import Iterator

from halfnoise.data.spelling import Spelling

INNER = [" ", "\t", "\n", "\r", "\x0b", "\x0c"]  # spaces that are stripped
OTHER = [
    "\x00",
    "\x1c",
    "\x85",
    "\u00a0",
    "\u2007",
    "\u2028",
    "\u202f",
    "\u3000",
    "\ufeff",
    "\u200b",
]
MARKS = [
    ".",
    ",",
    "'",
    " ",
    "\u00a0",
    "\u202f",
    "_",
    "\u2019",
    "-",
    "/",
    "+",
    "e",
    "E",
    ";",
    "\u066b",
]
WORDS = ["true", "false", "yes", "no", "y", "n", "t", "f", "inf", "infinity", "nan", "null", "ja"]
WORDS += [
    "wahr",
    "nein",
    "falsch",
    "ma\xdf",
    "k. A.",
    "oui",
    "s\xed",
    "\u0438\u0441\u0442\u0438\u043d\u0430",
]
ODD_WORDS = [
    "\u0130nf",
    "\u0130nfinity",
    "\u212a. a.",
    "OD\u039f\u03a3",
    "od\u03bf\u03c2",
    "od\u03bf\u03c3",
]
ODD_WORDS += [
    "\u01c5a",
    "\u01c6a",
    "MA\u1e9e",
    "\U00010400",
    "\U00010428",
    "\u1c90",
    "\u10d0",
    "\ua7cb",
]
CODES = ["J45", "E 11", "E11", "-99", "-99.0", "N/A", "A", "B", "other", "A B", "AB", "0", "1", "2"]
FORMS = [
    "yyyy-mm-dd",
    "dd.mm.yyyy",
    "mm/dd/yyyy",
    "dd/mm/yyyy",
    "yyyy/mm/dd",
    "yyyymmdd",
    "ddmmyyyy",
]
FORMS += ["dd-mm-yyyy", "dd mm yyyy", "yyyy.mm.dd", "yyyy-dd-mm", "yy-mm-dd", "dd.mm/yyyy"]
DAYS = [
    (2024, 2, 1),
    (2024, 1, 2),
    (2024, 2, 29),
    (1, 1, 1),
    (9999, 12, 30),
    (2024, 13, 1),
    (2024, 0, 5),
]
DAYS += [
    (9999, 12, 31),
    (2024, 2, 30),
    (0, 1, 1),
    (2024, 5, 0),
    (2024, 5, 32),
    (2024, 12, 31),
    (2023, 10, 10),
]
TIMES = ["", "T", " ", "T10:00", " 23:59:59", "Tx", "x", "10", "Z", "\u00a010:00", "\u0085", "-"]
NUMBERS = [
    "",
    "-",
    "+",
    ".",
    "-.",
    "e",
    "e5",
    "1e",
    "1e+",
    "--1",
    "+-1",
    "1e1.5",
    "1e 5",
    "0x10",
    "1d",
    "1f",
]
NUMBERS += [
    "1e99",
    "1e-99",
    "1e100",
    "12e100",
    "1e299",
    "1e-299",
    "1e300",
    "1e308",
    "1e309",
    "2e308",
    "1e-300",
]
NUMBERS += [
    "1.000e308",
    "1.001e308",
    "1e007",
    "1e0",
    "-0",
    "-0.0",
    "9007199254740993",
    "1E5",
    "\u0661\u0662",
]
NUMBERS += [
    "\uff11",
    "\u00b2",
    "\u09e7",
    "1" * 29,
    "1" * 30,
    "1" * 31,
    "0." + "3" * 30,
    "0." + "3" * 31,
]
NUMBERS += [
    "0" * 30,
    "0" * 31,
    "1" * 500,
    "1e99999",
    "1,5",
    "1.5",
    "1'5",
    "1_000",
    "1 000",
    "1__000",
    "\u22125",
]


def written(day: tuple[int, int, int], form: str, *, short: bool) -> str:
    """Return a day in some form, with as few digits as can be or with all."""
    year, month, number = day
    width = 1 if short else 2
    text = form.replace("yyyy", f"{year:04}").replace("yy", f"{year % 100:02}")
    return text.replace("mm", f"{month:0{width}}").replace("dd", f"{number:0{width}}")


def numbers(draw: random.Random, spelling: Spelling) -> Iterator[str]:
    """Yield numbers with marks in right and in wrong places."""
    yield from NUMBERS
    marks = [spelling.thousands or ".", *draw.sample(MARKS, 2)]
    decimals = [spelling.decimal, spelling.decimal, *draw.sample(MARKS, 1)]
    for mark in marks:
        for groups in (
            ["1", "234"],
            ["12", "345", "678"],
            ["123", "456"],
            ["1", "23"],
            ["1234", "567"],
        ):
            sign, decimal = draw.choice(["", "-", "+"]), draw.choice(decimals)
            tail = draw.choice(
                ["", f"{decimal}5", f"{decimal}", f"{decimal}123{mark}456", "e3", f"{decimal}5e-2"]
            )
            yield sign + mark.join(groups) + tail
        yield from (
            f"{mark}234",
            f"1{mark}{mark}234",
            f"1{mark}234{mark}",
            f"{mark}",
            f"1{mark}2345",
        )
        yield mark.join(["1", *["234"] * 9, "567"])  # 31 digits
        yield mark.join(["234"] * 10)  # 30
    for decimal in decimals:
        yield from (
            f"12{decimal}5",
            f"{decimal}5",
            f"12{decimal}",
            f"1{decimal}2{decimal}3",
            f"-{decimal}",
        )


def days(draw: random.Random, spelling: Spelling) -> Iterator[str]:
    """Yield days in all forms, with what may stand behind them."""
    for day in DAYS:
        for form in [spelling.dates, "yyyy-mm-dd", *draw.sample(FORMS, 2)]:
            yield written(day, form, short=draw.random() < 0.4) + draw.choice(["", "", *TIMES])
    for time in TIMES:
        yield written((2024, 2, 1), spelling.dates, short=False) + time
        yield written((2024, 2, 1), spelling.dates, short=True) + time
    some = written((2024, 2, 1), spelling.dates, short=False)
    yield from (some[:-1], f"{some}0", f"0{some}", f"-{some}", some.replace("0", "\u0660"))


def words(draw: random.Random, spelling: Spelling) -> Iterator[str]:
    """Yield words and codes in any case, with spaces inside."""
    for word in [*WORDS, *spelling.yes, *spelling.no, *CODES, *ODD_WORDS]:
        yield word
        for cased in {word.upper(), word.title(), word.swapcase()} - {word}:
            if draw.random() < 0.6:
                yield cased
        if "i" in word:  # the letter whose capital is İ in Turkish
            yield word.upper().replace("I", "\u0130")
        if draw.random() < 0.5:
            at = draw.randrange(len(word) + 1)
            yield word[:at] + draw.choice(INNER + OTHER[1:4]) + word[at:]
    yield from (
        f"7{spelling.decimal}5",
        "5abc",
        "+inf",
        "-Infinity",
        "--inf",
        "+-inf",
        "a" * 5_000,
        '"',
        '""',
        "it's",
        "\ufffd",
        "\U0001f642",
    )


def cells(spelling: Spelling, seed: int) -> list[str | None]:
    """Return cells of every kind, some with spaces of any sort around them; and none."""
    draw = random.Random(seed)
    found: list[str | None] = [None]
    for text in (*numbers(draw, spelling), *days(draw, spelling), *words(draw, spelling)):
        found.append(text)
        if draw.random() < 0.25:
            space = draw.choice(INNER) if draw.random() < 0.7 else draw.choice(OTHER)
            found.append(space + text if draw.random() < 0.5 else text + space)
    return [*dict.fromkeys(found)]
