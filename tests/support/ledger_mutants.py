"""Broken ledgers, each with one fault that the tests of faults must see."""

from collections.abc import Callable
from typing import Any

import pytest

from halfnoise import files
from halfnoise.ledger import sqlite_file
from halfnoise.ledger.booking import Booking
from halfnoise.ledger.ledger import Ledger


def charge_after_reading(patch: pytest.MonkeyPatch) -> None:
    """Charge only when there is something to keep."""
    make, keep = Booking.make, Booking.keep
    waiting = dict[int, Any]()

    def later(booking: Booking, bill: Any) -> None:
        waiting[id(booking)] = bill
        booking.charge = booking.charge or object()  # type: ignore[assignment]  # anything

    def now(booking: Booking, document: bytes) -> bytes:
        booking.charge = None
        make(booking, waiting[id(booking)])
        return keep(booking, document)

    patch.setattr(Booking, "make", later)
    patch.setattr(Booking, "keep", now)


def keep_after_writing(patch: pytest.MonkeyPatch) -> None:
    """Keep a result only once it has been handed over."""
    keep, handed_over = Booking.keep, Booking.handed_over
    waiting = dict[int, bytes]()

    def later(booking: Booking, document: bytes) -> bytes:
        waiting[id(booking)] = document
        return document

    def now(booking: Booking, output: bytes) -> Any:
        if id(booking) in waiting:
            keep(booking, waiting[id(booking)])
        return handed_over(booking, output)

    patch.setattr(Booking, "keep", later)
    patch.setattr(Booking, "handed_over", now)


def no_checkpoint(patch: pytest.MonkeyPatch) -> None:
    """Leave what is committed in the log."""
    patch.setattr(sqlite_file, "_checkpoint", lambda _: None)


def draw_anew(patch: pytest.MonkeyPatch) -> None:
    """Take no notice of what was drawn before."""

    def keep(booking: Booking, document: bytes) -> bytes:
        first = Ledger.keep(booking.ledger, booking.charge, document)  # type: ignore[arg-type]
        return document if first != document else first

    patch.setattr(Booking, "stored", lambda *_: None)
    patch.setattr(Booking, "keep", keep)


def append_twice(patch: pytest.MonkeyPatch) -> None:
    """Append lines whether they are there or not."""
    patch.setattr(files, "_rest", lambda _, content: content)


def charge_twice(patch: pytest.MonkeyPatch) -> None:
    """Charge the same name again, under another."""
    charge = Ledger.charge

    def again(ledger: Ledger, bill: Any, **how: Any) -> Any:
        import dataclasses

        names = ledger.history().charges if ledger.is_there() else {}
        name = f"{bill.name}-{len(names)}" if bill.name in names else bill.name
        return charge(ledger, dataclasses.replace(bill, name=name), **how)

    patch.setattr(Ledger, "charge", again)


def say_nothing(patch: pytest.MonkeyPatch) -> None:
    """Forget a charge that was committed when something went wrong."""
    patch.setattr(Ledger, "holds", lambda *_: False)


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    mutant.__name__: mutant
    for mutant in (
        charge_after_reading,
        keep_after_writing,
        no_checkpoint,
        draw_anew,
        append_twice,
        charge_twice,
        say_nothing,
    )
}
