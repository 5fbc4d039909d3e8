"""A table that has not been read yet, and what a text file looks like."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError

_PLAIN = re.compile("(?!hn_)[a-z_][a-z0-9_]*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """What a text file looks like, as declared; None means what its ending suggests.

    >>> TextFormat(delimiter=";", decimal=",").encoding
    'utf-8'
    """

    delimiter: str | None = None
    quote: str | None = '"'
    encoding: str = "utf-8"
    decimal: str = "."

    def __post_init__(self) -> None:
        """Refuse marks that are not one character and encodings that do not exist."""
        for name in ("delimiter", "quote", "decimal"):
            mark = getattr(self, name)
            optional = name != "decimal"
            if mark is None and optional:
                continue
            if not isinstance(mark, str) or len(mark) != 1 or mark in "\r\n\0":
                raise refuse(name, "one character", mark)
        if self.decimal.isalnum() or self.decimal in "+-_":
            raise refuse("decimal", "a mark such as ',' or '.'", self.decimal)
        if self.delimiter is not None and self.delimiter == self.quote:
            raise refuse("quote", "another mark than the delimiter", self.quote)
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise refuse("encoding", "the name of a text encoding", self.encoding) from None

    @property
    def marks(self) -> dict[str, Any]:
        """The same for Python's own reader, which reads header lines."""
        quoting = {"quotechar": self.quote} if self.quote else {"quoting": csv.QUOTE_NONE}
        return {"delimiter": self.delimiter or ",", **quoting}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table that has not been read yet: a lazy frame, and its columns with their types.

    ``names`` are the columns' names inside the frame, which engines can spell. ``headless``: there
    is no header to tell which columns there are.
    """

    frame: nw.LazyFrame[Any]
    dtypes: Mapping[str, DType]
    names: Mapping[str, str]
    text: TextFormat = field(default_factory=TextFormat)
    headless: bool = False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that the table does not have, with the nearest ones it has."""
        for column in columns:
            if column not in self.dtypes:
                known = list(self.dtypes)
                near = get_close_matches(column, known, n=1)
                hint = f"did you mean {near[0]!r}? The table has" if near else "the table has"
                listed = ", ".join(map(repr, known[:20])) + (", ..." if len(known) > 20 else "")
                raise InvalidParameterError(f"there is no column {column!r}; {hint} {listed}")


def spelled(names: Sequence[str]) -> dict[str, str]:
    """Return names that every engine can spell: plain ones stay, the others become positions.

    Engines read dots, quotes and backticks as their own, and some take ``a`` and ``A`` for one.

    >>> spelled(["age", "a.b", "x", "X"])
    {'age': 'age', 'a.b': 'hn_1', 'x': 'hn_2', 'X': 'hn_3'}
    """
    folded = [name.casefold() for name in names]
    return {
        name: name if _PLAIN.fullmatch(name) and folded.count(folded[i]) == 1 else f"hn_{i}"
        for i, name in enumerate(names)
    }


def once(names: Sequence[str]) -> None:
    """Refuse names that are there twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameterError(f"the column {twice!r} is there twice; rename one of the two")
