"""Places inside places: which one a row is in, by what its columns name from the first level on."""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.columns import Columns
from halfnoise.data.contributions import Contribution
from halfnoise.data.lookup import PLACE, lookup
from halfnoise.values import dataclass, field
from halfnoise.workload.block import Block
from halfnoise.workload.nested import Nested

_NAME = "hn_places"


@dataclass(slots=True)
class Places:
    """How a row's place is read, as a ``Contribution`` reads a category.

    The columns are read as choices. What one names is looked up among the places inside the one
    that is found so far: row by row, in public lists. A person is in the place of the least rank.
    """

    nested: Nested
    names: Sequence[Contribution]  # of each level, which of its names a row has
    first: dict[str, nw.Expr] = field(init=False)
    together: list[nw.Expr] = field(init=False)
    rank_of_person: nw.Expr = field(init=False)

    @classmethod
    def of(cls, nested: Nested, columns: Columns, *, alone: bool) -> "Places":
        """Return how the place of a row is read; ``alone``: whether each row is a person."""
        blocks = (
            Block(kind=c.kind, shape=c.shape, label=c.label, importance=1.0, asked=(c,))
            for c in nested.choices
        )
        read = [
            Contribution(block, columns, f"{_NAME}{i}", alone=alone)
            for i, block in enumerate(blocks)
        ]
        return cls(nested, read)

    def __post_init__(self) -> None:
        self.first = {name: e for part in self.names for name, e in part.first.items()}
        self.together = [nw.col(_NAME).min()]
        self.rank_of_person = nw.col(_NAME).cast(nw.Int64)

    @property
    def rows(self) -> dict[str, nw.Expr]:
        """The rank of a row's place: that named farthest down, and the last where none is."""
        before = sum(map(len, self.nested.listed))
        rank = nw.lit(before)
        for level, listed in enumerate(self.nested.listed):
            before -= len(listed)
            found = nw.col(f"{_NAME}{level}_at")
            rank = nw.when(found >= 0).then(found + before).otherwise(rank)
        return {_NAME: rank.cast(nw.Int32)}

    @property
    def order(self) -> Sequence[int]:
        """The ranks of all places of the last level, as they are listed."""
        return self.nested.ranks

    def looked_up(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return rows with the place of each level that is found, -1 where none is."""
        for level, (part, listed) in enumerate(zip(self.names, self.nested.inside, strict=True)):
            rows, many = part.looked_up(rows), len(part.order)
            own = part.rows[f"{part.prefix}_place"].cast(nw.Int64)
            key, at = f"{_NAME}{level}_key", f"{_NAME}{level}_at"
            around = nw.col(f"{_NAME}{level - 1}_at") if level else nw.lit(0)
            rows = rows.with_columns(**{key: around.cast(nw.Int64) * many + own})
            known = {f"{key}_listed": [place * many + name for place, name in listed]}
            found = lookup(rows, known).rename({PLACE: f"{at}_found"})
            rows = rows.join(found, left_on=key, right_on=f"{key}_listed", how="left")
            place = nw.col(f"{at}_found")
            place = nw.when(~place.is_null()).then(place.cast(nw.Int64)).otherwise(nw.lit(-1))
            rows = rows.with_columns(**{at: place})
        return rows
