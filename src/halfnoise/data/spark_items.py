"""Items on Spark: what a person has of a list that is not long, as bits of whole numbers.

So the rows of a person meet once and become one row, where each item would be one.
"""

from collections.abc import Callable, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.groups import Frame, Values
from halfnoise.data.handed import Rows
from halfnoise.data.lookup import PLACE
from halfnoise.data.many import Counted
from halfnoise.data.sources.spark_frames import functions_of

_BITS = 64  # of a whole number
MOST = 4 * _BITS  # items; of more, a person has too few to look at each of them
_AT, _WORD, _TOTAL = "hn_at", "hn_word", "hn_total"


def counted_sets(
    rows: Frame,
    people: Sequence[str],
    group: Sequence[str],
    items: int,
    each: Callable[[nw.Expr], nw.Expr],
) -> Counted:
    """Return how totals are read of rows that say whom they are about and the place of an item.

    ``each``: what an item of somebody counts who has so many.
    """
    native: Any = rows.to_native()
    f = functions_of(native)
    words = {f"{_WORD}{at}": at * _BITS for at in range(-(-items // _BITS))}
    bits = (
        f"bit_or(case when {PLACE} between {first} and {first + _BITS - 1}"
        f" then shiftleft(1L, cast({PLACE} as int) - {first}) else 0L end) as {word}"
        for word, first in words.items()
    )
    native = native.groupBy(*people).agg(*map(f.expr, bits))
    number = " + ".join(f"bit_count({word})" for word in words)
    native = native.selectExpr("*", f"cast({number} as bigint) as hn_number")
    own: Any = nw.from_native(native).with_columns(**{_TOTAL: each(nw.col("hn_number"))})
    # A row for each word: Spark compiles no code for what has more than a hundred columns.
    split = f"posexplode(array({', '.join(words)})) as ({_AT}, {_WORD})"
    native = own.to_native().selectExpr(*group, _TOTAL, split)
    sums = (
        f"sum(if((shiftright({_WORD}, {bit}) & 1L) = 0L, 0L, {_TOTAL})) as hn_bit{bit}"
        for bit in range(min(_BITS, items))
    )
    totals = native.groupBy(*group, _AT).agg(*map(f.expr, sums))

    def added(found: Rows) -> dict[Values, list[int]]:
        sums: dict[Values, list[int]] = {}
        for row in found:
            values, at, own = row[: len(group)], row[len(group)], row[len(group) + 1 :]
            places = range(at * _BITS, min((at + 1) * _BITS, items))
            total = sums.setdefault(tuple(values), [0] * items)
            total[places.start : places.stop] = map(int, own[: len(places)])
        return sums

    return Counted(nw.from_native(totals).lazy(), added)
