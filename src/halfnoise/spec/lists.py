"""Lists in words: ``a,b,c``, or ``@file`` with one to a line."""

import csv
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.files import is_among
from halfnoise.workload.groups import DISCOVER

# Where a text names a file: alone, behind a column, or behind a word of a condition.
_NAMED = re.compile(r"(|[^=]+=|.+:(?:in|yes):)@(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """Reads lists; a file of rows is none.

    ``data``: the files that hold rows. ``columns``: theirs. ``beside``: the folder of the spec that
    names the list, which must lie there; what the command line names may lie anywhere.
    """

    data: Sequence[str] = ()
    columns: Sequence[str] = ()
    beside: Path | None = None

    @classmethod
    def of(
        cls, words: Mapping[str, Any], name: str, data: Sequence[str], columns: Sequence[str]
    ) -> "Lists":
        """Return what reads the lists of one word, which a spec or the command line said."""
        return cls(data=data, columns=columns, beside=words.get("beside", {}).get(name))

    def split(self, text: str) -> tuple[str, ...]:
        """Read a list; what is empty is left out.

        >>> ANYWHERE.split("a, b,c,"), ANYWHERE.split('a,"b, c"')
        (('a', 'b', 'c'), ('a', 'b, c'))
        """
        return tuple(part.strip() for part in self.entries(text) if part.strip())

    def entries(self, text: str) -> list[str]:
        """Return the parts of a list as they are written."""
        if text.startswith("@"):
            return self._lines(text[1:])
        found = next(csv.reader([text], skipinitialspace=True), [])
        for part in found:
            if part.startswith("@") and f'"{part}' not in text:
                remedy = f'where a value begins with @, quote it: "{part}"'
                raise refuse("a list", "values, or one file alone", text, remedy)
        return found

    def _lines(self, name: str) -> list[str]:
        try:
            with self._path(name).open(encoding="utf-8-sig") as file:
                rows = is_among(os.fstat(file.fileno()), self.data)
                lines = [] if rows else file.read().splitlines()
        except (OSError, UnicodeError):
            said = f"the list {name!r} could not be read; name a text file with one to a line"
            raise InvalidParameterError(said) from None
        # A copy of the data has the same header.
        header = {cell.strip(' "') for cell in re.split(r"[,;\t|]", lines[0])} if lines else set()
        if rows or (len(header) > 1 and header.issuperset(self.columns or [None])):
            why = "every row would be shown as a name"
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


def one_value(word: str, value: object) -> str:
    """Return a value that a spec lists, as on the command line; refuse what reads as several.

    >>> one_value("groups", '"b, c"'), one_value("groups", 7)
    ('"b, c"', '7')
    """
    text = str(value)
    remedy = f"""list each by itself, ["a", "b"], or quote it: '"{text}"'"""
    if text.startswith("@") or text == DISCOVER:
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
    odd = any(mark in text for mark in ',"') or text.startswith("@") or text == DISCOVER
    return '"' + text.replace('"', '""') + '"' if odd else text


def moved(text: str, beside: Path | None, folder: Path) -> str:
    """Return a text for a spec in another folder; a list that it names must lie there."""
    found = _NAMED.fullmatch(text)
    if found is None:
        return text
    path = (beside or Path()) / found[2]
    if not path.resolve().is_relative_to(folder.resolve()):
        rule = "beside the lists that it names"
        raise refuse("a spec", rule, found[2], "save it in their folder")
    return f"{found[1]}@{path.resolve().relative_to(folder.resolve())}"
