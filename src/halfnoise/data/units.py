"""Whom a row is about: what tells people apart is never cast, but where nothing can be lost.

NaN and text without a letter name nobody, -0.0 is 0.0. A column whose values an engine might take
for each other, or cannot compare at all, is refused by its type.
"""

import narwhals.stable.v2 as nw

from halfnoise.data.cells import SPACES
from halfnoise.data.sources.source import Source
from halfnoise.errors import InvalidParameterError

_TEXT = (nw.String, nw.Categorical, nw.Enum)
_EXACT = (nw.Boolean, nw.Date, nw.Datetime, nw.Binary, nw.Decimal)
_KNOWN = "text, whole numbers, decimals, fractions, bytes, days or moments"


def unit_column(source: Source, column: str) -> nw.Expr:
    """Return who a row is about: null where it does not say."""
    name = source.ids.get(column, source.names[column])
    key, dtype = nw.col(name), source.frame.collect_schema()[name]
    if dtype.is_float():
        return nw.when(~key.is_nan()).then(key + 0.0)
    if dtype in _TEXT:
        text = key.cast(nw.String)
        return nw.when(text.str.strip_chars(SPACES) != "").then(text)
    if dtype.is_integer() or dtype in _EXACT:
        return key
    held = f"the unit {column!r} holds {dtype}, by which people cannot be told apart"
    raise InvalidParameterError(f"{held}; name a column of {_KNOWN}")
