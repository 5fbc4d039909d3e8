"""How a cell names a group. Total rules: every cell has a key, and a missing one is a key too.

Text is compared as text, numbers as numbers; -0.0 is 0.0, and NaN is missing. Days and moments go
by spans of time (``spans``), also where they are text in ISO form; text that is no day is missing.
Numbers may go by bands: what is in none of them, and what is no number, is missing.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from halfnoise.checks import refuse
from halfnoise.data.cells import MOST_WHOLE, Cell
from halfnoise.data.halving import step
from halfnoise.data.logic import is_true
from halfnoise.data.lookup import Listed
from halfnoise.data.sources.objects import shown
from halfnoise.data.spans import Span
from halfnoise.data.spelling import SPACES, folded
from halfnoise.values import dataclass, replace
from halfnoise.workload.by import By
from halfnoise.workload.conditions import Literal, as_number
from halfnoise.workload.groups import Grouping
from halfnoise.workload.listing import in_lots

Plain = str | int | float
T = TypeVar("T")
_WORDS = ("true", "false")
_BEGIN = {mark for word in _WORDS for mark in (word[0], word[0].upper())}
_LONGEST = max(map(len, _WORDS))  # letters: none becomes fewer in small ones
_USUAL = "hn_usual"  # the group of a text that is just as listed


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """A column of keys: ``own`` where one is ``there``, else ``nothing``.

    ``read`` turns listed keys into what the column holds, ``back`` such into what users write.
    ``read_texts``: the same of keys that are texts as they are, where it differs.
    ``steps``: columns that must be made before, one after the other.
    """

    own: nw.Expr
    there: nw.Expr
    read: Callable[[Sequence[Literal]], Sequence[Plain]]
    back: Callable[[Sequence[Any]], Sequence[Literal]]
    nothing: Plain
    steps: Sequence[dict[str, nw.Expr]] = ()
    read_texts: Callable[[Sequence[str]], Sequence[Plain]] | None = None

    def columns(self, i: int) -> dict[str, nw.Expr]:
        """Return columns without gaps: 1 where there is no key, so that it comes last; the key."""
        absent = nw.when(self.there).then(nw.lit(0)).otherwise(nw.lit(1)).cast(nw.Int64)
        value = nw.when(self.there).then(self.own).otherwise(nw.lit(self.nothing))
        return {f"hn_absent{i}": absent, f"hn_value{i}": value}

    def listed(
        self, keys: Sequence[Any], *, texts: bool = False
    ) -> tuple[Sequence[int], Sequence[Plain]]:
        """Return listed keys as the columns hold them; ``texts``: they are known to be such."""
        if texts or None not in keys:
            read = (texts and self.read_texts) or self.read
            return array("q", bytes(8 * len(keys))), read(keys)
        rest = iter(self.read([key for key in keys if key is not None]))
        absent = [int(key is None) for key in keys]
        return absent, [self.nothing if gap else next(rest) for gap in absent]

    def found(self, absent: Sequence[int], values: Sequence[Any]) -> Sequence[Literal | None]:
        """Return keys as users write them, of what the columns hold."""
        if not any(absent):
            return self.back(values)
        rest = iter(self.back([v for v, gap in zip(values, absent, strict=True) if not gap]))
        return [None if gap else next(rest) for gap in absent]


def key_column(
    cell: Cell, by: By, *, listed: bool, missing: str | None = None, aware: bool = False
) -> KeyColumn:
    """Return how a column's cells name groups, by the column's type.

    ``listed``: whether its keys are. ``missing``: what rows without a key are called, so that text
    which says just that is no key. ``aware``: whether it holds moments with a time zone.
    """
    if cell.nulled or not cell.is_text:
        return _by_type(cell, by, listed=listed, missing=missing, aware=aware)
    text, own = cell.said()
    found = _by_type(own, by, listed=listed, missing=missing, aware=aware)
    return replace(found, steps=({cell.name: text}, *found.steps))


def _by_type(cell: Cell, by: By, *, listed: bool, missing: str | None, aware: bool) -> KeyColumn:
    if by.bands is not None:
        return _bands(cell, by)
    if cell.is_text and by.every is None:
        return _text(cell, listed=listed, missing=missing)
    if cell.is_text or cell.is_day:
        return _span(cell, by, aware=aware)
    if by.every is not None:
        raise cell.wrong_type("days")
    if cell.dtype == nw.Boolean:
        return _yes_or_no(cell)
    if cell.dtype.is_integer():
        return _whole(cell, listed=listed)
    if cell.dtype.is_numeric():
        return _number(cell)
    raise cell.wrong_type("text, numbers, days, or yes and no")


def each(rule: Callable[[Any], T]) -> Callable[[Sequence[Any]], list[T]]:
    """Return what a rule makes of each of some values."""
    return lambda values: [*map(rule, values)]


def _bands(cell: Cell, by: By) -> KeyColumn:
    """Return the place of a number's band; what is below the first of them is in none."""
    name, edges = f"hn_{cell.name}_band", by.bands or ()
    number = replace(cell, missing=by.codes).number()
    band = step(nw.col(f"{name}_of"), edges, range(-1, len(edges)))

    def read(key: Literal) -> int:
        if key not in by.names:
            known = ", ".join(map(repr, by.names))
            raise refuse(f"a group by {by.column!r}", f"one of its bands, {known}", key)
        return by.names.index(str(key))

    return KeyColumn(
        own=nw.col(name),
        there=nw.col(name) >= 0,
        read=each(read),
        back=each(lambda place: by.names[int(place)]),
        nothing=0,
        steps=({f"{name}_of": number}, {name: band.cast(nw.Int64)}),
    )


def _span(cell: Cell, by: By, *, aware: bool) -> KeyColumn:
    span = Span(cell, by, aware)
    key = span.number()
    given: dict[str, Any] = {"read": each(span.read), "back": each(span.back)}
    return KeyColumn(own=key, there=key > 0, nothing=0, steps=tuple(span.steps), **given)


def _text(cell: Cell, *, listed: bool, missing: str | None) -> KeyColumn:
    """Take text as it is; listed keys as codes, and true and false in any case."""
    own, name, steps = nw.col(cell.name).cast(nw.String), missing, []
    if listed:
        name = None if missing is None else cell.as_code(missing)
        # Made once, as all that follows looks at it; and no text that is longer is such a word.
        steps, code = [{f"hn_{cell.name}_code": cell.code()}], nw.col(f"hn_{cell.name}_code")
        small = code.str.to_lowercase()
        word = nw.when(small.is_in(_WORDS)).then(small).otherwise(code)
        own = nw.when(code.str.len_chars() <= _LONGEST).then(word).otherwise(code)

    def read(keys: Sequence[Literal]) -> Sequence[str]:
        decimal = cell.spelling.decimal
        texts: Sequence[Any] = [shown(key, decimal) for key in keys] if cell.inferred else keys
        return read_texts(texts if {*map(type, texts)} == {str} else [*map(str, texts)])

    def read_texts(texts: Sequence[str]) -> Sequence[str]:
        if not all(map(_are_bare, in_lots(texts))):
            texts = [text.strip(SPACES) for text in texts]
            texts = [text.lower() if text.lower() in _WORDS else text for text in texts]
        return [*map(folded, texts)] if cell.spelling.ignore_case else texts

    def back(texts: Sequence[str]) -> Sequence[Literal]:
        if not cell.inferred:
            return texts
        return [text == "True" if text in ("True", "False") else text for text in texts]

    there = cell.present() if name is None else is_true(cell.present() & (own != name))
    given: dict[str, Any] = {"read": read, "back": back, "nothing": "", "steps": steps}
    given["read_texts"] = None if cell.inferred else read_texts
    return KeyColumn(own=own, there=there, **given)


def _are_bare(texts: Sequence[str]) -> bool:
    """Whether no text has spaces around it or is a word for yes or no: told of all at once.

    Nor has one a line break inside, after which spaces could stand.

    >>> _are_bare(["a", "b c"]), _are_bare(["a", "b "]), _are_bare(["a", "True"])
    (True, False, False)
    """
    whole = "\n".join(texts)
    found = [mark for mark in SPACES if mark in whole and mark != "\n"]
    whole = f"\n{whole}\n"
    spaced = any(f"\n{mark}" in whole or f"{mark}\n" in whole for mark in found)
    broken = whole.count("\n") > len(texts) + 1
    begun = any(m in whole and f"\n{m}" in whole for m in _BEGIN)  # sooner told, as few have one
    small = whole.lower() if begun else ""
    return not (spaced or broken or any(f"\n{word}\n" in small for word in _WORDS))


def _yes_or_no(cell: Cell) -> KeyColumn:
    def read(key: Literal) -> int:
        # As in text, which one missing cell can make of the column.
        word = str(key).strip(SPACES).lower()
        if word not in ("true", "false"):
            raise refuse(f"a group by {cell.label!r}", "true or false, as its column holds", key)
        return int(word == "true")

    yes = nw.when(nw.col(cell.name)).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)
    return KeyColumn(own=yes, there=cell.present(), read=each(read), back=each(bool), nothing=0)


def _whole(cell: Cell, *, listed: bool) -> KeyColumn:
    def read(key: Literal) -> int:
        number, text = as_number(key), str(key).strip(SPACES)
        # Compared as a fraction, as the column is read.
        if number is None or not number.is_integer() or abs(number) >= MOST_WHOLE:
            rule = "a whole number below 2^62, as its column holds whole numbers"
            raise refuse(f"a group by {cell.label!r}", rule, key)
        return int(text) if text.removeprefix("-").isdecimal() else int(number)  # beyond 2^53

    own = nw.col(cell.name)
    if listed:
        # No listed key is that large, so what is larger falls among the others.
        number, small = cell.whole()
        own = nw.when(small).then(number).otherwise(nw.lit(MOST_WHOLE))
    return KeyColumn(own=own, there=cell.present(), read=each(read), back=each(int), nothing=0)


def _number(cell: Cell) -> KeyColumn:
    short = cell.dtype == nw.Float32

    def read(key: Literal) -> float:
        number = as_number(key)
        if number is None:
            raise refuse(f"a group by {cell.label!r}", "a number, as its column holds", key)
        return (float(np.float32(number)) if short else number) + 0.0

    def back(number: float) -> Literal:
        if cell.inferred and number.is_integer():
            return int(number)
        return float(str(np.float32(number))) if short else float(number)

    number = nw.col(cell.name).cast(nw.Float64)
    there = is_true(~number.is_nan() & ~number.is_null())
    return KeyColumn(own=number + 0.0, there=there, read=each(read), back=each(back), nothing=0.0)


def usual_first(
    rows: nw.LazyFrame[Any],
    grouping: Grouping,
    cells: Sequence[Cell],
    listed: Sequence[Sequence[Any]],
    place: Callable[..., nw.LazyFrame[Any]],
) -> nw.LazyFrame[Any]:
    """Return rows of Spark in few groups, the texts that are just as listed found as they stand.

    Only the others are read by the full rules, which make nothing of nothing quickly.
    """
    odd = ["", *(cell.as_code(grouping.missing) for cell in cells if grouping.missing is not None)]
    keys = zip(zip(*listed[::2], strict=True), zip(*listed[1::2], strict=True), strict=True)
    usual = {
        texts: rank
        for rank, (absent, texts) in enumerate(keys)
        if not any(absent) and not any(text in odd for text in texts)
    }
    if not usual:
        return place(rows)
    found = Listed.of(rows, [*zip(*usual, strict=True)], [*usual.values()], _USUAL)
    rows = found.find(rows, [cell.stored or cell.name for cell in cells])
    other = nw.col(_USUAL).is_null()
    rows = rows.with_columns(**{c.name: nw.when(other).then(nw.col(c.name)) for c in cells})
    group = nw.when(other).then(nw.col("hn_group")).otherwise(nw.col(_USUAL)).cast(nw.Int64)
    rows = place(rows, elsewhere=True).with_columns(hn_group=group)
    last = len(listed[0])
    return rows if grouping.other is not None else rows.filter(nw.col("hn_group") < last)
