"""Where entries are kept: what a place has to offer, and the statements that all of them share."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from halfnoise.errors import DataError, InvalidParameterError
from halfnoise.ledger.entries import Row, damaged
from halfnoise.values import dataclass

SOME = 100  # results at a time
LARGEST = 2**30  # bytes of a result


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one ledger inside a transaction.

    ``execute`` runs a statement with its values and returns the rows that it finds. ``prefix``
    stands before each table's name, ``mark`` in the place of a value.
    """

    execute: Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]
    prefix: str = ""
    mark: str = "?"

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return list(
            self.execute(statement.replace("@", self.prefix).replace("?", self.mark), values)
        )

    def since(self, entry: int) -> list[tuple[Any, ...]]:
        """Return the entries from a number on, in order."""
        found = "select entry, body, hash from @entries where entry >= ? order by entry"
        return self._run(found, entry)

    def head(self) -> tuple[int, str]:
        """Return the number and the hash of the last entry, as they are kept apart from it."""
        found = self._run("select entry, hash from @head")
        if len(found) != 1:
            raise damaged("its head is missing")
        entry, hashed = found[0]
        return entry, hashed

    def append(self, row: Row) -> None:
        """Add an entry."""
        self._run("insert into @entries (entry, body, hash) values (?, ?, ?)", *row)
        self._run("update @head set entry = ?, hash = ?", row.entry, row.hash)

    def keep(self, hashed: str, document: bytes) -> None:
        """Keep a result under its hash."""
        if len(document) > LARGEST:
            raise DataError(f"a ledger keeps results of up to {LARGEST >> 20:,} MiB; ask for fewer")
        statement = "insert into @documents (hash, content) values (?, ?)"
        self._run(statement, hashed, zlib.compress(document, 1))

    def document(self, hashed: str) -> bytes | None:
        """Return a result by its hash."""
        found = self._run("select content from @documents where hash = ?", hashed)
        return _unpacked(found[0][0]) if found else None

    def documents(self) -> Iterator[tuple[str, bytes | None]]:
        """Go through all results, a few at a time, each with the hash it is kept under."""
        found, last = (
            "select hash, content from @documents where hash > ? order by hash limit ?",
            "",
        )
        while some := self._run(found, last, SOME):
            last = some[-1][0]
            yield from ((hashed, _unpacked(content)) for hashed, content in some)


def _unpacked(content: Any) -> bytes | None:
    """Return a result, if it is whole, and not one that would fill all memory."""
    unpacking = zlib.decompressobj()
    try:
        found = unpacking.decompress(content, LARGEST)
    except (zlib.error, TypeError, ValueError):
        return None
    return found if unpacking.eof else None


def none_at(name: str) -> InvalidParameterError:
    """Build the sentence for a ledger that is not there."""
    remedy = f"halfnoise ledger init {name} --epsilon 3 --delta 1e-6 --unit person_id"
    return InvalidParameterError(f"there is no ledger {name!r}; make it: {remedy}")


class Store(Protocol):
    """A place for one ledger."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    @property
    def title(self) -> str:
        """What its data are called where nobody says it."""

    @property
    def files(self) -> Sequence[str]:
        """The files that it consists of, which no output may replace."""

    def exists(self) -> bool:
        """Whether there is a ledger, be it damaged."""

    def create(self, first: Row) -> None:
        """Make a ledger with its first entry, whole or not at all; ``FileExistsError``."""

    def reading(self) -> AbstractContextManager[Rows]:
        """Look at one state of it."""

    def writing(self) -> AbstractContextManager[Rows]:
        """Write alone; what was written is on disk when this ends well, and else not there."""
