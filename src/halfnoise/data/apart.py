"""Values of a request that would be one where neither case nor spaces matter: refused unread."""

from collections.abc import Iterable, Iterator

from halfnoise.data.spelling import Spelling, folded
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.categories import Choice
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Literal, Where
from halfnoise.workload.numbers import Count
from halfnoise.workload.queries import each_alone
from halfnoise.workload.workload import Workload


def check_apart(workload: Workload, spelling: Spelling) -> None:
    """Refuse values of which two are one; items, and groups among each other, are read once anyway.

    >>> check_apart(Workload([Choice("blood", ["A", "a "])]), Spelling(ignore_case=True))
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: the categories 'A' and 'a ' are the same with \
ignore_case; list one of them, or leave ignore_case out
    """
    for what, values in _listed(workload) if spelling.ignore_case else ():
        first = dict[str, str]()
        for text in dict.fromkeys(str(value) for value in values):
            if (other := first.setdefault(folded(text), text)) != text:
                same = f"the {what} {other!r} and {text!r} are the same with ignore_case"
                raise InvalidParameterError(f"{same}; list one of them, or leave ignore_case out")


def _listed(workload: Workload) -> Iterator[tuple[str, Iterable[Literal]]]:
    """Yield the lists of values with which cells are compared."""
    asked: list[ColumnQuery | Where] = [*workload.who]
    for query in each_alone(workload.queries):
        if isinstance(query, ColumnQuery):
            asked += [query, *([] if query.where is None else [query.where])]
        if isinstance(query, Choice):
            yield "categories", query.categories
        if isinstance(query, Count):
            asked += [] if query.condition is None else [query.condition]
            yield "codes for yes", query.true
    yield "codes for no weight", () if workload.weight is None else workload.weight.codes
    groups = workload.grouping
    if groups is not None and (name := groups.missing) is not None:  # which stands for no key
        parts = groups.listed if groups.keys is None else groups.keys.columns
        keys = (str(key) for part in parts for key in part or () if key is not None)
        yield "groups", [*(key for key in keys if folded(key) == folded(name)), name]
    for each in asked:
        yield "codes for missing", each.codes
        if isinstance(each, Where):
            yield "values", each.values
