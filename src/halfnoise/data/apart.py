"""Values of a request that read the same, so that one of them would be nobody's: refused unread."""

from collections.abc import Iterable, Iterator

from halfnoise.data.codes import numbers_among
from halfnoise.data.spelling import SPACES, Spelling, folded
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.categories import Choice
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Literal, Where
from halfnoise.workload.numbers import Count
from halfnoise.workload.queries import each_alone
from halfnoise.workload.workload import Workload

_CATEGORIES, _GROUPS = "categories", "groups"


def check_apart(workload: Workload, spelling: Spelling) -> None:
    """Refuse values of which two are one; items, and groups among each other, are read once anyway.

    >>> check_apart(Workload([Choice("blood", ["A", "a "])]), Spelling(ignore_case=True))
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: the categories 'A' and 'a ' are the same with \
ignore_case; list one of them, or leave ignore_case out
    >>> check_apart(Workload([Choice("ward", ["01", "1"])]), Spelling())
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: the categories '01' and '1' are the same; list one of \
them, or take them as text alone, by items
    """
    for what, values in _listed(workload, codes=spelling.ignore_case):
        first = dict[object, Literal]()
        for value in values if what == _CATEGORIES else dict.fromkeys(map(str, values)):
            for reading, remedy in _readings(what, value, spelling):
                if (other := first.setdefault(reading, value)) is not value:
                    same = f"the {what} {other!r} and {value!r} are the same"
                    raise InvalidParameterError(f"{same}{remedy}")


def _readings(what: str, value: Literal, spelling: Spelling) -> Iterator[tuple[object, str]]:
    """Yield what a cell may be to be a value, and what to do where another one is that, too.

    Of codes any one will do; categories and groups each stand for themselves.
    """
    text, one = str(value).strip(SPACES), "; list one of them"
    if what in (_CATEGORIES, _GROUPS):
        yield text, one
    for number in numbers_among([value]) if what == _CATEGORIES else ():
        yield number, f"{one}, or take them as text alone, by items"
    if spelling.ignore_case:
        yield (folded(text),), f" with ignore_case{one}, or leave ignore_case out"


def _listed(workload: Workload, *, codes: bool) -> Iterator[tuple[str, Iterable[Literal]]]:
    """Yield the lists of values with which cells are compared; ``codes``: those of counts, too."""
    asked: list[ColumnQuery | Where] = [*workload.who]
    for query in each_alone([q for q in workload.queries if codes or not isinstance(q, Count)]):
        if isinstance(query, ColumnQuery):
            asked += [query, *([] if query.where is None else [query.where])]
        if isinstance(query, Choice):
            yield _CATEGORIES, query.categories
        if isinstance(query, Count):
            asked += [] if query.condition is None else [query.condition]
            yield "codes for yes", query.true
    yield "codes for no weight", () if workload.weight is None else workload.weight.codes
    groups = workload.grouping
    if groups is not None and (name := groups.missing) is not None:  # which stands for no key
        parts = groups.listed if groups.keys is None else groups.keys.columns
        keys = (str(key) for part in parts for key in part or () if key is not None)
        small = folded(name)  # of a million keys most are told apart sooner
        own = (k for k in keys if (folded(k) == small if codes else name in k))
        yield _GROUPS, [*(k for k in own if codes or k.strip(SPACES) == name), name]
    for each in asked:
        yield "codes for missing", each.codes
        if isinstance(each, Where):
            yield "values", each.values
