"""A table that has not been read yet, and what a text file looks like."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType
from narwhals.stable.v2.typing import IntoFrame

from halfnoise.checks import known_keywords, refuse
from halfnoise.errors import InvalidParameterError

_PLAIN = re.compile("(?!hn_)[a-z_][a-z0-9_]*", re.ASCII | re.IGNORECASE)


@known_keywords
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
            if mark is None and name != "decimal":
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


class Settle(Protocol):
    """What returns rows: of some columns, or all; always the same ones if they are read again."""

    def __call__(self, columns: Collection[str] | None, *, again: bool) -> nw.LazyFrame[Any]:
        """Return the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table that has not been read yet: a lazy frame, and its columns with their types.

    ``names`` are the columns' names inside the frame, which engines can spell. ``fill`` puts the
    rows where the frame looks for them, and waits until a release is allowed. ``extract``, where
    there is no header to tell which columns there are, makes the table of some. ``ids`` are the
    names inside under which a column tells people apart, where that is not its own. ``settle``
    returns the rows, where the frame knows but their types.
    """

    frame: nw.LazyFrame[Any]
    dtypes: Mapping[str, DType]
    names: Mapping[str, str]
    text: TextFormat
    fill: Callable[[], None] = lambda: None
    extract: "Callable[[Sequence[str]], Source] | None" = None
    ids: Mapping[str, str] = field(default_factory=dict)
    settle: "Settle | None" = None

    @classmethod
    def over(
        cls, table: IntoFrame, text: TextFormat, names: Mapping[str, str] | None = None
    ) -> "Source":
        """Return a table with its columns by name, or by the names that stand for them inside."""
        frame: nw.LazyFrame[Any] = nw.from_native(table, pass_through=False).lazy()
        inside = dict(frame.collect_schema())
        names = {name: name for name in inside} if names is None else names
        dtypes = {name: inside[own] for name, own in names.items()}
        return cls(frame=frame, dtypes=dtypes, names=names, text=text)

    def rows(
        self, columns: Collection[str] | None = None, *, again: bool = True
    ) -> nw.LazyFrame[Any]:
        """Return the rows of some columns, or all; the same ones ``again`` and again if asked."""
        return self.frame if self.settle is None else self.settle(columns, again=again)

    @property
    def columns(self) -> list[str]:
        """The columns that the table is known to have."""
        return list(self.dtypes)

    def of(self, columns: Sequence[str]) -> "Source":
        """Return the table with these columns; refuse one that it lacks, with the nearest."""
        if self.extract is not None:
            return self.extract(columns)
        for column in columns:
            if column not in self.dtypes:
                known = self.columns
                near = get_close_matches(column, known, n=1)
                hint = f"did you mean {near[0]!r}? The table has" if near else "the table has"
                listed = ", ".join(map(repr, known[:20])) + (", ..." if len(known) > 20 else "")
                raise InvalidParameterError(f"there is no column {column!r}; {hint} {listed}")
        return self


def spelled(names: Sequence[str]) -> dict[str, str]:
    """Return names that every engine can spell: plain ones stay, the others become positions.

    None may be there twice. Engines read dots, quotes and backticks as their own, and some take
    ``a`` and ``A`` for one.

    >>> spelled(["age", "a.b", "x", "X"])
    {'age': 'age', 'a.b': 'hn_1', 'x': 'hn_2', 'X': 'hn_3'}
    """
    once(names)
    alike = Counter(name.casefold() for name in names)
    return {
        name: name if _PLAIN.fullmatch(name) and alike[name.casefold()] == 1 else f"hn_{i}"
        for i, name in enumerate(names)
    }


def once(names: Sequence[str]) -> None:
    """Refuse names that are there twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameterError(f"the column {twice!r} is there twice; rename one of the two")
