"""Ball arithmetic: numbers with a proved error bound, at a chosen precision."""

import math
import os
import struct
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial

from flint import arb, ctx, fmpq

# FLINT keeps one precision for the whole process. A ball is right at any precision, so another
# thread that changes it costs us at most a repetition; the lock only keeps two of our own threads
# from restoring each other's setting. A fork waits for it, lest a child inherit it locked.
_lock = threading.RLock()
_LARGEST = Fraction(sys.float_info.max)
PRECISIONS = tuple(128 << doublings for doublings in range(7))  # in bits: until they settle it
if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    _free = _lock.release
    os.register_at_fork(before=_lock.acquire, after_in_parent=_free, after_in_child=_free)


class precision:  # noqa: N801  # used as ``with precision(64):``
    """Compute balls to ``bits`` bits inside a ``with`` block."""

    __slots__ = ("before", "bits")

    def __init__(self, bits: int) -> None:
        """Say how many."""
        self.bits = bits

    def __enter__(self) -> None:
        _lock.acquire()
        try:
            self.before, ctx.prec = ctx.prec, self.bits
        except BaseException:  # an interrupt, too
            _lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            ctx.prec = self.before
        finally:
            _lock.release()


def interval(numerator: int, bits: int) -> arb:
    """Return a ball that holds every x with numerator <= x * 2**bits <= numerator + 1."""
    return arb(2 * numerator + 1, 1) * _half_of(bits)


@cache
def _half_of(bits: int) -> arb:
    return arb((1, -bits - 1))


def holds(claim: Callable[[], tuple[arb, arb]]) -> bool:
    """Prove ``left <= right``: True only if ball arithmetic settles it.

    The precision doubles until the two balls are apart; balls that never part (an equality of
    irrational numbers) count as not proved, which is the safe answer.
    """
    for bits in PRECISIONS:
        with precision(bits):
            left, right = claim()
            if left <= right:
                return True
            if left > right:
                return False
    return False


def round_up(value: Callable[[], arb]) -> float:
    """Return the smallest float64 proved to be at least ``value()``, a nonnegative real.

    The precision doubles until both ends of the ball round to the same number.
    """
    least, most = 0.0, math.inf
    for bits in PRECISIONS:
        with precision(bits):
            found = value()
            if found.is_finite():
                least, most = _up(found.lower()), min(most, _up(found.upper()))
        if least >= most:
            break
    return most


def _up(exact: arb) -> float:
    """Return the smallest float64 that is at least an exact number."""
    near = float(exact)
    return math.nextafter(near, math.inf) if arb(near) < exact else near


def sqrt_down(square: Fraction) -> float:
    """Return the largest float64 whose square is at most ``square``, exactly."""
    # Scaled by a power of four, so that no square overflows or loses bits.
    shift = square.numerator.bit_length() - square.denominator.bit_length()
    shift -= shift % 2
    root = math.ldexp(math.sqrt(float(square / Fraction(2) ** shift)), shift // 2)
    above = math.nextafter(root, math.inf)
    near = (above, root, math.nextafter(root, 0), 0.0)  # rounded thrice: less than a unit away
    return next(each for each in near if Fraction(each) ** 2 <= square)


def sqrt_up(square: Fraction) -> float:
    """Return the smallest float64 whose square is at least ``square``, exactly; or infinity."""
    if square > _LARGEST**2:
        return math.inf
    root = sqrt_down(square)
    return root if Fraction(root) ** 2 == square else math.nextafter(root, math.inf)


def divide_down(amount: Fraction | float, parts: int) -> float:
    """Return the largest float64 of which ``parts`` together are at most ``amount``, exactly."""
    return down(Fraction(amount) / parts)


def down(amount: Fraction) -> float:
    """Return the largest float64 that is no more than a positive number."""
    near = float(amount)
    return math.nextafter(near, 0) if Fraction(near) > amount else near


def up(amount: Fraction) -> float:
    """Return the smallest float64 that is no less than a positive number, or infinity."""
    if amount > _LARGEST:
        return math.inf
    near = float(amount)
    return math.nextafter(near, math.inf) if Fraction(near) < amount else near


Claim = Callable[[float], tuple[arb, arb]]  # that the left is at most the right, at a number


def largest(claim: Claim, *, proved: bool = True) -> float:
    """Bisect the positive float64s for the last at which a claim is proved, or for which not.

    Up to there it is, and beyond it is not, or the other way round.
    """
    # Positive floats are ordered as their bit patterns, up to that of infinity.
    low, high = 1, 0x7FF << 52
    while high - low > 1:
        middle = (low + high) // 2
        found = holds(partial(claim, _float(middle)))
        low, high = (middle, high) if found is proved else (low, middle)
    return _float(low)


def smallest(claim: Claim) -> float:
    """Bisect the positive float64s for the first at which a claim is proved."""
    return math.nextafter(largest(claim, proved=False), math.inf)


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def ball(x: Fraction | float) -> arb:
    """Return a number as a ball at the current precision."""
    exact = Fraction(x)
    return arb(fmpq(exact.numerator, exact.denominator))


def exactly(amount: float) -> Fraction:
    """Return an amount as it is written: the shortest decimal that reads as this float64.

    >>> exactly(0.1) + exactly(0.2) == exactly(0.3)
    True
    """
    return Fraction(repr(amount))


def least(amount: float) -> Fraction:
    """Return the smaller of an amount as it is written and as it is stored.

    What is calibrated to it keeps the promise in either reading, and decimals add up.
    """
    return min(Fraction(amount), exactly(amount))
