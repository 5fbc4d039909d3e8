"""What is needed of a table, under names of our own; text is read once for all queries."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType

from halfnoise.data.cells import Cell
from halfnoise.data.expressions import expressions, roots
from halfnoise.data.sources.frames import narrowed, plain_text, renamed
from halfnoise.data.sources.source import Source
from halfnoise.data.sources.spark_frames import as_stored
from halfnoise.data.who import says_who, who
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Bins, Items
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Where
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.weights import Weight
from halfnoise.workload.workload import Workload

Asked = ColumnQuery | Where | Weight  # what looks at a column
ReadCell = Callable[[Asked], Cell]  # finds the cell that a query or a condition reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The rows that are read, and the cells in them.

    ``cells``: by column, or by the identity of an expression. ``by``: those that name groups.
    ``met``: the columns that say whether a condition is met, by its words. ``told``: whether a row
    says whom it is about.
    """

    frame: nw.LazyFrame[Any] = field(repr=False)  # some engines show rows
    cells: Mapping[Any, Cell]
    by: Sequence[Cell]
    met: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[nw.Expr] = ()

    @classmethod
    def of(
        cls, source: Source, workload: Workload, blocks: Sequence[Block], unit: Sequence[str]
    ) -> Self:
        """Return what some blocks need; whom a row is about is in ``unit0`` and so on."""
        queries = [query for block in blocks for query in block.asked]
        made = expressions(queries)
        given = dict(zip(_names_of_ours(source, len(made)), made.values(), strict=True))
        _check_spelled(source, made.values())
        columns = dict.fromkeys(column for query in queries for column in query.columns)
        columns |= dict.fromkeys(each.column for each in beside(workload))
        own: dict[Any, str] = {column: f"cell{i}" for i, column in enumerate(columns)}
        keys = () if workload.grouping is None else workload.grouping.by
        by = {f"by{i}": key.column for i, key in enumerate(keys)}
        needed = [*columns, *by.values(), *(c for e in made.values() for c in roots(e))]
        frame = narrowed(source, [*needed, *unit])
        frame = frame.with_columns(**given) if given else frame
        named = {**{name: column for column, name in own.items()}, **by}
        read: dict[str, str | nw.Expr] = {name: name for name in given}
        read |= {name: source.names[column] for name, column in named.items()}
        if frame.implementation.is_spark_like():
            there = frame.collect_schema()
            stored = {name: as_stored(source.names[column]) for name, column in named.items()}
            read |= {as_stored(name): inside for name, inside in stored.items() if inside in there}
        read |= {f"unit{i}": _who(source, column) for i, column in enumerate(unit)}
        frame = renamed(frame, read) if read else frame
        frame = plain_text(frame, list(given)) if given else frame
        cell = _cell_maker(source, frame)
        cells = {column: cell(name, column) for column, name in own.items()}
        cells |= {by_id: cell(name, None) for by_id, name in zip(made, given, strict=True)}
        groups = [cell(name, column) for name, column in by.items()]
        told = [says_who(cell(f"unit{i}", column)) for i, column in enumerate(unit)]
        found = cls(frame=frame, cells=cells, by=groups, told=told)
        asked = [query for query in queries if isinstance(query, ColumnQuery)]
        return found.said_once(asked).read_once(asked, beside(workload)).met_once(asked)

    def __call__(self, asked: Asked) -> Cell:
        """Return the cell that a query or a condition reads."""
        by_id = id(asked.column) in self.cells
        cell = self.cells[self._key(asked)]
        label = asked.label if isinstance(asked, ColumnQuery) and by_id else str(asked.column)
        return replace(cell, label=label, missing=asked.codes)

    def _key(self, asked: Asked) -> Any:
        return id(asked.column) if id(asked.column) in self.cells else asked.column

    def meets(self, where: Where) -> nw.Expr:
        """Whether a row meets a condition under which a query counts."""
        return nw.col(self.met[repr(where)])

    def said_once(self, queries: Sequence[ColumnQuery]) -> Self:
        """Let text that is empty, or could not be read, be null where a part of it could count.

        No other query can ask for it.
        """
        made, cells = dict[str, nw.Expr](), dict(self.cells)
        for key in [self._key(q) for q in queries if isinstance(q, Items) and q.reads_parts]:
            if cells[key].is_text and not cells[key].nulled:
                made[cells[key].name], cells[key] = cells[key].said()
        return replace(self, frame=self.frame.with_columns(**made), cells=cells) if made else self

    def read_once(self, queries: Sequence[ColumnQuery], others: Sequence[Where | Weight]) -> Self:
        """Let text be read once as the numbers or days that it is compared with."""
        looked_at: list[Asked] = [*queries, *_conditions(queries), *others]
        made: dict[str, nw.Expr] = {}
        cells = dict(self.cells)
        for asked in looked_at:
            key = self._key(asked)
            other = "number" if isinstance(asked, Sum | Mean | Bins | Weight) else None
            kind = asked.compares if isinstance(asked, Where) else other
            if kind is not None and cells[key].is_text and kind not in cells[key].made:
                made[cells[key].made_as(kind)] = cells[key].read_as(kind)
                cells[key] = replace(cells[key], made=(*cells[key].made, kind))
        return replace(self, frame=self.frame.with_columns(**made), cells=cells) if made else self

    def met_once(self, queries: Sequence[ColumnQuery]) -> Self:
        """Let each condition on those who count be asked once."""
        wheres = {repr(query.where): query.where for query in queries if query.where}
        met = {words: f"met{i}" for i, words in enumerate(wheres)}
        made = {met[words]: self(where).meets(where) for words, where in wheres.items()}
        return replace(self, frame=self.frame.with_columns(**made), met=met) if made else self


def _conditions(queries: Sequence[ColumnQuery]) -> list[Where]:
    found = [query.where for query in queries]
    found += [query.condition for query in queries if isinstance(query, Count)]
    return [condition for condition in found if condition is not None]


def beside(workload: Workload) -> list[Where | Weight]:
    """Return what looks at a column beside queries: who is in the table, how often each counts."""
    return [*workload.who, *([] if workload.weight is None else [workload.weight])]


def _cell_maker(source: Source, frame: nw.LazyFrame[Any]) -> Callable[[str, str | None], Cell]:
    """Return what makes the cell of a column, or of an expression, which has none."""
    dtypes: dict[str, DType] = dict(frame.collect_schema())
    branches, in_spark = _branches(frame), frame.implementation.is_spark_like()
    spelling = source.text.spelling

    def cell(name: str, column: str | None) -> Cell:
        return Cell(
            name=name,
            dtype=dtypes[name],
            label=column or "",
            spelling=spelling,
            inferred=column in source.inferred,
            branches=branches,
            nulled=source.nulled,
            stored=as_stored(name) if in_spark and as_stored(name) in dtypes else None,
        )

    return cell


def _branches(frame: nw.LazyFrame[Any]) -> bool:
    """Whether a branch is computed only where its condition holds; else it would come on top."""
    return bool(frame.implementation.is_duckdb() or frame.implementation.is_spark_like())


def _names_of_ours(source: Source, number: int) -> list[str]:
    """Return names for expressions; a column of the table may be called so."""
    prefix, taken = "halfnoise_expression", "\n".join(map(str.casefold, source.names.values()))
    while prefix in taken:
        prefix += "_"
    return [f"{prefix}{i}" for i in range(number)]


def _check_spelled(source: Source, made: Iterable[Any]) -> None:
    for column in (column for expression in made for column in roots(expression)):
        if source.names[column] != column:
            why = "an expression can only name columns in plain letters, each spelled in one way"
            raise InvalidParameterError(f"{why}; rename the column {column!r}")


def _who(source: Source, column: str) -> nw.Expr:
    """Return who a row is about."""
    name = source.ids.get(column, source.names[column])
    dtype = source.frame.collect_schema()[name]
    branches = _branches(source.frame)
    cell = Cell(name=name, dtype=dtype, label=column, branches=branches, nulled=source.nulled)
    return who(cell)
