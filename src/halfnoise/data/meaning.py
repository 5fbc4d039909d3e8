"""What cells will be read as, in words: by the declared types and words alone, never by rows."""

from collections.abc import Iterator, Mapping, Sequence

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType

from halfnoise.data.spelling import BLANKS, ISO, NO, YES, Spelling
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Literal, Where, as_date, as_number
from halfnoise.workload.numbers import Bounded, Count, Mean
from halfnoise.workload.queries import Query
from halfnoise.workload.weights import Weight

MOST = 10  # codes that are shown of a list
Types = Mapping[str, DType]


def kind_of(dtype: DType) -> str:
    """Return what a column holds, in words.

    >>> kind_of(nw.String()), kind_of(nw.Int64()), kind_of(nw.Boolean())
    ('text', 'whole numbers', 'yes and no')
    """
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype == nw.Boolean:
        return "yes and no"
    if dtype.is_integer():
        return "whole numbers"
    if dtype.is_numeric():
        return "numbers"
    known = {nw.Date: "days", nw.Datetime: "moments"}
    return next((said for kind, said in known.items() if dtype == kind), type(dtype).__name__)


def readings(query: Query, dtypes: Types, spelling: Spelling) -> Iterator[str]:
    """Say how the cells of a query are read, line by line."""
    if not isinstance(query, ColumnQuery):
        return
    kind = kind_of(dtypes[str(query.column)])
    if isinstance(query, Count):
        yield from _count(query, kind, spelling)
    elif isinstance(query, Bounded):
        yield from _amount(query, kind, spelling)
    elif isinstance(query, Bins):
        yield _numbers(kind, spelling)
        yield f"a band begins with its first number; below, and no number: {query.other!r}"
    elif isinstance(query, Choice):
        yield from codes([x for x in query.categories if x != query.other], kind, spelling)
        yield f"any other value, and none: {query.other!r}; of several rows the first in the list"
    elif isinstance(query, Items):
        yield from _items(query, kind, spelling)
    if query.codes:
        yield f"no answer: an empty cell, or {'; '.join(codes(query.codes, kind, spelling))}"
    if query.where is not None:
        yield from condition(query.where, dtypes, spelling)


def _items(query: Items, kind: str, spelling: Spelling) -> Iterator[str]:
    how = f"as text, {_case(spelling)}" if kind == "text" else "as whole numbers"
    yield f"{len(query.items):,} items, {how}; what is not listed is left out"
    if begins := sum(code.begins for code in query.listed):
        yield f"{begins:,} of them, with *, every code that begins so"


def _count(query: Count, kind: str, spelling: Spelling) -> Iterator[str]:
    if query.condition is not None:
        yield from _condition(query.condition, kind, spelling)
    elif query.true:
        yield f"yes: {'; '.join(codes(query.true, kind, spelling))}; anything else is no"
    elif kind == "text":
        words, one = ", ".join(spelling.yes_words), f"1 (1{spelling.decimal}0, +1)"
        yield f"yes: {words} in capitals or not, or the number {one}; anything else is no"
    else:
        yield "yes: true" if kind == "yes and no" else "yes: the number 1; any other is no"


def _amount(query: Bounded, kind: str, spelling: Spelling) -> Iterator[str]:
    low, high = query.bounds
    yield _numbers(kind, spelling)
    yield f"below {low:g} counts as {low:g}, above {high:g} as {high:g}"
    if isinstance(query, Mean):
        yield "whoever has none is not in the mean; of several rows a person's average counts"
    else:
        yield f"whoever has none counts as {min(max(0.0, low), high):g}; a person's rows add up"


def weighed(weight: Weight, dtypes: Types, spelling: Spelling) -> Iterator[str]:
    """Say how the cells of a weight are read."""
    (low, high), kind = weight.bounds, kind_of(dtypes[weight.column])
    yield f"{weight.column} ({kind}): {_numbers(kind, spelling)}"
    yield f"below {low:g} counts as {low:g}, above {high:g} as {high:g}, and none as {low:g}"
    yield "of several rows a person's largest counts"
    if weight.codes:
        yield f"no weight: an empty cell, or {'; '.join(codes(weight.codes, kind, spelling))}"


def condition(where: Where, dtypes: Types, spelling: Spelling) -> Iterator[str]:
    """Say how the cells of a condition are read."""
    kind = kind_of(dtypes[where.column])
    yield from (f"{where.column} ({kind}): {said}" for said in _condition(where, kind, spelling))


def _condition(where: Where, kind: str, spelling: Spelling) -> Iterator[str]:
    if where.word in ("equals", "is_in"):
        yield from codes(where.values, kind, spelling)
    elif all(as_date(value) is not None for value in where.values):
        form = f", {_days(spelling)}" if kind == "text" else ""
        yield f"as days{form}; whoever has none does not meet it"
    else:
        yield f"{_numbers(kind, spelling)}; whoever has none does not meet it"


def codes(listed: Sequence[Literal], kind: str, spelling: Spelling) -> Iterator[str]:
    """Say how a list of codes is compared with the cells of a column.

    >>> for line in codes(["1", "F, x", "2026-02-01"], "text", Spelling()):
    ...     print(line)
    as text, capitals as they are: 1, "F, x", 2026-02-01
    also as numbers, however written (1.0): 1
    also as days, written yyyy-mm-dd, with a time or without: 2026-02-01
    """
    numbers = [each for each in listed if isinstance(each, bool) or as_number(each) is not None]
    days = [each for each in listed if as_date(each) is not None]
    if kind == "text":
        yield f"as text, {_case(spelling)}: {_some(listed)}"
        if numbers:
            yield f"also as numbers, however written{_other(numbers, spelling)}: {_some(numbers)}"
        if days:
            yield f"also as days, {_days(spelling)}: {_some(days)}"
        return
    answers = [each for each in listed if str(each).strip().lower() in (*YES, *NO)]
    answers += [each for each in numbers if as_number(each) in (0, 1)]
    known = {
        "days": ("days", days),
        "moments": ("days", days),
        "yes and no": ("yes or no", answers),
    }
    said, fit = known.get(kind, ("numbers", numbers))
    if fit:
        yield f"as {said}: {_some(fit)}"
    if never := [each for each in listed if each not in fit]:
        yield f"never, since the column holds {kind}: {_some(never)}"


def _other(numbers: Sequence[Literal], spelling: Spelling) -> str:
    """Write another spelling of the first whole number, if there is one."""
    whole = [each for each in map(str, numbers) if each.removeprefix("-").isdecimal()]
    return f" ({whole[0]}{spelling.decimal}0)" if whole else ""


def _case(spelling: Spelling) -> str:
    ignored = "in capitals or not, with spaces or without"
    return ignored if spelling.ignore_case else "capitals as they are"


def _days(spelling: Spelling) -> str:
    forms = " or ".join(dict.fromkeys((ISO, spelling.dates)))
    return f"written {forms}, with a time or without"


def _numbers(kind: str, spelling: Spelling) -> str:
    if kind != "text":
        return "as numbers"
    marks = f"decimal mark {spelling.decimal}"
    thousands = BLANKS.get(spelling.thousands or "", spelling.thousands)
    marks += f", {thousands} between thousands" if thousands else ""
    words = "true is 1, false is 0, inf is more than any"
    return f"as numbers ({marks}; {words}); anything else is no answer"


def _some(listed: Sequence[Literal]) -> str:
    more = f" and {len(listed) - MOST:,} more" if len(listed) > MOST else ""
    return ", ".join(f'"{x}"' if "," in str(x) else str(x) for x in listed[:MOST]) + more
