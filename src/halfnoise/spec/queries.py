"""Words turned into queries.

Every query takes a column (``visits=0:20``) or, to try things out, plain numbers (``0:20``).
Conditions are words that no shell eats: ``over_65=age:at-least:65``.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple, TypeVar

from halfnoise.checks import SPACES, number, refuse, whole_number
from halfnoise.errors import InvalidParameterError
from halfnoise.spec.header import Header
from halfnoise.spec.lists import ANYWHERE, Lists
from halfnoise.spec.tables import crossed
from halfnoise.spec.vocabulary import CROSSED
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.conditions import Where
from halfnoise.workload.numbers import Count, Counts, Mean, Sum
from halfnoise.workload.queries import Asked, Query
from halfnoise.workload.weights import Weight

Words = Mapping[str, Any]  # what was said, by word: text, a list of texts, or yes
NAMELESS = "(amount)", "(choice)", "(bands)", "(items)"  # the columns of plain numbers
NAMELESS_WEIGHT = "(weight)"
VARIANCE = ":variance"  # behind the bounds of a mean
MOST = 100_000  # categories, bands or items that are tried out by their number: a second's work
Amount = TypeVar("Amount", Sum, Mean)

_WORDS = ("at-least", "above", "below", "up-to", "between", "is", "in", "yes")
_MARK = re.compile(rf"(?=:({'|'.join(_WORDS)}):)")  # of which two may share a colon


class Condition(NamedTuple):
    """A condition in words."""

    name: str | None
    column: str
    word: str
    value: str


def queries(
    words: Words,
    header: Header | None,
    unit: Sequence[str],
    named: Sequence[str],
    lists: Callable[[str], Lists],
) -> list[Asked]:
    """Read all queries; ``named``: columns that are named beside them."""
    known = frozenset(() if header is None else header.names)
    texts = words.get("count") or ()
    asked: list[Query] = []
    if words.get("counts") is not None:
        asked.append(Counts(whole_number("--counts", words["counts"])))
    for kind, read in (("sum", sum_), ("mean", mean)):
        asked += [read(text) for text in words.get(kind) or ()]
    asked += [choice(text, lists("choice")) for text in words.get("choice") or ()]
    asked += [bins(text) for text in words.get("bins") or ()]
    asked += [items(text, None, lists("items")) for text in words.get("items") or ()]
    counts = {t: count(t, known, lists("count")) for t in texts if not _is_pattern(t, known)}
    patterns = [text for text in texts if text not in counts]
    literal = [*(query for found in counts.values() for query in found), *asked]
    if patterns and header is None:
        remedy = "name the data, whose header tells them, or say how many: --counts 20"
        raise refuse("--count", "a column where there is no table", patterns[0], remedy)
    if patterns and header is not None:
        also = [query.column for query in literal if not isinstance(query, Counts)]
        shown = [name for name in header.shown(patterns, [*named, *also]) if name not in unit]
        counts |= {text: matching(text, shown) for text in patterns}
    asked = [*(query for text in texts for query in counts[text]), *asked]
    if not asked and not words.get("table") and not words.get("nested"):
        ask = "ask for something, for example --count smoker, or --counts 100 to try things out"
        raise InvalidParameterError(f"there is nothing to publish yet; {ask}")
    for query in asked:
        if "," in query.label == query.column and query.column not in known:
            remedy = "say it once for each column"
            raise refuse(f"--{query.kind}", "given one column", query.column, remedy)
    found = distinct(asked)
    return crossed(words, found, lists("nested")) if {*CROSSED} & {*words} else [*found]


def count(text: str, columns: Collection[str] = (), lists: Lists = ANYWHERE) -> list[Count]:
    """Read ``--count COL``, or ``--count NAME=COL:at-least:65``.

    >>> count("over_65=age:at-least:65")[0].condition.values
    ('65',)
    """
    if text in columns:
        return [Count(text)]
    said = _condition("--count", text, columns, named=True)
    if said is not None:
        name, condition = said.name, _rule(said, lists)
        if not name and "true" not in condition:
            name = str(Where(said.column, **condition))
        return [Count(said.column, name=name, **condition)]
    if any(mark in text for mark in ":="):
        rule = f"a column or NAME=COLUMN:WORD:VALUE with one of the words {', '.join(_WORDS)}"
        raise refuse("--count", rule, text, "for example over_65=age:at-least:65")
    return [Count(text)]


def _is_pattern(text: str, columns: Collection[str]) -> bool:
    marked = any(mark in text for mark in "*?[") and not any(mark in text for mark in ":=")
    return marked and text not in columns


def matching(text: str, columns: Sequence[str]) -> list[Count]:
    """Read ``--count "feat_*"``.

    >>> [query.column for query in matching("feat_*", ["id", "feat_a", "feat_b"])]
    ['feat_a', 'feat_b']
    """
    found = [Count(column) for column in columns if fnmatchcase(column, text)]
    if not found:
        known = "check it, or name columns one by one (a header that could be a row is not matched)"
        raise InvalidParameterError(f"no column of the header matches --count {text!r}; {known}")
    return found


def where(text: str, lists: Lists = ANYWHERE) -> Where:
    """Read ``--where COL:at-least:18``."""
    said, known = _condition("--where", text, lists.columns), lists.columns
    if said is None or said.word == "yes" or ("=" in said.column and said.column not in known):
        raise refuse("--where", "written COL:WORD:VALUE", text, "for example age:at-least:18")
    return Where(said.column, **_rule(said, lists))


def amount(kind: type[Amount], text: str) -> Amount:
    """Read ``--sum COL=LO:HI``, ``--mean COL=LO:HI`` or ``0:20:variance``, or ``0:20`` alone.

    >>> sum_("visits=0:20").bounds
    (0.0, 20.0)
    """
    flag = f"--{kind.__name__.lower()}"
    varies = kind is Mean and text.endswith(VARIANCE)
    text = text.removesuffix(VARIANCE) if varies else text
    column, low, high = _bounded(flag, text, "visits=0:20", name="(amount)")
    given: dict[str, Any] = {"variance": True} if varies else {}
    return kind(column, bounds=(low, high), **given)


sum_, mean = partial(amount, Sum), partial(amount, Mean)


def weight(flag: str, text: str) -> Weight:
    """Read ``--weight COL=LO:HI``, or ``0:5`` alone.

    >>> weight("--weight", "w=0:5").bounds
    (0.0, 5.0)
    """
    column, low, high = _bounded(flag, text, "w=0:5", name=NAMELESS_WEIGHT)
    return Weight(column, bounds=(low, high))


def _bounded(flag: str, text: str, example: str, *, name: str) -> tuple[str, float, float]:
    column, bounds = column_and_rest(flag, text, name=name)
    low, colon, high = bounds.partition(":")
    if not colon or ":" in high:
        raise refuse(flag, "written COLUMN=LOW:HIGH", text, f"for example {flag} {example}")
    return column, number(flag, low), number(flag, high)


def choice(text: str, lists: Lists = ANYWHERE) -> Choice:
    """Read ``--choice COL=A,B,C``, or the number of categories alone ("other" comes on top).

    >>> len(choice("5").categories)
    6
    """
    column, listed = column_and_rest("--choice", text, name="(choice)", lists=lists)
    return Choice(column, _listed("--choice", listed, lists, named="=" in text))


def bins(text: str) -> Bins:
    """Read ``--bins COL=0,18,65``, or the number of bands alone ("other" comes on top)."""
    column, listed = column_and_rest("--bins", text, name="(bands)")
    if "=" not in text:
        return Bins(column, tuple(map(float, range(_how_many("--bins", listed)))))
    return Bins(column, tuple(number("--bins", edge) for edge in listed.split(",")))


def items(text: str, at_most: int | None, lists: Lists = ANYWHERE) -> Items:
    """Read ``--items COL=a,b,c``, ``--items COL=@items.txt``, or the number of items alone."""
    column, listed = column_and_rest("--items", text, name="(items)", lists=lists)
    found = _listed("--items", listed, lists, named="=" in text)
    return Items(column, found, at_most=at_most)


def distinct(queries: Sequence[Query]) -> list[Query]:
    """Tell apart queries that have no column and would have the same name."""
    seen, named = Counter[str](), list(queries)
    for i, query in enumerate(queries):
        seen[query.label] += 1
        if seen[query.label] > 1 and not isinstance(query, Counts) and query.column in NAMELESS:
            named[i] = replace(query, name=f"{query.label} #{seen[query.label]}")
    return named


def _condition(
    flag: str, text: str, columns: Collection[str], *, named: bool = False
) -> Condition | None:
    """Part a text at its word; the header tells which mark is one, and two ways are refused."""
    every, usual = list[Condition](), list[Condition]()
    for mark in _MARK.finditer(text):
        left, rest = text[: mark.start()], (mark[1], text[mark.start() + len(mark[1]) + 2 :])
        signs = [i for i, sign in enumerate(left) if sign == "=" and 0 < i < len(left) - 1]
        parted = [Condition(left[:i], left[i + 1 :], *rest) for i in signs if named]
        whole = [Condition(None, left, *rest)] if left else []
        every, usual = [*every, *whole, *parted], [*usual, *(parted or whole)]
    likely = [each for each in every if each.column in columns] or usual
    if len(likely) > 1:
        ways = " or ".join(repr(each.column) for each in likely)
        raise refuse(flag, "a condition that reads one way", text, f"it may be on {ways}")
    return likely[0] if likely else None


def _rule(said: Condition, lists: Lists) -> dict[str, Any]:
    word, value = said.word, said.value.strip(SPACES)
    if not value:
        written = f"{said.column}:{word}:{said.value}"
        raise refuse("a condition", "written COLUMN:WORD:VALUE", written, "give the value")
    if word == "between":
        low, dots, high = value.partition("..")
        if not dots:
            raise refuse("between", "written LOW..HIGH", value, "for example between:18..64")
        return {"between": (_size(low, lists), _size(high, lists))}
    if word == "yes":
        return {"true": lists.split(value)}
    if word in ("is", "in"):
        values = [_code(each, lists) for each in ([value] if word == "is" else lists.split(value))]
        return {"equals": values[0]} if word == "is" else {"is_in": tuple(values)}
    return {word.replace("-", "_"): _size(value, lists)}


def _size(value: str, lists: Lists) -> str:
    """Read what cells are more or less than; refuse what could be a number or a day."""
    day = lists.day(value)
    if day is not None and value.strip().isdecimal():
        remedy = f"a day is written {day}, a number {value.strip()}.0"
        raise refuse("a condition", "one on a number or on a day", value, remedy)
    return value if day is None else day


def _code(value: str, lists: Lists) -> str:
    """Read what cells are: a day however they write it, or else what is written."""
    day = None if value.isdecimal() else lists.day(value)
    return value if day is None else day


def column_and_rest(flag: str, text: str, name: str, lists: Lists | None = None) -> tuple[str, str]:
    """Part a text at its last sign; without one all of it is the rest, of ``name``.

    A list may hold signs, as "<=10" is a category: it begins behind a column of the header.
    """
    ways = [text[: sign.start()] for sign in re.finditer("=", text)]
    likely = [each for each in ways if lists and each in lists.columns]
    if len(likely) > 1:
        remedy = f"it may be of {' or '.join(map(repr, likely))}; rename one"
        raise refuse(flag, "a list that reads one way", text, remedy)
    column = next(iter(likely or ways if lists else ways[::-1]), None)
    rest = text if column is None else text[len(column) + 1 :]
    if column is not None and not (column and rest):
        raise refuse(flag, "written COLUMN=...", text)
    return name if column is None else column, rest


def _how_many(flag: str, text: str) -> int:
    many = whole_number(flag, text) if text.lstrip("-").isdigit() else 0
    if not 1 <= many <= MOST:
        rule = f"written COLUMN=A,B,C or a whole number from 1 to {MOST:,}"
        raise refuse(flag, rule, text)
    return many


def _listed(flag: str, text: str, lists: Lists, *, named: bool) -> tuple[str, ...]:
    if named:
        return lists.values(flag, text)
    return tuple(str(i + 1) for i in range(_how_many(flag, text)))
