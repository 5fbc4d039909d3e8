"""The ledger: what was spent on a data set, on what, and what is left."""

import hashlib
import os
import re
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Self

from halfnoise.checks import refuse
from halfnoise.errors import HalfnoiseError, InvalidParameterError, TryAgainError
from halfnoise.ledger.entries import Charge, History, Opening, Row, damaged
from halfnoise.ledger.places import on_server, store_at
from halfnoise.ledger.pricing import priced, replay
from halfnoise.ledger.store import Rows, Store
from halfnoise.ledger.terms import Bill, check_terms, opened, same
from halfnoise.ledger.words import composed
from halfnoise.privacy import reason
from halfnoise.privacy.account import Account
from halfnoise.privacy.definitions import Neighbors, Privacy
from halfnoise.views import Viewed

_HEAD = re.compile("[0-9a-fA-F]{64}")


class Ledger(Viewed):
    """What was spent on a data set, in a file that survives.

    A charge is on disk before any row is read. The result is kept in the ledger before it is handed
    over, so the same name with the same request returns it, byte for byte, and never draws anew.

    >>> import tempfile, halfnoise as hn
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = hn.Ledger.create(f"{folder.name}/survey.ledger", limit=hn.ConcentratedDP(rho=0.3))
    >>> ledger.limit
    ConcentratedDP(rho=0.3)
    >>> len(ledger.history().charges)
    0
    >>> folder.cleanup()
    """

    def __init__(self, place: str | os.PathLike[str] | Store | Self, *, new: bool = False) -> None:
        """Name the place; ``new``: make it when it is first charged, without a limit.

        ``place``: a file, or an address in PostgreSQL, ``postgresql://host/database#survey``.
        """
        self.store = store_at(place)
        self._new = new
        self._forget()

    def _forget(self) -> None:
        self._owner, self._lock, self._seen = os.getpid(), threading.Lock(), History()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the place alone."""
        return partial(Ledger, self.store, new=self._new), ()

    def __repr__(self) -> str:
        return f"Ledger({self.store.name!r})"

    @classmethod
    def create(
        cls,
        place: "str | os.PathLike[str] | Store | Ledger",
        *,
        limit: Privacy | None = None,
        unit: str | Sequence[str] = (),
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
        data_set: str | None = None,
        laplace: float | None = None,
        discover_delta: float | None = None,
        i_know: bool = False,
    ) -> "Ledger":
        """Make a ledger; what is said here holds for good.

        ``limit``: what all releases may cost together; any amount unless given. ``unit``: the
        column, or columns, that say who one person is; none where each row is one. ``laplace``: how
        much of a limit's epsilon is kept for Laplace noise; ``discover_delta``: how much of its
        delta for discovering groups. Where neither is said the first release decides. ``i_know``:
        a limit that protects hardly anybody is what you want.
        """
        ledger = cls(place)
        opening = opened(
            data_set=ledger.store.title if data_set is None else data_set,
            unit=unit,
            neighbors=neighbors,
            limit=limit,
            laplace=laplace,
            discover_delta=discover_delta,
        )
        if limit is not None and i_know is not True:
            reason.check_reason(limit, discover_delta)
        if ledger.store.exists():
            raise _exists(ledger)
        try:
            ledger.store.create(_first(opening))
        except FileExistsError:
            raise _exists(ledger) from None
        return ledger

    @classmethod
    def postgresql(cls, connection: Any, name: str) -> "Ledger":
        """Name a ledger in PostgreSQL, for jobs on several machines; ``create`` makes it.

        ``connection``: an open PEP 249 connection that nothing else uses meanwhile, or a function
        that opens one, as ``lambda: psycopg.connect("dbname=office")``: then there is one for each
        look, and the ledger outlives the server's restarts, pickles and forks.
        """
        return cls(on_server(connection, name))

    @property
    def opening(self) -> Opening:
        """What was fixed when it was made."""
        opening = self.history().opening
        if opening is None:
            raise damaged("it has no first entry")
        return opening

    @property
    def limit(self) -> Privacy | None:
        """What all releases may cost together; None for any amount."""
        return self.opening.limit

    def is_there(self) -> bool:
        """Whether it was made, or has to be: one that will be made when it is charged need not."""
        return not self._new or self.store.exists()

    def history(self) -> History:
        """Return all entries, checked, and what they add up to."""
        with self.store.reading() as rows:
            return self._read(rows)

    def composed(self, document: bytes) -> dict[str, Any]:
        """Return what all releases come to, one of which has this result."""
        return composed(self.history(), hashlib.sha256(document).hexdigest())

    def verify(self, head: str | None = None) -> History:
        """Check every entry and every result that is kept, and that a head is among them.

        An old copy that was put back cannot be told from inside: it lacks the head that was
        printed after it was made.
        """
        if head is not None and not _HEAD.fullmatch(head):
            raise refuse("head", "64 digits of 0-9 and a-f, as a release prints it", head)
        check = getattr(self.store, "check", None)
        if check is not None:
            check()
        with self.store.reading() as rows:
            found = History()
            found.read(rows.since(0))
            _check_head(found, rows)
            replay(found)
            drawn = {charge.document for charge in found.charges.values()} - {None}
            for hashed, document in rows.documents():
                _check_document(hashed, document)
                drawn.discard(hashed)
            if drawn:
                raise damaged("a result that was drawn is missing")
            heads = set() if head is None else {hashed for _, _, hashed in rows.since(0)}
        if head is not None and head.lower() not in heads:
            raise damaged("it does not hold the head that was printed: an older copy was put back")
        return found

    def charge(
        self, bill: Bill, *, resume: bool = False, tried: Callable[[Charge], object] = bool
    ) -> Charge:
        """Charge a release, or return what stands under its name; or refuse, and spend nothing.

        The charge is on disk when this returns. ``tried`` is told of it before: whoever is
        interrupted may ask whether the ledger ``holds`` it.
        """
        if self._new and not self.store.exists() and not resume:
            with suppress(FileExistsError):  # by another release of the same moment
                title = self.store.title
                about = opened(data_set=title, unit=bill.unit, neighbors=bill.neighbors)
                self.store.create(_first(about))
        with self.store.writing() as rows:
            history = self._read(rows)
            check_terms(history, bill)
            standing = self._standing(history, bill, resume=resume)
            if standing is not None:
                return standing
            row, charge = priced(history, bill)
            tried(charge)
            rows.append(row)
        return charge

    def holds(self, charge: Charge) -> bool:
        """Whether a charge of which nobody heard stands, as far as can be seen now."""
        with suppress(HalfnoiseError):
            found = self.history().charges.get(charge.name)
            own = (charge.entry, charge.request)
            return found is not None and (found.entry, found.request) == own
        return False

    def find(self, name: str, request: str) -> Charge | None:
        """Return what stands under a name; refuse it for another request."""
        if not self.store.exists():
            return None
        charge = self.history().charges.get(name)
        return None if charge is None else same(charge, request)

    def _standing(self, history: History, bill: Bill, *, resume: bool) -> Charge | None:
        charge = None if bill.name is None else history.charges.get(bill.name)
        if charge is None and resume:
            rule = "the name of a charge that stands"
            raise refuse("--resume", rule, bill.name, f"halfnoise ledger show {self.store.name}")
        if charge is None:
            return None
        if charge.document is None and charge.cost != Account.of(bill.guarantee):
            # Made meanwhile, under other circumstances; or by another version.
            said = f"the charge {charge.name!r} stands for noise of another size than planned now"
            raise TryAgainError(f"{said}; try again, with the version that made it")
        return same(charge, bill.request)

    def keep(self, charge: Charge, document: bytes) -> bytes:
        """Keep the result of a charge, and return the one that was first.

        Who finds that another was first throws the own draw away: there is one for each charge.
        """
        hashed = hashlib.sha256(document).hexdigest()
        with self.store.writing() as rows:
            history = self._read(rows)
            standing = history.charges[charge.name]
            if standing.document is not None:
                return _document(rows, standing.document)
            if rows.document(hashed) is None:
                rows.keep(hashed, document)
            rows.append(Row.after(history.last, kind="drawn", charge=charge.entry, sha256=hashed))
        return document

    def result(self, charge: Charge) -> bytes | None:
        """Return the result that is kept for a charge, if it was drawn, to be handed over.

        Whoever kept it may have died before it was safely on disk; when this returns, it is.
        """
        with self.store.writing() as rows:
            hashed = self._read(rows).charges[charge.name].document
            return None if hashed is None else _document(rows, hashed)

    def released(self, charge: Charge, output: bytes) -> History:
        """Record that a result was handed over as these bytes, and return where all stands."""
        hashed = hashlib.sha256(output).hexdigest()
        with self.store.writing() as rows:
            history = self._read(rows)
            if hashed not in history.charges[charge.name].outputs:
                done: dict[str, Any] = {"charge": charge.entry, "sha256": hashed}
                rows.append(Row.after(history.last, kind="released", **done))
        return self.history()

    def _read(self, rows: Rows) -> History:
        """Take in what was added since the last look, which must still be there."""
        if self._owner != os.getpid():  # a fork starts anew
            self._forget()
        with self._lock:
            seen = self._seen
            after = -1 if seen.last is None else seen.last.entry
            found = rows.since(max(after, 0))
            if seen.last is not None and (not found or found[0] != tuple(seen.last)):
                raise damaged("it is not the one that was open, or an older copy of it")
            seen.read(found if seen.last is None else found[1:])
            _check_head(seen, rows)
            return replace(seen, charges=dict(seen.charges))  # others may read on


def _first(opening: Opening) -> Row:
    """Return the first entry, which is like no other: one made anew is told from the old one."""
    return Row.after(None, **opening.to_dict(), nonce=secrets.token_hex(16))


def _exists(ledger: Ledger) -> InvalidParameterError:
    why = f"there is something at {ledger.store.name!r} already"
    made = "a ledger is made once, and without a limit by the first release"
    return InvalidParameterError(f"{why}; {made}; name another place")


def _check_head(history: History, rows: Rows) -> None:
    if history.last is None or rows.head() != (history.last.entry, history.last.hash):
        raise damaged("its last entries are missing")


def _document(rows: Rows, hashed: str) -> bytes:
    return _check_document(hashed, rows.document(hashed))


def _check_document(hashed: str, found: bytes | None) -> bytes:
    if found is None or hashlib.sha256(found).hexdigest() != hashed:
        raise damaged("a result that it keeps is not the one that was drawn")
    return found
