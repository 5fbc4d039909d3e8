"""A table that has not been read yet, and what a text file looks like."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType
from narwhals.stable.v2.typing import IntoFrame

from halfnoise.checks import is_name, is_text, known_keywords, refuse, whole, yes_or_no
from halfnoise.data.dialects import options_of
from halfnoise.data.sources.encodings import Encoding
from halfnoise.data.sources.lines import SEPARATOR
from halfnoise.data.sources.progress import Progress
from halfnoise.data.sources.records import WITHIN
from halfnoise.data.sources.values import CHECK_HEADER, is_a_value
from halfnoise.data.spelling import Spelling
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, field, fields, replace

T = TypeVar("T")
_TIMES = 3  # that rows are read, where something can be done about what failed
_NO_MARKS = f"\r\n\0{SEPARATOR}"
OF_LINES = ("delimiter", "quote", "quote_newlines", "encoding")  # what only lines of text have
PLACES = ("sheet", "table")  # where in a file the table is
OF_CELLS = ("names", "skip")  # which a table without types has
_PLAIN = re.compile("(?!hn_)[a-z_][a-z0-9_]*", re.ASCII | re.IGNORECASE)


@known_keywords
@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """What a text file looks like, as declared; None means what its ending suggests.

    ``names``: those of the columns, where the first line is a row and not a header. ``skip``: how
    many lines before that one are passed over; everybody may know what they say. ``sheet``: its
    name, or its number from 1; ``table``: its name, in a database. Each line is a row; with
    ``quote_newlines`` a quote may span lines. Then a quote that somebody opens and does not close
    takes rows of others away, so the guarantee covers files in which each one is closed.
    What cells mean is a ``Spelling``: ``decimal``, and the marks and words from ``thousands``
    to ``ignore_case``. ``comma``: the delimiter that the ending .csv suggests.

    >>> TextFormat(delimiter=";", decimal=",").encoding
    'utf-8'
    """

    delimiter: str | None = None
    quote: str | None = '"'
    encoding: str = "utf-8"
    decimal: str = "."
    names: Sequence[str] | None = None
    skip: int = 0
    sheet: str | int | None = None
    table: str | None = None
    quote_newlines: bool = False
    thousands: str | None = None
    dates: str = "yyyy-mm-dd"
    yes: Sequence[str] = ()
    no: Sequence[str] = ()
    ignore_case: bool = False
    comma: str = ","

    @classmethod
    def of_dialect(cls, dialect: str, **said: Any) -> "TextFormat":
        """Return what a dialect stands for, but for what is said otherwise.

        >>> TextFormat.of_dialect("de", dates="yyyy/mm/dd").thousands
        '.'
        """
        usual = options_of(dialect)
        if said.get("decimal") == usual["thousands"]:  # which can be but one of the two
            del usual["thousands"]
        return cls(**{"comma": usual.pop("delimiter"), **usual, **said})

    def __post_init__(self) -> None:
        """Refuse marks that are not one character, and encodings whose lines hang together."""
        for name in ("delimiter", "quote", "decimal", "comma"):
            mark = getattr(self, name)
            free = mark is None and name in ("delimiter", "quote")
            if not free and (not is_text(mark) or len(mark) != 1 or mark in _NO_MARKS):
                raise refuse(name, "one character that text may hold", mark)
        if self.delimiter is not None and self.delimiter == self.quote:
            raise refuse("quote", "another mark than the delimiter", self.quote)
        object.__setattr__(self, "skip", whole(least=0, skip=self.skip))
        self._check_places()
        for each in fields(spelling := self.spelling):
            object.__setattr__(self, each.name, getattr(spelling, each.name))
        self._check_encoding()
        if self.names is not None:
            object.__setattr__(self, "names", _checked_names(self.names))
            self.check_order()

    def _check_places(self) -> None:
        spans = yes_or_no(quote_newlines=self.quote_newlines)
        if spans and (self.quote is None or WITHIN in (self.delimiter, self.quote)):
            rule = f"left out where nothing is a quote, or {WITHIN!r} is a mark"
            raise refuse("quote_newlines", rule, spans)
        if spans and self.skip:  # of a quote in a title nobody knows where it ends
            raise refuse("skip", "0 where quotes span lines", self.skip, "remove the lines")
        if isinstance(self.sheet, int):
            whole(sheet=self.sheet)
        elif self.sheet is not None and not is_name(self.sheet):
            raise refuse("sheet", "the name of a sheet, or its number from 1", self.sheet)
        if self.table is not None and not is_name(self.table):
            raise refuse("table", "the name of a table", self.table)

    def _check_encoding(self) -> None:
        try:
            (self.thousands or "").encode(self.encoding)
        except UnicodeEncodeError:
            rule = f"a mark that {self.encoding} has, such as no-break, space or none"
            raise refuse("thousands", rule, self.thousands) from None
        except (LookupError, TypeError, ValueError):
            raise refuse("encoding", "a text encoding such as cp1252", self.encoding) from None
        if not Encoding.reads_by_line(self.encoding):
            remedy = f"turn the file into UTF-8 first: iconv -f {self.encoding} -t UTF-8"
            raise refuse("encoding", "one whose lines can be read alone", self.encoding, remedy)

    def check_order(self) -> None:
        """Refuse an encoding whose byte order a mark says: without a header a person could."""
        if Encoding.needs_mark(self.encoding):
            rule = "one that says its byte order where the first line is a row"
            little = Encoding.of(self.encoding, b"").codec
            raise refuse("encoding", rule, self.encoding, f"say {little} or {little[:-2]}be")

    def check_unused(self, where: str, *names: str) -> None:
        """Refuse what was said where it would not be looked at."""
        said = replace(self, encoding=codecs.lookup(self.encoding).name)
        for name in names:
            if getattr(said, name) != getattr(TextFormat(), name):
                raise refuse(name, f"left out where {where}", getattr(self, name))

    @property
    def spelling(self) -> Spelling:
        """What cells of text mean."""
        return Spelling(**{each.name: getattr(self, each.name) for each in fields(Spelling)})

    @property
    def marks(self) -> dict[str, Any]:
        """The same for Python's own reader, which reads header lines."""
        quoting = {"quotechar": self.quote} if self.quote else {"quoting": csv.QUOTE_NONE}
        return {"delimiter": self.delimiter or ",", **quoting}


def _checked_names(names: object) -> tuple[str, ...]:
    listed = tuple(names) if isinstance(names, list | tuple) else ()
    if not listed or not all(map(is_name, listed)):
        raise refuse("names", "a list of the columns' names", names)
    once(listed)
    return listed


class Settle(Protocol):
    """What returns rows of some columns, always the same ones if they are read again."""

    def __call__(self, columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
        """Return the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table that has not been read yet: a lazy frame, and its columns with their types.

    ``names`` are the columns' names inside the frame, which engines can spell. ``fill`` puts the
    rows where the frame looks for them, and waits until a release is allowed. ``extract``, where
    there is no header to tell which columns there are, makes the table of some; ``narrow`` does
    where they are known, but each one in the frame has its price; ``at_once``: how many are read at
    once if all are asked the same; ``in_rows``, where lines are split, makes a row of each cell.
    ``ids`` are the names inside under which a column tells people apart, where that is not its own.
    ``inferred``: columns whose type is what a frame made of their cells. ``settle`` returns rows,
    where the frame knows but types. ``from_header``: the names come from a line of a file, which
    could be a row. ``counted``: how many rows there are is a fact that no row's content can change.
    ``mend``: what makes rows readable that failed so, at the price of a copy or another look.
    ``unchanged`` refuses rows that were changed meanwhile. ``check_whole`` refuses files that are
    cut, by their size. ``nulled``: empty or unreadable text is null already. ``files``: the real
    names of those that hold it, in one order however they were given. ``progress``: what is read.
    """

    frame: nw.LazyFrame[Any] = field(repr=False)  # some engines show rows
    dtypes: Mapping[str, DType] = field(repr=False)  # a header may be a row
    names: Mapping[str, str] = field(repr=False)
    text: TextFormat
    fill: Callable[[], None] = lambda: None
    extract: "Callable[[Sequence[str]], Source] | None" = None
    narrow: "Callable[[Sequence[str]], Source] | None" = None
    at_once: int = 0
    in_rows: "Callable[[Sequence[str]], Source] | None" = None
    ids: Mapping[str, str] = field(default_factory=dict)
    inferred: Collection[str] = ()
    settle: "Settle | None" = None
    from_header: bool = False
    counted: bool = True
    mend: Callable[[Exception], Callable[[], None] | None] = lambda _: None
    unchanged: Callable[[], None] = lambda: None
    check_whole: Callable[[], None] = lambda: None
    nulled: bool = False
    files: tuple[str, ...] = ()
    progress: Progress = field(default_factory=Progress, repr=False)

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

    def rows(self, columns: Collection[str] = (), *, again: bool = True) -> nw.LazyFrame[Any]:
        """Return the rows of some columns, or all; the same ones ``again`` and again if asked."""
        return self.settle(columns or [*self.names], again=again) if self.settle else self.frame

    @property
    def columns(self) -> list[str]:
        """The columns that the table is known to have."""
        return [*self.dtypes]

    @property
    def is_narrowed(self) -> bool:
        """Whether it can be asked for with some columns only, as often as wanted."""
        return self.narrow is not None or self.extract is not None

    @property
    def could_be_a_row(self) -> bool:
        """Whether the columns' names could be a person's cells, which nobody may see."""
        words = (*self.text.yes, *self.text.no)
        return self.from_header and any(is_a_value(name, words) for name in self.dtypes)

    def read(self, work: Callable[[], T]) -> T:
        """Put the rows in place and do some work on them, again where what failed it is mended."""
        self.fill()
        for left in reversed(range(_TIMES)):
            try:
                found = work()
                break
            except Exception as error:
                mend = self.mend(error) if left else None
                if mend is None:
                    raise
            mend()  # here no traceback leads to the engine's error, which may show a cell
        self.unchanged()
        return found

    def of(self, columns: Sequence[str]) -> "Source":
        """Return the table with these columns; refuse one that it lacks."""
        self.check(columns)
        if self.extract is not None:
            return replace(self.extract(columns), unchanged=self.unchanged, extract=self.extract)
        if self.narrow is None:
            return self
        return replace(self, frame=(table := self.narrow(columns)).frame, fill=table.fill)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse a column that the table lacks, with the nearest.

        The columns there are become known only to somebody who knows one of them: in a file without
        a header they are a person's cells.
        """
        if self.extract is not None or all(column in self.dtypes for column in columns):
            return
        hidden = self.could_be_a_row
        for column in (column for column in columns if column not in self.dtypes):
            if hidden or (self.from_header and not any(name in self.dtypes for name in columns)):
                said = f"the header of the file has no column {column!r}; {CHECK_HEADER}"
                raise InvalidParameterError(said)
            near = get_close_matches(column, known := self.columns, n=1)
            hint = f"did you mean {near[0]!r}? The table has" if near else "the table has"
            listed = ", ".join(map(repr, known[:20])) + (", ..." if len(known) > 20 else "")
            raise InvalidParameterError(f"there is no column {column!r}; {hint} {listed}")


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
