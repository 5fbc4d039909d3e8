"""Files by their names: patterns, folders, and columns that folders say.

A folder holds files of one format, and those of all folders in it. ``year=2026/month=01`` says two
columns of all files in it. Which files there are is no secret: names of files are public.
"""

import glob
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from halfnoise.checks import is_text, refuse
from halfnoise.errors import DataError, InvalidParameterError
from halfnoise.values import dataclass

_NOTHING = "__HIVE_DEFAULT_PARTITION__"
_LOGS = ("_delta_log", ".hoodie")  # which say of some files that they no longer count
# A ledger, and what SQLite keeps beside it.
_LEDGERS = (".ledger", ".ledger-wal", ".ledger-shm", ".ledger-journal")
Said = Mapping[str, str | None]  # columns that folders say of a file


@dataclass(frozen=True, slots=True)
class Partitions:
    """What folders say of each file: the values of the same columns."""

    said: Sequence[Said]

    @property
    def names(self) -> list[str]:
        """The columns that folders say."""
        return [*self.said[0]]

    def check(self, own: Sequence[str]) -> None:
        """Refuse a column that both the files and their folders have."""
        taken = {*map(str.casefold, own)}  # some engines take a and A for one
        both = [name for name in self.names if name.casefold() in taken]
        if both:
            said = f"the column {both[0]!r} is one of the files and one of their folders"
            raise InvalidParameterError(f"{said}; rename one of the two")

    def joined(self, read: Callable[[list[int]], str], names: Mapping[str, str]) -> str:
        """Return what reads all files, each beside what folders say of it.

        ``read`` says how some files are read, by their places; ``names``: inside, those of columns
        that are asked for.
        """
        asked = [name for name in self.names if name in names]
        alike = defaultdict[tuple[str | None, ...], list[int]](list)
        for place, said in enumerate(self.said):
            alike[tuple(said[name] for name in asked)].append(place)
        parts = []
        for values, places in alike.items():
            pairs = zip(asked, values, strict=True)
            columns = [f'{_quoted(value)}::varchar as "{names[name]}"' for name, value in pairs]
            parts.append(", ".join([f"from ({read(places)}) select *", *columns]))
        while len(parts) > 1:  # pair by pair: of one long chain DuckDB takes ever longer to plan
            two = (parts[i : i + 2] for i in range(0, len(parts), 2))
            parts = [" union all ".join(f"({part})" for part in pair) for pair in two]
        return parts[0]

    def by_file(self, place: str, names: Mapping[str, str]) -> list[str]:
        """Return the columns that folders say, where an engine tells the place of a row's file.

        >>> print(*Partitions([{"year": "2024"}, {"year": None}]).by_file("place", {"year": "y"}))
        (['2024', null]::varchar[])[place] as "y"
        """
        listed = {
            name: ", ".join(_quoted(said[name]) for said in self.said)
            for name in self.names
            if name in names
        }
        return [f'([{v}]::varchar[])[{place}] as "{names[name]}"' for name, v in listed.items()]


def _quoted(value: str | None) -> str:
    return "null" if value is None else "'" + value.replace("'", "''") + "'"


def listed(data: Any) -> tuple[list[Path], Partitions]:
    """Return the files that are meant, and what folders say of them."""
    names = [data] if isinstance(data, str | os.PathLike) else list(data)
    found: list[tuple[Path, Said]] = []
    for name in map(os.fsdecode, names):
        if "://" in name:
            raise refuse("the file", "on this machine", name, "download it first")
        # No name fails it: not one that is too long, nor one behind a folder that is closed.
        there = os.path.exists(name)  # noqa: PTH110
        paths = [name] if there else sorted(glob.glob(name, recursive=True))
        if not paths:
            remedy = "save what is piped in" if name == "-" else "check the path"
            raise InvalidParameterError(f"there is no file {name!r}; {remedy}")
        for path in map(Path, paths):
            found += _in_folder(path) if path.is_dir() else [(path, {})]
    first, said = found[0]
    for path, other in found:
        if not is_text(str(path)):  # which DuckDB cannot open
            raise refuse("the file", "named in UTF-8", ascii(str(path)), "rename it")
        if other.keys() != said.keys():
            why = f"the folders of {str(path)!r} and {str(first)!r} say different columns"
            raise InvalidParameterError(f"{why}; release those of one kind by their names")
    return [path for path, _ in found], Partitions([said for _, said in found])


def _in_folder(folder: Path) -> list[tuple[Path, Said]]:
    try:
        found = sorted(_walked(folder, {}, frozenset()), key=lambda each: str(each[0]))
    except PermissionError as error:
        said = f"the folder {str(error.filename)!r} may not be read by you"
        raise DataError(f"{said}; ask its owner, or name files that you may read") from None
    if not found:
        said = f"the folder {str(folder)!r} holds no file"
        raise InvalidParameterError(f"{said}; names that begin with . or _ are passed over")
    return found


def _walked(folder: Path, said: Said, above: frozenset[str]) -> Iterator[tuple[Path, Said]]:
    """Yield the files in a folder and in those below, but not in one that leads back up."""
    above |= {os.path.realpath(folder)}
    for each in folder.iterdir():
        if each.name in _LOGS:
            why = f"the folder {str(folder)!r} has a log that says which of its files count"
            raise InvalidParameterError(f"{why}; read it with its own reader, and give the table")
        if each.name.startswith(".") or (each.name.startswith("_") and "=" not in each.name):
            continue
        if each.is_dir():
            if os.path.realpath(each) not in above:
                yield from _walked(each, _more(said, each), above)
        elif not each.name.endswith(_LEDGERS):
            yield each, said


def _more(said: Said, folder: Path) -> Said:
    """Return what folders say, with what one more says, if anything."""
    name, equals, value = folder.name.partition("=")
    if not (name and equals):
        return said
    try:
        name, value = unquote(name, errors="strict"), unquote(value, errors="strict")
    except UnicodeDecodeError:
        raise refuse("the folder", "named in UTF-8", str(folder), "rename it") from None
    if name.casefold() in map(str.casefold, said) or "\0" in name + value:
        raise refuse("the folder", "one that says a column once", str(folder), "rename it")
    return {**said, name: None if value in ("", _NOTHING) else value}
