"""Words turned into queries.

Every query takes a column (``visits=0:20``) or, to try things out, plain numbers (``0:20``).
Conditions are words that no shell eats: ``over_65=age:at-least:65``.
"""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from halfnoise.checks import number, refuse, whole_number
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.conditions import Where
from halfnoise.workload.numbers import Count, Counts, Mean, Sum
from halfnoise.workload.queries import Query

Words = Mapping[str, Any]  # what was said, by word: text, a list of texts, or yes
NAMELESS = "(amount)", "(choice)", "(bands)", "(items)"  # the columns of plain numbers
Amount = TypeVar("Amount", Sum, Mean)

_WORDS = ("at-least", "above", "below", "up-to", "between", "is", "in", "yes")
_CONDITION = re.compile(
    rf"(?:(?P<name>[^=]+)=)?(?P<column>.+?):(?P<word>{'|'.join(_WORDS)}):(?P<value>.*)"
)


def queries(
    words: Words, columns: Sequence[str] | None, unit: Sequence[str], at_most: int | None
) -> list[Query]:
    """Read all queries, with what holds for all of them; ``at_most`` is the limit of items."""
    others = None if columns is None else [name for name in columns if name not in unit]
    asked: list[Query] = []
    for text in words.get("count") or ():
        asked += count(text, others)
    if words.get("counts") is not None:
        asked.append(Counts(whole_number("--counts", words["counts"])))
    for kind, read in (("sum", sum_), ("mean", mean), ("choice", choice), ("bins", bins)):
        asked += [read(text) for text in words.get(kind) or ()]
    asked += [items(text, at_most) for text in words.get("items") or ()]
    if not asked:
        ask = "ask for something, for example --count smoker, or --counts 100 to try things out"
        raise InvalidParameterError(f"there is nothing to publish yet; {ask}")
    missing, condition = split(words.get("missing") or ""), words.get("where")
    only = None if condition is None else where(condition)
    everywhere: dict[str, Any] = {"missing": missing, "where": only} if missing or only else {}
    return [q if isinstance(q, Counts) else replace(q, **everywhere) for q in distinct(asked)]


def count(text: str, columns: Sequence[str] | None = None) -> list[Count]:
    """Read ``--count COL``, ``--count NAME=COL:at-least:65``, or ``--count "feat_*"``.

    >>> count("over_65=age:at-least:65")[0].condition.values
    ('65',)
    >>> [query.column for query in count("feat_*", columns=["id", "feat_a", "feat_b"])]
    ['feat_a', 'feat_b']
    """
    match = _CONDITION.fullmatch(text)
    if match is not None:
        name, column, condition = match["name"], match["column"], _condition(match)
        if not name and "true" not in condition:
            name = str(Where(column, **condition))
        return [Count(column, name=name, **condition)]
    if columns is None or text in columns:
        return [Count(text)]
    if any(mark in text for mark in ":="):
        rule = f"a column or NAME=COLUMN:WORD:VALUE with one of the words {', '.join(_WORDS)}"
        raise refuse("--count", rule, text, "for example over_65=age:at-least:65")
    if not any(mark in text for mark in "*?["):
        return [Count(text)]
    matching = [Count(column) for column in columns if fnmatchcase(column, text)]
    if not matching:
        known = "check it, or name columns one by one (a header that could be a row is not matched)"
        raise InvalidParameterError(f"no column of the header matches --count {text!r}; {known}")
    return matching


def where(text: str) -> Where:
    """Read ``--where COL:at-least:18``."""
    match = _CONDITION.fullmatch(text)
    if match is None or match["word"] == "yes" or match["name"]:
        raise refuse("--where", "written COL:WORD:VALUE", text, "for example age:at-least:18")
    return Where(match["column"], **_condition(match))


def amount(kind: type[Amount], text: str) -> Amount:
    """Read ``--sum COL=LO:HI`` or ``--mean COL=LO:HI``, or ``0:20`` alone.

    >>> sum_("visits=0:20").bounds
    (0.0, 20.0)
    """
    flag = f"--{kind.__name__.lower()}"
    column, bounds = column_and_rest(flag, text, name="(amount)")
    low, colon, high = bounds.partition(":")
    if not colon:
        raise refuse(flag, "written COLUMN=LOW:HIGH", bounds, f"for example {flag} visits=0:20")
    return kind(column, bounds=(number(flag, low), number(flag, high)))


sum_, mean = partial(amount, Sum), partial(amount, Mean)


def choice(text: str) -> Choice:
    """Read ``--choice COL=A,B,C``, or the number of categories alone ("other" comes on top).

    >>> len(choice("5").categories)
    6
    """
    column, listed = column_and_rest("--choice", text, name="(choice)", listed=True)
    return Choice(column, _listed("--choice", listed, named="=" in text))


def bins(text: str) -> Bins:
    """Read ``--bins COL=0,18,65``, or the number of bands alone ("other" comes on top)."""
    column, listed = column_and_rest("--bins", text, name="(bands)")
    if "=" not in text:
        return Bins(column, tuple(map(float, range(_how_many("--bins", listed)))))
    return Bins(column, tuple(number("--bins", edge) for edge in listed.split(",")))


def items(text: str, at_most: int | None) -> Items:
    """Read ``--items COL=a,b,c``, ``--items COL=@items.txt``, or the number of items alone."""
    column, listed = column_and_rest("--items", text, name="(items)", listed=True)
    return Items(column, _listed("--items", listed, named="=" in text), at_most=at_most)


def distinct(queries: Sequence[Query]) -> list[Query]:
    """Tell apart queries that have no column and would have the same name."""
    seen, named = Counter[str](), list(queries)
    for i, query in enumerate(queries):
        seen[query.label] += 1
        if seen[query.label] > 1 and not isinstance(query, Counts) and query.column in NAMELESS:
            named[i] = replace(query, name=f"{query.label} #{seen[query.label]}")
    return named


def split(text: str) -> tuple[str, ...]:
    """Read a list: ``a,b,c``, or ``@file`` with one to a line; what is empty is left out.

    >>> split("a, b,c,"), split('a,"b, c"')
    (('a', 'b', 'c'), ('a', 'b, c'))
    """
    return tuple(part.strip() for part in entries(text) if part.strip())


def entries(text: str) -> list[str]:
    """Return the parts of a list as they are written."""
    if not text.startswith("@"):
        return next(csv.reader([text], skipinitialspace=True), [])
    try:
        return Path(text[1:]).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        said = f"the list {text[1:]!r} could not be read; name a text file with one to a line"
        raise InvalidParameterError(said) from None


def _condition(match: re.Match[str]) -> dict[str, Any]:
    word, value = match["word"], match["value"].strip()
    if not value:
        raise refuse("a condition", "written COLUMN:WORD:VALUE", match[0], "give the value")
    if word == "between":
        low, dots, high = value.partition("..")
        if not dots:
            raise refuse("between", "written LOW..HIGH", value, "for example between:18..64")
        return {"between": (low, high)}
    if word in ("in", "yes"):
        return {"is_in" if word == "in" else "true": split(value)}
    return {"equals" if word == "is" else word.replace("-", "_"): value}


def column_and_rest(flag: str, text: str, *, name: str, listed: bool = False) -> tuple[str, str]:
    """Part a text at its sign; without one all of it is the rest, of ``name``."""
    # A column's name may hold the sign; before a list it may not, as "<=10" is a category.
    column, equals, rest = text.partition("=") if listed else text.rpartition("=")
    if equals and not (column and rest):
        raise refuse(flag, "written COLUMN=...", text)
    return (column, rest) if equals else (name, text)


def _how_many(flag: str, text: str) -> int:
    many = whole_number(flag, text) if text.lstrip("-").isdigit() else 0
    if many < 1:
        raise refuse(flag, "written COLUMN=A,B,C or a whole number of at least 1", text)
    return many


def _listed(flag: str, text: str, *, named: bool) -> tuple[str, ...]:
    return split(text) if named else tuple(str(i + 1) for i in range(_how_many(flag, text)))
