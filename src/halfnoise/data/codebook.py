"""What only the codebook tells: a line for each column that leaves something open."""

from collections.abc import Iterator, Mapping, Sequence

from narwhals.dtypes import DType

from halfnoise.data.codes import numbers_among
from halfnoise.data.meaning import kind_of
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.spelling import BLANKS, ISO
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Literal, Where, as_date
from halfnoise.workload.numbers import Bounded, Count
from halfnoise.workload.queries import each_alone
from halfnoise.workload.workload import Workload

_CODES = "are there codes for no answer (-99, 9, N/A)? None is declared."
_UNIT = "are its values in the unit that is asked for?"
_SPELLED = "are these all its codes, each spelled as listed?"
_ONE = "has each cell one code? Else say what parts several (--split)."
_DAYS = "are its days written 2026-11-15? Others are no answer."
_COMMA = "numbers: is the decimal mark a comma, as often beside ';'? Then say --decimal ,"
_UTF8 = "text: is it in UTF-8? Beside ';' it is often in cp1252, whose umlauts would be missing"
_BLANK = "numbers: is the space between thousands the one that is called"
Questions = Iterator[tuple[str, str]]  # by column


def open_questions(
    workload: Workload,
    dtypes: Mapping[str, DType],
    text: TextFormat,
    unit: Sequence[str],
    *,
    rows: bool,
) -> list[str]:
    """Return what to look up before a release, column by column, and what holds for the file.

    ``rows``: each row is a person.
    """
    asked: dict[str, dict[str, None]] = {}
    kinds = {column: kind_of(dtype) for column, dtype in dtypes.items()}
    queries = [*each_alone(workload.queries)]
    conditions = [each for query in queries for each in _conditions(query)]
    conditions += workload.who
    for query in queries:
        if isinstance(query, ColumnQuery) and (column := str(query.column)) in kinds:
            for question in _of_query(query, kinds[column], text):
                asked.setdefault(column, {})[question] = None
    for where in conditions:
        if where.column in kinds:
            for question in _of_condition(where, kinds[where.column], text):
                asked.setdefault(where.column, {})[question] = None
    for column, question in (*_of_people(workload, unit, rows=rows), *_of_groups(workload)):
        if question != _DAYS or (kinds.get(column) == "text" and text.dates == ISO):
            asked.setdefault(column, {})[question] = None
    lines = [f"{column}: {' '.join(questions)}" for column, questions in asked.items()]
    numbers = any(_UNIT in said and kinds.get(column) == "text" for column, said in asked.items())
    return [*lines, *(_of_file(text, numbers=numbers) if "text" in kinds.values() else ())]


def _of_file(text: TextFormat, *, numbers: bool) -> Iterator[str]:
    if numbers and (own := BLANKS.get(text.thousands or "")):
        others = " or ".join(word for word in (*BLANKS.values(), "none") if word != own)
        yield f"{_BLANK} {own}? Else say --thousands {others}."
    if text.delimiter == ";" and numbers and text.decimal == ".":
        yield _COMMA
    if text.delimiter == ";" and text.encoding == "utf-8":
        yield f"{_UTF8} (--encoding)."


def _conditions(query: object) -> Iterator[Where]:
    if isinstance(query, ColumnQuery):
        own = query.condition if isinstance(query, Count) else None
        yield from (each for each in (own, query.where) if each is not None)


def _of_query(query: ColumnQuery, kind: str, text: TextFormat) -> Iterator[str]:
    if isinstance(query, Count):
        yield from _missing(query.true, query)
    if isinstance(query, Count) and (query.condition is not None or kind == "yes and no"):
        return
    if isinstance(query, Count) and not query.true and not text.yes:
        words = "1, true, yes, y or t" if kind == "text" else "1"
        yield f"is yes written {words}? Else say its codes (:yes:)."
    if isinstance(query, Bounded | Bins):
        yield _UNIT
    if isinstance(query, Choice | Items):
        yield from _missing(query.categories if isinstance(query, Choice) else query.items, query)
        yield _SPELLED
    if isinstance(query, Items) and query.split is None and kind == "text":
        yield _ONE
    if not query.codes and isinstance(query, Bounded | Bins):
        yield _CODES


def _of_condition(where: Where, kind: str, text: TextFormat) -> Iterator[str]:
    if where.word in ("equals", "is_in"):
        yield from _missing(where.values, where)
        yield _SPELLED
    elif as_date(where.values[0]) is None:
        yield _UNIT
        if not where.codes:
            yield _CODES
    elif kind == "text" and text.dates == ISO:
        yield _DAYS


def _missing(listed: Sequence[Literal], asked: ColumnQuery | Where) -> Iterator[str]:
    """Tell of the first listed value, if any, that is a code for no answer, too."""
    texts, numbers = {*map(str, asked.codes)}, {*numbers_among(asked.codes)}
    both = (each for each in listed if str(each) in texts or numbers & {*numbers_among([each])})
    yield from (f"{each!r} is listed, but counts as no answer." for each in [*both][:1])


def _of_people(workload: Workload, unit: Sequence[str], *, rows: bool) -> Questions:
    for column in unit:
        yield column, "is it the same in all rows of a person, and in nobody else's?"
    if rows:
        yield "rows", "has nobody more than one?"
    if workload.weight is not None:
        yield workload.weight.column, "is it the person's weight, and the same in all their rows?"


def _of_groups(workload: Workload) -> Questions:
    if (grouping := workload.grouping) is None:
        return
    lists = grouping.listed or (None,) * len(grouping.by)
    for by, listed in zip(grouping.by, lists, strict=True):
        if by.bands is not None:
            yield from ((by.column, question) for question in (_UNIT, *[_CODES][: not by.codes]))
        elif by.every is not None:
            yield by.column, _DAYS
        else:
            found = grouping.discovers and listed is None
            yield by.column, "does no name of a group name a person?" if found else _SPELLED
