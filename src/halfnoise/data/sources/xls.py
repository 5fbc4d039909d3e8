"""Sheets of older and binary kinds, .xls and .xlsb, read by calamine in a process of its own.

Where a cell holds what calamine cannot, it says so on the terminal, and may end its process: there
nobody hears it, and ours goes on. It holds a sheet in memory, from the first cell to the last.
"""

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from halfnoise.checks import installed
from halfnoise.data.sources.plain_cells import Plain, or_missing
from halfnoise.data.sources.xlsx import Row
from halfnoise.errors import DataError

_PROGRAM = """
import datetime, json, sys
import python_calamine as reader

def plain(cell):
    if isinstance(cell, datetime.timedelta):
        return [cell.total_seconds()]
    return cell if isinstance(cell, (str, bool, int, float)) else str(cell)

def cells(sheet):
    rows, left = sheet.iter_rows(), (sheet.start or (0, 0))[1]
    for number in range(1, (sheet.end or (-1, 0))[0] + 2):
        try:
            row = next(rows)
        except StopIteration:
            return
        except BaseException:
            continue  # a row with a cell that it cannot hold
        yield number, {i: plain(cell) for i, cell in enumerate(row, left) if cell != ""}

path, *wanted = sys.argv[1:]
worksheet = reader.SheetTypeEnum.WorkSheet
try:
    with reader.CalamineWorkbook.from_path(path) as book:
        kinds = [each for each in book.sheets_metadata if each.typ == worksheet]
        found = cells(book.get_sheet_by_name(*wanted)) if wanted else [[k.name for k in kinds]]
        for each in found:
            print(json.dumps(each))
except reader.PasswordError:
    sys.exit(4)
"""
_PASSWORD = 4


class Xls:
    """A file of sheets, each read from begin to end whenever it is asked for."""

    def __init__(self, path: Path) -> None:
        """Refuse to go on without calamine."""
        installed("python_calamine")
        self._path = path

    def close(self) -> None:
        """Do nothing: what reads has closed the file."""

    @cached_property
    def sheets(self) -> dict[str, str]:
        """The sheets' names."""
        (names,) = self._said()
        return {name: name for name in names}

    def begin(self, sheet: str) -> None:
        """Do nothing: who finds the sheets reads the file."""

    def rows(self, sheet: str) -> Iterator[Row]:
        """Yield the rows of a sheet that hold anything."""
        for number, cells in self._said(sheet):
            yield number, {int(column): _plain(cell) for column, cell in cells.items()}

    def _said(self, *sheet: str) -> Iterator[Any]:
        """Yield what the other process says, line by line."""
        words = [sys.executable, "-P", "-c", _PROGRAM, str(self._path), *sheet]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(  # noqa: S603  # a program of our own
            words, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, encoding="ascii"
        ) as process:
            ended = False
            try:
                yield from map(json.loads, process.stdout or ())
                ended = True
            finally:
                if not ended:
                    process.kill()
        if process.returncode == _PASSWORD:
            raise DataError(f"the file {str(self._path)!r} has a password; save it without one")
        if process.returncode:
            raise DataError(
                f"the file {str(self._path)!r} could not be read as a sheet; check that it is"
                " complete, or save it as .xlsx"
            )


def _plain(cell: Any) -> Plain:
    return or_missing(lambda: dt.timedelta(seconds=cell[0])) if isinstance(cell, list) else cell
