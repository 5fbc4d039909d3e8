"""Ball arithmetic: numbers with a proved error bound, at a chosen precision."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flint import arb, ctx

# FLINT keeps one precision for the whole process. A ball is right at any precision, so another
# thread that changes it costs us at most a repetition; the lock only keeps two of our own threads
# from restoring each other's setting. A fork waits for it, lest a child inherit it locked.
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute balls to ``bits`` bits inside a ``with`` block."""
    with _lock, ctx.workprec(bits):
        yield


def interval(numerator: int, bits: int) -> arb:
    """Return a ball that holds every x with numerator <= x * 2**bits <= numerator + 1.

    >>> interval(2, 2).contains(arb(0.5)), interval(2, 2).contains(arb(0.75))
    (True, True)
    """
    return arb(2 * numerator + 1, 1) * arb((1, -bits - 1))
