"""The ledger: what was spent on a data set, on what, and what is left."""

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from halfnoise.checks import refuse
from halfnoise.errors import BudgetError, HalfnoiseError, InvalidParameterError
from halfnoise.ledger.entries import Charge, History, Opening, Row, damaged
from halfnoise.ledger.sqlite_file import SqliteFile
from halfnoise.ledger.store import Rows, Store
from halfnoise.ledger.terms import Bill, check_opening, check_terms, same
from halfnoise.ledger.words import refusal
from halfnoise.privacy.account import Account
from halfnoise.privacy.allowance import Allowance
from halfnoise.privacy.definitions import Neighbors, Privacy, exactly

ENDING = ".ledger"


class Ledger:
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

    def __init__(self, place: str | os.PathLike[str] | Store, *, new: bool = False) -> None:
        """Name the place; ``new``: make it when it is first charged, without a limit."""
        if isinstance(place, str | os.PathLike):
            place = SqliteFile(Path(place))
        if not hasattr(place, "writing"):
            raise refuse("ledger", "the name of a file, or a Ledger", place)
        self.store: Store = place
        self._new = new
        self._forget()

    def _forget(self) -> None:
        self._owner, self._lock, self._seen = os.getpid(), threading.Lock(), History()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the place alone."""
        return _reopened, (self.store, self._new)

    def __repr__(self) -> str:
        return f"Ledger({self.store.name!r})"

    @classmethod
    def create(
        cls,
        place: str | os.PathLike[str] | Store,
        *,
        limit: Privacy | None = None,
        unit: str | Sequence[str] = (),
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
        data_set: str | None = None,
        laplace: float | None = None,
        discover_delta: float | None = None,
    ) -> "Ledger":
        """Make a ledger; what is said here holds for good.

        ``limit``: what all releases may cost together; any amount unless given. ``unit``: the
        column, or columns, that say who one person is; none where each row is one. ``laplace``: how
        much of a limit's epsilon is kept for Laplace noise; ``discover_delta``: how much of its
        delta for discovering groups. Where neither is said the first release decides.
        """
        ledger = cls(place)
        if limit is not None and not hasattr(limit, "budget"):
            raise refuse("limit", "a privacy definition", limit, "for example GaussianDP(mu=1)")
        named = data_set or Path(ledger.store.name).name.removesuffix(ENDING)
        opening = Opening(
            data_set=named,
            unit=(unit,) if isinstance(unit, str) else tuple(unit),
            neighbors=neighbors,
            limit=limit,
            pure=None if laplace is None else exactly(float(laplace)),
            delta=None if discover_delta is None else exactly(float(discover_delta)),
        )
        check_opening(opening)
        if ledger.store.exists():
            raise _exists(ledger)
        try:
            ledger.store.create(Row.after(None, **opening.to_dict()))
        except FileExistsError:
            raise _exists(ledger) from None
        return ledger

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
        """Whether it has been made."""
        return self.store.exists()

    def history(self) -> History:
        """Return all entries, checked, and what they add up to."""
        with self.store.reading() as rows:
            return self._read(rows)

    def verify(self, head: str | None = None) -> History:
        """Check every entry and every result that is kept, and that a head is among them.

        An old copy that was put back cannot be told from inside: it lacks the head that was
        printed after it was made.
        """
        check = getattr(self.store, "check", None)
        if check is not None:
            check()
        with self.store.reading() as rows:
            found = History()
            found.read(rows.since(0))
            _check_head(found, rows)
            drawn = {charge.document for charge in found.charges.values()} - {None}
            for hashed, document in rows.documents():
                _check_document(hashed, document)
                drawn.discard(hashed)
            if drawn:
                raise damaged("a result that was drawn is missing")
            heads = {hashed for _, _, hashed in rows.since(0)} if head else set()
        if head and head.lower() not in heads:
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
                named = Path(self.store.name).name.removesuffix(ENDING)
                about = Opening(data_set=named, unit=bill.unit, neighbors=bill.neighbors)
                self.store.create(Row.after(None, **about.to_dict()))
        with self.store.writing() as rows:
            history = self._read(rows)
            check_terms(history, bill)
            standing = self._standing(history, bill, resume=resume)
            if standing is not None:
                return standing
            row, charge = _priced(history, bill)
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
        return None if charge is None else same(charge, bill.request)

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


def _reopened(store: Store, new: bool) -> Ledger:  # noqa: FBT001  # pickle knows no keywords
    return Ledger(store, new=new)


def _exists(ledger: Ledger) -> InvalidParameterError:
    why = f"there is something at {ledger.store.name!r} already"
    return InvalidParameterError(f"{why}; a ledger is made once, so name another place")


def _check_head(history: History, rows: Rows) -> None:
    if history.last is None or rows.head() != (history.last.entry, history.last.hash):
        raise damaged("its last entries are missing")


def _document(rows: Rows, hashed: str) -> bytes:
    return _check_document(hashed, rows.document(hashed))


def _check_document(hashed: str, found: bytes | None) -> bytes:
    if found is None or hashlib.sha256(found).hexdigest() != hashed:
        raise damaged("a result that it keeps is not the one that was drawn")
    return found


def _priced(history: History, bill: Bill) -> tuple[Row, Charge]:
    """Return the entry for a charge that fits, or refuse."""
    cost, limit = Account.of(bill.guarantee), history.limit
    allowance, price = history.allowance, cost
    if allowance is None and limit is not None:
        allowance = Allowance.around(limit, cost, bill.times)
    if allowance is not None:
        price = allowance.price(cost, history.spent)
        if not allowance.fits(history.spent + price):
            raise BudgetError(refusal(history, allowance, cost, price))
    entry = 1 if history.last is None else history.last.entry + 1
    name = bill.name or _unused(history, entry)
    charge = Charge(
        entry=entry,
        name=name,
        time="",
        request=bill.request,
        what=bill.what,
        cost=cost,
        price=price,
        times=bill.times,
    )
    return Row.after(history.last, **charge.to_dict()), charge


def _unused(history: History, entry: int) -> str:
    """Return a name for a release that was given none."""
    name = f"release-{len(history.charges) + 1}"
    return name if name not in history.charges else f"{name}-{entry}"
