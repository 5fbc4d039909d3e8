"""Rows in groups: which group a row is in, and which of a person's groups count.

Listed groups are joined by their keys. Of a person's groups the first ``most`` count: in the order
of the list, with elsewhere last, or by key where groups are discovered, however rows are ordered or
split. Each group counts the person by the rows in it.
"""

import datetime as dt
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType

from halfnoise.data.cells import Cell
from halfnoise.data.handed import ByColumn
from halfnoise.data.keys import KeyColumn, each, key_column, usual_first
from halfnoise.data.lookup import Listed
from halfnoise.data.sources.frames import as_text
from halfnoise.data.sources.spark_frames import functions_of, window_of
from halfnoise.data.spans import UTC, zone_of
from halfnoise.data.spelling import PLAIN, Spelling
from halfnoise.data.weighing import kept
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.groups import Grouping
from halfnoise.workload.listing import Keys, Part, refuse_twice
from halfnoise.workload.weights import ALIKE, Weighing

Values = tuple[Any, ...]  # what the columns of a group hold in the table
Frame = nw.LazyFrame[Any]
_FIRST = dt.datetime(1, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The columns of text that name groups, as they are stored, and what finds the groups.

    Rows may be added up by these first: each text is then read once, not in every row. ``read``:
    makes text of what is stored, ``place``: finds the group. ``alone``: whether a name is spelled
    as it was listed, so that no other one is of its group and spelled so.
    """

    columns: tuple[str, ...]
    read: Callable[[Frame], Frame] | None
    place: Callable[[Frame], Frame]
    alone: nw.Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Rows, the columns that say their group, and how groups are numbered.

    ``number``: how many there are; None where they are discovered, and written by ``back``.
    ``everybody``: a row for each person where people may be in several groups or in none.
    ``scans``: how often the rows are gone through to add up what is in the groups.
    ``named``: where each row is a person, and text names the groups that are listed; then ``rows``
    are as they were, and ``placed`` has the columns.
    """

    rows: Frame = field(repr=False)  # some engines show rows
    columns: tuple[str, ...] = ()
    number: int | None = 1
    back: Callable[[ByColumn], Keys] | None = None
    everybody: Frame | None = field(default=None, repr=False)
    scans: int = 1
    named: Named | None = None

    @classmethod
    def of(
        cls,
        rows: Frame,
        grouping: Grouping | None,
        cells: Sequence[Cell],
        people: Sequence[str],
        weighing: Weighing = ALIKE,
    ) -> Self:
        """Return rows in their groups; ``people`` are the columns that say whom a row is about."""
        if grouping is None:
            return cls(rows=rows)
        aware = [getattr(cell.dtype, "time_zone", None) is not None for cell in cells]
        if any(aware) and rows.implementation.is_duckdb():  # which counts years before 1 by era
            zoned = [cell.name for cell, own in zip(cells, aware, strict=True) if own]
            made = {name: nw.when(nw.col(name) >= _FIRST).then(nw.col(name)) for name in zoned}
            rows = rows.with_columns(**made)
        keys = _columns(grouping, [_in_utc(cell, rows) for cell in cells], aware)
        if grouping.keys is None:
            rows, names = _with_keys(rows, keys)
            rows, keys = _found(rows, grouping, keys)
            rows = _first(rows, people, names, grouping.most)
            return cls(
                rows=rows,
                columns=names,
                number=None,
                back=_back(keys),
                scans=1 + _looks(rows, people),
            )
        everybody = rows
        if people and grouping.most > 1:
            everybody = rows.select(*people, *kept(weighing))
            weight = [nw.col(name).max() for name in kept(weighing)]
            everybody = everybody.group_by(*people).agg(*weight) if weight else everybody.unique()
        listed = _listed(grouping.keys, keys)
        places, are_names = Listed.of(rows, listed), _are_names(grouping, cells)

        def place(found: Frame, *, elsewhere: bool = grouping.other is not None) -> Frame:
            found, titles = _with_keys(found, keys)
            return places.placed(found, titles, "hn_group", elsewhere=elsewhere)

        named = None
        if are_names and places.table is None:
            rows = usual_first(rows, grouping, cells, listed, place)
        elif are_names and not people:
            stored = {cell.name: cell.stored for cell in cells if cell.stored is not None}
            own = tuple(stored.get(cell.name, cell.name) for cell in cells)
            read = partial(as_text, stored=stored) if stored else None
            as_listed = [nw.col(c.name) == nw.col(f"hn_value{i}") for i, c in enumerate(cells)]
            alone = nw.all_horizontal(
                nw.col("hn_group") < len(grouping.keys), *as_listed, ignore_nulls=False
            )
            named = Named(columns=own, read=read, place=place, alone=alone)
        else:
            rows = place(rows)
        number, columns = len(grouping.keys) + (grouping.other is not None), ("hn_group",)
        some = bool(people) and grouping.most < number
        rows = _first(rows, people, columns, grouping.most) if some else rows
        several = everybody if grouping.most > 1 else None
        scans = 1 + (some and _looks(rows, people)) + (several is not None)
        return cls(
            rows=rows,
            columns=columns,
            number=number,
            everybody=several,
            scans=scans,
            named=named,
        )

    @property
    def placed(self) -> Frame:
        """Rows with the columns that say their group."""
        return self.rows if self.named is None else self.named.place(self.rows)

    def places(self, present: ByColumn) -> dict[Values, int]:
        """Return the row of the totals for each group that may be present."""
        if self.number is None:
            return {values: place for place, values in enumerate(zip(*present, strict=True))}
        return {(place,) if self.columns else (): place for place in range(self.number)}

    def keys(self, present: ByColumn) -> Keys | None:
        """Return the keys of groups that are discovered; None where they are listed."""
        return None if self.back is None else self.back(present)


def check_keys(dtypes: Mapping[str, DType], grouping: Grouping, spelling: Spelling = PLAIN) -> None:
    """Refuse keys that the columns cannot hold, and keys that read the same; no row is read."""
    named = [by.column for by in grouping.by]
    cells = [Cell(name=n, dtype=dtypes[n], label=n, spelling=spelling) for n in named]
    columns = _columns(grouping, cells, [False] * len(cells))
    if grouping.keys is not None and columns:
        _listed(grouping.keys, columns)
    for column, part in zip(columns, grouping.listed, strict=False):
        if part is not None:
            _listed_in_one(part, column)


def _in_utc(cell: Cell, rows: Frame) -> Cell:
    """Return a cell whose day in UTC the engine can tell; others know only their session's zone."""
    engine, zone = rows.implementation, zone_of(cell)
    if engine.is_polars() or not isinstance(cell.dtype, nw.Datetime):
        return cell
    if engine.is_spark_like() and cell.dtype.time_zone is not None:
        # Narwhals remembers the zone that it saw first.
        native: Any = rows.to_native()
        zone = native.sparkSession.conf.get("spark.sql.session.timeZone")
    if zone not in (None, *UTC):
        raise InvalidParameterError(
            f"the column {cell.label!r} holds moments of the zone {zone}, whose day in UTC this"
            " engine cannot tell; set its session's time zone to UTC, or turn the column into days"
        )
    return replace(cell, dtype=nw.Datetime(cell.dtype.time_unit))


def _columns(grouping: Grouping, cells: Sequence[Cell], aware: Sequence[bool]) -> list[KeyColumn]:
    parts = grouping.listed or (grouping.keys,) * len(cells)
    return [
        key_column(c, by, listed=part is not None, missing=grouping.missing, aware=zoned)
        for c, by, part, zoned in zip(cells, grouping.by, parts, aware, strict=True)
    ]


def _are_names(grouping: Grouping, cells: Sequence[Cell]) -> bool:
    """Whether the columns of groups hold text that is taken as it is, so that few may differ."""
    plain = all(by.every is None and by.bands is None for by in grouping.by)
    return plain and all(cell.is_text for cell in cells)


def _with_keys(rows: Frame, keys: Sequence[KeyColumn]) -> tuple[Frame, tuple[str, ...]]:
    """Return rows with the columns of their keys, and what these are called."""
    for made in (step for column in keys for step in column.steps):
        rows = rows.with_columns(**made)
    named = {name: e for i, c in enumerate(keys) for name, e in c.columns(i).items()}
    return rows.with_columns(**named), tuple(named)


def _listed(listed: Keys, columns: Sequence[KeyColumn]) -> list[Sequence[Any]]:
    """Return the listed keys column by column, refused where two of them read the same."""
    pairs = [*zip(columns, listed.columns, strict=True)]
    read = [part for c, keys in pairs for part in c.listed(keys, texts=listed.texts)]
    # What is read as it was written is as different, and so is what differs in one column.
    both = zip(listed.columns, read[1::2], strict=True)
    same = all(one is other or all(map(operator.is_, one, other)) for one, other in both)
    if not same and all(len({*part}) < len(listed) for part in read):
        refuse_twice(listed, list(zip(*read, strict=True)))
    return read


def _listed_in_one(part: Part, column: KeyColumn) -> list[Sequence[Any]]:
    return _listed(Keys((part,)), [column])


def _found(
    rows: Frame, grouping: Grouping, columns: Sequence[KeyColumn]
) -> tuple[Frame, list[KeyColumn]]:
    """Return rows in which a listed column holds the place in its list, and how that comes back.

    Row by row, by a public list: what follows is as if the table had held that column.
    """
    found = list(columns)
    for i, part in enumerate(grouping.listed):
        if part is not None:
            names, known = list(columns[i].columns(i)), _listed_in_one(part, columns[i])
            places = Listed.of(rows, known)
            elsewhere = grouping.other is not None
            rows = places.placed(rows, names, names[1], elsewhere=elsewhere)
            rows = rows.with_columns(**{names[0]: nw.lit(0).cast(nw.Int64)})
            shown: Sequence[Any] = (*part, grouping.other)
            found[i] = replace(columns[i], back=each(shown.__getitem__))
    return rows, found


def _back(columns: Sequence[KeyColumn]) -> Callable[[ByColumn], Keys]:
    def keys(present: ByColumn) -> Keys:
        pairs = zip(columns, present[::2], present[1::2], strict=True)
        return Keys(tuple(column.found(*pair) for column, *pair in pairs))

    return keys


def _first(rows: Frame, people: Sequence[str], group: Sequence[str], most: int) -> Frame:
    """Keep the rows in the first groups of each person; a row alone has one group."""
    both = [*people, *group]
    if not people:
        return rows
    if not _looks(rows, people):
        return _ranked(rows, people, group).filter(nw.col("hn_rank") <= most).drop("hn_rank")
    if most == 1 and len(group) == 1:
        kept = rows.group_by(*people).agg(nw.col(*group).min())
    else:
        pairs = rows.select(*both).unique().with_columns(hn_one=nw.lit(1))
        rank = nw.col("hn_one").cum_sum().over(*people, order_by=list(group))
        kept = pairs.with_columns(hn_rank=rank).filter(nw.col("hn_rank") <= most)
    return rows.join(kept.select(*both), on=both, how="semi")


def _looks(rows: Frame, people: Sequence[str]) -> bool:
    """Whether to find the first groups of people takes a look at all rows before."""
    return bool(people) and not rows.implementation.is_spark_like()


def _ranked(rows: Frame, people: Sequence[str], group: Sequence[str]) -> Frame:
    """Return rows of Spark with the rank of their group among those of the person.

    The rows of a person meet anyway, to be added up: they are sorted there, in the same scan.
    """
    native: Any = rows.to_native()
    window = window_of(native).partitionBy(*people).orderBy(*group)
    rank = functions_of(native).dense_rank().over(window)
    found: Frame = nw.from_native(native.withColumn("hn_rank", rank)).lazy()
    return found
