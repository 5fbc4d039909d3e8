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
_APART = (_CATEGORIES, _GROUPS)  # each stands for itself, so that two that are one would mislead


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
    for what, values in _listed(workload):
        if not spelling.ignore_case and what not in _APART:
            continue  # any of them will do
        first = dict[object, Literal]()
        for value in values:
            for reading in _readings(value, spelling, numbers=what == _CATEGORIES):
                if (other := first.setdefault(reading, value)) is not value:
                    raise _same(what, other, value, spelling)


def _readings(value: Literal, spelling: Spelling, *, numbers: bool) -> Iterator[object]:
    """Yield what a cell may be to be a value: text, and a number where it is compared as one."""
    text = str(value).strip(SPACES)
    yield folded(text) if spelling.ignore_case else text
    if numbers:
        yield from numbers_among([value])


def _same(what: str, one: Literal, other: Literal, spelling: Spelling) -> InvalidParameterError:
    same = f"the {what} {one!r} and {other!r} are the same"
    if spelling.ignore_case and folded(str(one)) == folded(str(other)):
        same, remedy = f"{same} with ignore_case", ", or leave ignore_case out"
    else:
        remedy = ", or take them as text alone, by items" * (what == _CATEGORIES)
    return InvalidParameterError(f"{same}; list one of them{remedy}")


def _listed(workload: Workload) -> Iterator[tuple[str, Iterable[Literal]]]:
    """Yield the lists of values with which cells are compared."""
    asked: list[ColumnQuery | Where] = [*workload.who]
    for query in each_alone(workload.queries):
        if isinstance(query, ColumnQuery):
            asked += [query, *([] if query.where is None else [query.where])]
        if isinstance(query, Choice):
            yield _CATEGORIES, query.categories
        if isinstance(query, Count):
            asked += [] if query.condition is None else [query.condition]
            yield "codes for yes", _once(query.true)
    yield "codes for no weight", () if workload.weight is None else _once(workload.weight.codes)
    groups = workload.grouping
    if groups is not None and (name := groups.missing) is not None:  # which stands for no key
        parts = groups.listed if groups.keys is None else groups.keys.columns
        keys = _once(key for part in parts for key in part or () if key is not None)
        yield _GROUPS, [*(key for key in keys if folded(key) == folded(name)), name]
    for each in asked:
        yield "codes for missing", _once(each.codes)
        if isinstance(each, Where):
            yield "values", _once(each.values)


def _once(values: Iterable[Literal]) -> Iterable[str]:
    """Return values as text, each once."""
    return dict.fromkeys(map(str, values))
