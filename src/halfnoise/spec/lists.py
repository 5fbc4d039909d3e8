"""Lists in words: ``a,b,c``, or ``@file`` with one to a line."""

import csv
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from halfnoise.checks import refuse
from halfnoise.data.dialects import DIALECTS
from halfnoise.data.spelling import ISO, SPACES, Spelling, day_alone
from halfnoise.errors import InvalidParameterError
from halfnoise.files import is_among
from halfnoise.values import dataclass, replace
from halfnoise.workload.listing import DISCOVER

# Where a text names a file: alone, behind a column, or behind a word of a condition.
NAMED = re.compile(r"(|[^=]+=|.+:(?:in|yes):)\s*@(.+)", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')  # a line of a file that is one value
# Words with numbers, and in them one that may have a mark between thousands.
_NUMBERS = ("count", "sum", "mean", "bins", "by", "where", "weight", "known-size", "people")
_GROUPED = re.compile(r"(?:^|[=:,]|\.\.)\s*(-?[1-9][0-9]{0,2}\.[0-9]{3})\s*(?=[:,]|\.\.|$)")
_OBJECT = re.compile(r"\s*\{.*\}\s*")  # a row of JSON lines
_TABLE = ",;\t|"  # what parts the cells of a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """Reads lists; a file of rows is none.

    ``data``: the files that hold rows. ``columns``: theirs. ``beside``: the folder of the spec that
    names the list, which must lie there; what the command line names may lie anywhere. ``dates``:
    how the file writes days, as declared, and so may the words.
    """

    data: Sequence[str] = ()
    columns: Sequence[str] = ()
    beside: Path | None = None
    dates: str = ISO

    @classmethod
    def of(
        cls, words: Mapping[str, Any], name: str, data: Sequence[str], columns: Sequence[str]
    ) -> "Lists":
        """Return what reads the lists of one word, which a spec or the command line said."""
        usual = DIALECTS.get(words.get("dialect", ""), {}).get("dates", ISO)
        dates, beside = words.get("dates") or usual, words.get("beside", {}).get(name)
        return cls(data=data, columns=columns, beside=beside, dates=dates)

    @classmethod
    def each(
        cls, words: Mapping[str, Any], name: str, data: Sequence[str], columns: Sequence[str]
    ) -> "list[tuple[str, Lists]]":
        """Return the texts of a word that joins, each with what reads its lists.

        Those of the spec come first, those of the command line last.
        """
        texts, stored = words.get(name) or (), cls.of(words, name, data, columns)
        own = len(texts) - words.get("joined", {}).get(name, 0)
        free = replace(stored, beside=None)
        return [(text, stored if i < own else free) for i, text in enumerate(texts)]

    @staticmethod
    def named_in(words: Mapping[str, Any]) -> list[str]:
        """Return the files that words name as lists."""
        found = list[str]()
        for name, said in words.items():
            texts = said if isinstance(said, list) else [getattr(said, "groups", said)]
            named = [NAMED.fullmatch(text) for text in texts if isinstance(text, str)]
            for folder in {Path(), words.get("beside", {}).get(name) or Path()}:
                found += [str(folder / each[2]) for each in named if each is not None]
        return found

    def split(self, text: str) -> tuple[str, ...]:
        """Read a list; what is empty is left out.

        >>> ANYWHERE.split("a, b,c,"), ANYWHERE.split('a,"b, c"')
        (('a', 'b', 'c'), ('a', 'b, c'))
        """
        return tuple(filter(None, (each.strip(SPACES) for each in self.entries(text))))

    def entries(self, text: str) -> list[str]:
        """Return the parts of a list as they are written."""
        if text.startswith("@"):
            return [_unquoted(line) if '"' in line else line for line in self._lines(text[1:])]
        found = _cells(text)
        for part in found:
            if part.startswith("@") and f'"{part}' not in text:
                remedy = f'where a value begins with @, quote it: "{part}"'
                raise refuse("a list", "values, or one file alone", text, remedy)
        return found

    def values(self, flag: str, text: str) -> tuple[str, ...]:
        """Read a list of values; refuse one alone that was surely meant in another way.

        >>> ANYWHERE.values("--groups", "a;b,")
        ('a;b',)
        """
        found = self.split(text)
        if len(found) != 1 or found[0] != text.strip(SPACES):
            return found
        remedy = f'if that is one value, quote it: "{text}"'
        if any(mark in text for mark in ";|\t"):
            raise refuse(flag, "a list parted by commas", text, remedy)
        if Path(text).suffix and os.path.isfile(text):  # noqa: PTH113  # no name fails it
            raise refuse(flag, "a list, or @ and a file", text, f"say @{text}, or, {remedy}")
        return found

    def rows(self, text: str, cells: int) -> list[list[str]]:
        """Return the lines of a file, each with so many values."""
        return [_cells(line) for line in self._lines(text[1:], cells) if line.strip()]

    def day(self, text: str) -> str | None:
        """Return a day that is written as in the file, in ISO form.

        >>> Lists(dates="dd.mm.yyyy").day("1.2.2024"), ANYWHERE.day("1.2.2024")
        ('2024-02-01', None)
        """
        return day_alone(text.strip(), Spelling(dates=self.dates))

    def names(self, flag: str, text: str) -> tuple[str, ...]:
        """Read columns; where the table has one whose name holds a comma, it is that one."""
        several, columns = self.split(text), self.columns
        if text not in columns:
            return several
        if len(several) > 1 and all(name in columns for name in several):
            remedy = "the table has this column and those as well; rename one"
            raise refuse(flag, "columns that read one way", text, remedy)
        return (text,)

    def _lines(self, name: str, cells: int = 1) -> list[str]:
        try:
            with self._path(name).open(encoding="utf-8-sig") as file:
                rows = is_among(os.fstat(file.fileno()), self.data)
                lines = [] if rows else file.read().split("\n")
        except InvalidParameterError:
            raise
        except (OSError, ValueError):  # no text, or no name that a file can have
            said = f"the list {name!r} could not be read; name a text file in UTF-8"
            raise InvalidParameterError(f"{said} with one to a line") from None
        rows = rows or _is_table([*filter(str.strip, lines)], cells)
        # A copy of the data has the same header.
        header = {cell.strip(' "') for cell in re.split(r"[,;\t|]", lines[0])} if lines else set()
        if rows or (len(header) > 1 and header.issuperset(self.columns or [None])):
            why = "every row would be shown as a name; where values hold such marks, quote each"
            why += f", and put {cells} in each line, parted by commas" if cells > 1 else ""
            raise InvalidParameterError(f"the list {name!r} is a table of data: {why}")
        return lines

    def _path(self, name: str) -> Path:
        path = Path(name)
        if self.beside is None:
            return path
        own = (self.beside / path).resolve()  # and no other is opened
        if path.is_absolute() or not own.is_relative_to(self.beside.resolve()):
            rule = "a file beside the spec that names it"
            raise refuse("a list in a spec", rule, name, "copy it there, or name it with an option")
        return own


ANYWHERE = Lists()


def check_numbers(words: Mapping[str, Any]) -> None:
    """Refuse a number of a release that the file would read in another way.

    >>> check_numbers({"dialect": "de", "sum": ["cost=0:20.000"]})
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: --sum must be written without marks between thousands, \
got 'cost=0:20.000'; say 20000, or for the smaller number 20.0000
    """
    usual = DIALECTS.get(words.get("dialect", ""), {}).get("thousands")
    if words.get("thousands", usual) != "." or words.get("decimal") == ".":
        return
    for name in _NUMBERS:
        said = words.get(name) or ()
        for text in [said] if isinstance(said, str) else said:
            if found := _GROUPED.search(text):
                remedy = f"say {found[1].replace('.', '')}, or for the smaller number {found[1]}0"
                raise refuse(f"--{name}", "written without marks between thousands", text, remedy)


def _unquoted(line: str) -> str:
    found = _QUOTED.fullmatch(line.strip(SPACES))
    return line if found is None else found[1].replace('""', '"')


def _cells(line: str, mark: str = ",") -> list[str]:
    try:
        return next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])
    except csv.Error:
        why = "a list must stand on one line; quote a value that holds a line break"
        raise InvalidParameterError(f'{why}: "..."') from None  # it may be a row, so unseen


def _is_table(lines: Sequence[str], cells: int) -> bool:
    """Whether each line holds the same mark as often, or an object: then it is a row, no value.

    ``cells``: as many values, parted by commas, a line may hold.

    >>> _is_table(["p1,1", "p2,0"], 1), _is_table(["p1,1", "p2,0"], 2), _is_table(["a, b", "c"], 1)
    (True, False, False)
    """
    for mark in _TABLE if len(lines) > 1 else "":
        if not all(mark in line for line in lines):
            continue
        width = len(_cells(lines[0], mark))  # of most lists one, which settles it
        several = width > 1 and (mark, width) != (",", cells)
        if several and all(len(_cells(line, mark)) == width for line in lines):
            return True
    return len(lines) > 1 and all(_OBJECT.fullmatch(line) for line in lines)


def one_value(word: str, value: object) -> str:
    """Return a value that a spec lists, as on the command line; refuse what reads as several.

    >>> one_value("groups", '"b, c"'), one_value("groups", 7)
    ('"b, c"', '7')
    """
    text = str(value)
    remedy = f"""list each by itself, ["a", "b"], or quote it: '"{text}"'"""
    if text.startswith("@") or (word == "groups" and text == DISCOVER):
        raise refuse(f"{word} in the spec", "a list of values", value, f'say {word} = "{text}"')
    if len(ANYWHERE.split(text)) != 1:
        raise refuse(f"{word} in the spec", "a list of single values", value, remedy)
    return text


def quoted(value: object) -> str:
    """Return a value as a list on the command line has it: quoted where it must be.

    >>> quoted("b, c"), quoted(7), quoted("@home")
    ('"b, c"', '7', '"@home"')
    """
    text = str(value)
    odd = any(mark in text for mark in ',"\r\n') or text.startswith("@") or text == DISCOVER
    return '"' + text.replace('"', '""') + '"' if odd else text


def moved(text: str, beside: Path | None, folder: Path) -> str:
    """Return a text for a spec in another folder; a list that it names must lie there."""
    found = NAMED.fullmatch(text)
    if found is None:
        return text
    path = (beside or Path()) / found[2]
    if not path.resolve().is_relative_to(folder.resolve()):
        rule = "beside the lists that it names"
        raise refuse("a spec", rule, found[2], "save it in their folder")
    return f"{found[1]}@{path.resolve().relative_to(folder.resolve())}"
