"""A list of ours as a table of the same engine: a million names are joined, not spelled out.

And the other way round: a list in a cell as rows.
"""

import functools
import json
import operator
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from halfnoise.data.sources.spark_frames import functions_of
from halfnoise.values import dataclass

_KINDS = {str: "string", int: "bigint", float: "double"}
PLACE = "hn_place"  # the column that says where in the list a row stands
# Up to so many values Spark compares one by one: it runs a job for each table that it joins.
_FEW = 64


@dataclass(frozen=True, slots=True)
class Listed:
    """A list by its columns, none missing, in which rows find their place.

    ``ranks``: what stands for a place, in a column that is called ``title``.
    """

    columns: Sequence[Sequence[Any]]
    ranks: Sequence[int]
    title: str
    table: nw.LazyFrame[Any] | None

    @classmethod
    def of(
        cls,
        frame: nw.LazyFrame[Any],
        columns: Sequence[Sequence[Any]],
        ranks: Sequence[int] | None = None,
        title: str = PLACE,
    ) -> Self:
        """Return a list as a table of the same engine, if it needs to be one."""
        table, length = None, len(columns[0])
        if not frame.implementation.is_spark_like() or length > _FEW:
            listed = dict(zip(_names(columns), columns, strict=True))
            own = {} if ranks is None else {title: ranks}
            table = lookup(frame, listed | own)
            table = table if ranks is None else table.drop(PLACE)
        return cls(columns, range(length) if ranks is None else ranks, title, table)

    def find(
        self, rows: nw.LazyFrame[Any], on: Sequence[str], *, elsewhere: bool = True
    ) -> nw.LazyFrame[Any]:
        """Return rows with their place; those ``elsewhere``, where it is null, or without them."""
        if self.table is not None:
            how: Any = "left" if elsewhere else "inner"
            return rows.join(self.table, left_on=[*on], right_on=_names(self.columns), how=how)
        found = self._put(rows, on, self.title)
        return found if elsewhere else found.filter(~nw.col(self.title).is_null())

    def placed(
        self, rows: nw.LazyFrame[Any], on: Sequence[str], title: str, *, elsewhere: bool
    ) -> nw.LazyFrame[Any]:
        """Return rows with their place; those ``elsewhere`` behind all others, or without them."""
        last = len(self.columns[0])
        if self.table is None and elsewhere:
            return self._put(rows, on, title, last)
        place, rows = nw.col(self.title), self.find(rows, on, elsewhere=elsewhere)
        behind = nw.when(place.is_null()).then(nw.lit(last)).otherwise(place)
        return rows.with_columns(**{title: behind.cast(nw.Int64)}).drop(self.title)

    def _put(
        self, rows: nw.LazyFrame[Any], on: Sequence[str], title: str, last: int | None = None
    ) -> nw.LazyFrame[Any]:
        native: Any = rows.to_native()
        f = functions_of(native)
        rank = self._one_by_one(f, on)
        rank = rank if last is None else rank.otherwise(f.lit(last)).cast("bigint")
        found: nw.LazyFrame[Any] = nw.from_native(native.withColumn(title, rank)).lazy()
        return found

    def _one_by_one(self, f: Any, on: Sequence[str]) -> Any:
        """Return a column of Spark: the rank in a short list, null where a row is in none."""
        rank: Any = f
        for own, *values in zip(self.ranks, *self.columns, strict=True):
            "".join(v for v in values if isinstance(v, str)).encode()  # no half of a pair
            pairs = zip(on, values, strict=True)
            same = functools.reduce(operator.and_, (f.col(name) == f.lit(v) for name, v in pairs))
            rank = rank.when(same, f.lit(own))
        return rank


def _names(columns: Sequence[object]) -> list[str]:
    return [f"hn_listed{i}" for i in range(len(columns))]


def times(frame: nw.LazyFrame[Any], name: str, values: Sequence[int]) -> nw.LazyFrame[Any]:
    """Return each row once for each value, in a column of that name."""
    if not frame.implementation.is_spark_like():
        return frame.join(lookup(frame, {name: values}).drop(PLACE), how="cross")
    native: Any = frame.to_native()
    f = functions_of(native)
    each = f.explode(f.array(*(f.lit(value).cast("bigint") for value in values)))
    found: nw.LazyFrame[Any] = nw.from_native(native.withColumn(name, each)).lazy()
    return found


def lookup(frame: nw.LazyFrame[Any], columns: Mapping[str, Sequence[Any]]) -> nw.LazyFrame[Any]:
    """Return columns of text, whole numbers or fractions, none missing, and each row's place."""
    table: nw.LazyFrame[Any] = nw.from_native(_native(frame, columns)).lazy()
    return table


def parts(frame: nw.LazyFrame[Any], column: str, mark: str) -> nw.LazyFrame[Any]:
    """Return a row for each part of a text, with all else that its row holds.

    A row without a text has none, or one that is null.
    """
    if frame.implementation.is_duckdb():
        import duckdb

        # Narwhals would go through the rows twice, once for those without a text.
        native: Any = frame.to_native()
        text, by = duckdb.ColumnExpression(column), duckdb.ConstantExpression(mark)
        split = duckdb.FunctionExpression("string_split", text, by)
        each = duckdb.FunctionExpression("unnest", split).alias(column)
        others = [duckdb.ColumnExpression(name) for name in frame.columns if name != column]
        found: nw.LazyFrame[Any] = nw.from_native(native.select(*others, each)).lazy()
        return found
    if frame.implementation.is_spark_like():  # which takes a pattern
        plain = mark.replace(r"\E", r"\E\\E\Q")
        mark = rf"\Q{plain}\E"
    return frame.with_columns(nw.col(column).str.split(mark)).explode(column)


def _native(frame: nw.LazyFrame[Any], columns: Mapping[str, Sequence[Any]]) -> Any:
    native: Any = frame.to_native()
    kind = frame.implementation
    length = len(next(iter(columns.values())))
    if kind.is_duckdb():
        import duckdb

        dtypes = {str: object, int: np.int64, float: np.float64}
        arrays: dict[str, NDArray[Any]] = {
            name: np.fromiter(c, dtypes[type(c[0])], length) for name, c in columns.items()
        }
        listed = arrays | {PLACE: np.arange(length, dtype=np.int32)}
        # DuckDB finds a variable by its name, if no table is called so, unless told not to look.
        name = f"halfnoise_{secrets.token_hex(8)}"
        globals()[name] = listed
        try:
            return native.query("halfnoise_rows", f"from {name}")
        except duckdb.Error:
            return native.query("halfnoise_rows", _spelled_out(listed))
        finally:
            del globals()[name]
    if kind.is_spark_like():
        functions = functions_of(native)
        kinds = {name: _KINDS[type(column[0])] for name, column in columns.items()} | {PLACE: "int"}
        rows = zip(*columns.values(), range(length), strict=True)
        told = [dict(zip(kinds, row, strict=True)) for row in rows]
        words = json.dumps(told, ensure_ascii=False)
        # Half of a surrogate pair fails here: escaped, it would come back as another text.
        words.encode()
        schema = f"array<struct<{', '.join(f'{name}: {kind}' for name, kind in kinds.items())}>>"
        # One text, which Spark reads by itself: rows from Python would need Python on its workers.
        # It seems to depend on a row, for of a constant Spark would make part of its plan.
        text = functions.when(functions.col("id") == 0, functions.lit(words))
        rows_of_it = functions.inline(functions.from_json(text, schema, {"mode": "FAILFAST"}))
        # Sent to every worker, so that the rows need not be sorted to meet it.
        return functions.broadcast(native.sparkSession.range(1).select(rows_of_it))
    table = {name: list(column) for name, column in columns.items()} | {PLACE: list(range(length))}
    return nw.from_dict(table, backend=kind).to_native()


def _spelled_out(columns: Mapping[str, NDArray[Any]]) -> str:
    lists = []
    for name, column in columns.items():
        quoted = ["'" + str(value).replace("'", "''") + "'" for value in column.tolist()]
        kind = _KINDS[type(column.tolist()[0])]
        lists.append(f"unnest([{', '.join(f'{value}::{kind}' for value in quoted)}]) as {name}")
    return f"select {', '.join(lists)}"
