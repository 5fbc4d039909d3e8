"""Which requests are the same: those that nothing which comes out, or what it means, tells apart.

What was worked out is compared, not what was said, so that it does not matter where and in which
words it was. Whatever is not known here is refused: what an object shows of itself may leave out
what tells it from others.
"""

import codecs
import datetime as dt
import enum
import hashlib
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import singledispatch
from json import dumps
from json.encoder import encode_basestring_ascii
from typing import cast

from halfnoise.data.expressions import written
from halfnoise.data.sources.source import TextFormat
from halfnoise.errors import NotSupportedError
from halfnoise.workload.block import Block
from halfnoise.workload.by import By
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import WORDS, Literal, Where, as_date, as_number
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.groups import Grouping
from halfnoise.workload.workload import Workload

VERSION = 2  # of what is below: another one makes every request another
_KINDS = (type(None), bool, int, float, str, dt.datetime, dt.date)
_ANY_ORDER = ("true", "missing")  # of a query: codes, of which any will do
_BY_CELL = ("by", "within")  # of a query: which tables it is in, told with those


def digest(*values: object) -> str:
    """Return a hash of values: the same for the same alone.

    >>> digest(Where("age", at_least=65)) == digest(Where("age", at_least="65.0"))
    True
    """
    return hashlib.sha256(_list([str(VERSION), told(values)]).encode()).hexdigest()


@singledispatch
def told(value: object) -> str:
    """Return what tells a value from others, as JSON."""
    if isinstance(value, type) or not is_dataclass(value):
        kind = type(value).__name__
        why = "it could not be told from others like it, and a name returns the same result"
        raise NotSupportedError(
            f"a request with a {kind} in it cannot be given a name: {why}; leave the name out, or"
            " say the same with plain text, numbers, days and lists"
        )
    said = {each.name: told(getattr(value, each.name)) for each in fields(value)}
    return _list([dumps(type(value).__name__), _object(said)])


@told.register
def _literal(value: str | numbers.Real | dt.date) -> str:
    """Tell all that a cell is compared with: the text, the number and the day that it is."""
    literal = cast("Literal", value)  # a number of any kind will do
    day = as_date(literal)
    return dumps([str(value), as_number(literal), day and day.isoformat()])


@told.register
def _itself(value: bool | None) -> str:  # noqa: FBT001  # True is no number here
    return dumps(value)


@told.register
def _one_of_few(value: enum.Enum) -> str:
    return dumps([type(value).__name__, value.name])


@told.register
def _in_order(values: list | tuple) -> str:  # type: ignore[type-arg]  # of anything
    return _list(map(told, values))


@told.register
def _condition(where: Where) -> str:
    """Tell days and numbers as they are compared, whatever spells them; codes in any order."""
    values = dumps(_as_set(where.values))
    if where.word not in ("equals", "is_in"):
        days, amounts = (list(map(read, where.values)) for read in (as_date, as_number))
        values = told(amounts if None in days else days)
    named = map(dumps, ("Where", where.column, where.word))
    return _list([*named, values, dumps(_as_set(where.codes))])


@told.register
def _query(query: ColumnQuery) -> str:
    said = {each.name: getattr(query, each.name) for each in fields(query)}
    apart = (*WORDS, *_BY_CELL, "column")
    known = {name: told(value) for name, value in said.items() if name not in apart}
    if not said.get("variance"):  # as before there was one
        known.pop("variance", None)
    known |= {name: dumps(_as_set(said[name])) for name in _ANY_ORDER if name in said}
    column = query.column if isinstance(query.column, str) else written(query.column)
    condition = told(getattr(query, "condition", None))
    known |= {"name": dumps(query.label), "column": dumps(column), "condition": condition}
    return _list([dumps(type(query).__name__), _object(known)])


@told.register
def _groups(grouping: Grouping) -> str:
    """Tell keys with their types: each is released as it was listed."""
    keys = "null"
    if grouping.keys is not None:
        columns = map(_with_kinds, grouping.keys.columns)
        keys = _list(map(_list, zip(*columns, strict=True)))
    rest = (grouping.by, grouping.number, grouping.other, grouping.most, grouping.delta)
    more = [told(each) for each in (grouping.listed, grouping.missing) if each]
    return _list([dumps("Grouping"), keys, told(rest), *more])


@told.register
def _column(by: By) -> str:
    """Tell what was said of a column beside its name."""
    more = {"zone": by.zone, "bands": by.bands, "missing": _as_set(by.codes) or None}
    said: dict[str, object] = {"column": by.column, "every": by.every}
    said |= {name: value for name, value in more.items() if value is not None}
    return _list([dumps("By"), _object({name: told(value) for name, value in said.items()})])


@told.register
def _workload(workload: Workload) -> str:
    """Tell what is asked block by block, which is how it comes out, each with its weight."""
    blocks = [_weighed(block) for block in workload.blocks]
    groups = None if workload.grouping is None else (workload.grouping, workload.group_sizes)
    rules = (workload.who, workload.neighbors, groups, workload.at_most, workload.size_importance)
    objective = [dumps(workload.objective)] if workload.objective != "total" else []
    weight, more = workload.weight, list[str]()
    if weight is not None:
        own = (weight.column, weight.bounds, workload.unweighted_size, workload.effective_size)
        more = [told(own), dumps(_as_set(weight.codes))]
    return _list([dumps("Workload"), told(blocks), told(rules), *objective, *more])


def _weighed(block: Block) -> object:
    """Return what a block asks and what that weighs; of tables also which, and their margins."""
    if not isinstance(block, TableBlock):
        return block.importance, block.asked
    return "tables", block.axes, block.values, block.tables


@told.register
def _text(text: TextFormat) -> str:
    """Tell what cells were read by: where a comma mattered, the delimiter is it."""
    plain = replace(text, encoding=codecs.lookup(text.encoding).name, comma=",")
    return _list(
        [dumps("TextFormat"), *(told(getattr(plain, each.name)) for each in fields(plain))]
    )


def _list(told: Iterable[str]) -> str:
    return f"[{', '.join(told)}]"


def _object(told: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{dumps(name)}: {value}" for name, value in told.items()) + "}"


def _as_set(values: Iterable[object]) -> list[str]:
    return sorted({told(value) for value in values})


def _with_kinds(values: Sequence[object]) -> list[str]:
    """Tell values with their types."""
    kinds = {kind: dumps(_kind(kind)) for kind in {*map(type, values)}}
    return [f"[{kinds[type(v)]}, {encode_basestring_ascii(str(v))}]" for v in values]


def _kind(kind: type) -> str:
    if kind in _KINDS:  # and not only derived from one
        return kind.__name__
    return next(known.__name__ for known in _KINDS if issubclass(kind, known))
