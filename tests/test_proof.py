import threading
import time
from fractions import Fraction

import pytest
from flint import arb, ctx

from halfnoise.proof import interval, precision


@pytest.mark.parametrize(("numerator", "bits"), [(0, 0), (1, 1), (-3, 2), (12345, 200)])
def test_interval_holds_its_ends(numerator: int, bits: int) -> None:
    """A ball holds both ends of the dyadic interval it stands for."""
    with precision(300):
        ball = interval(numerator, bits)
        for end in (Fraction(numerator, 1 << bits), Fraction(numerator + 1, 1 << bits)):
            assert ball.contains(arb(end.numerator) / arb(end.denominator))


def test_precision_is_restored_whatever_threads_do() -> None:
    """Many threads with precisions of their own leave the process's one as it was."""
    before = ctx.prec
    seen: list[bool] = []

    def work() -> None:
        for bits in range(64, 84):
            with precision(bits):
                time.sleep(1e-4)  # let the others run
                seen.append(ctx.prec == bits)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ctx.prec == before
    assert all(seen)
    assert len(seen) == 8 * 20


def test_precision_is_restored_after_an_error() -> None:
    """An exception inside the block leaves neither lock nor precision behind."""
    before = ctx.prec
    for _ in range(2):
        with pytest.raises(KeyError), precision(99):
            raise KeyError
    assert ctx.prec == before


def test_a_precision_that_there_is_not_leaves_the_lock_free() -> None:
    """Another thread can compute after one asked for a precision that is refused."""
    with pytest.raises(ValueError, match="prec"), precision(-1):
        pass

    def compute() -> None:
        with precision(64):
            pass

    other = threading.Thread(target=compute, daemon=True)
    other.start()
    other.join(10)
    assert not other.is_alive()
