import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from threadpoolctl import ThreadpoolController

import halfnoise as hn
from halfnoise.design import duality
from halfnoise.design.at_prices import Optimum
from halfnoise.design.people import People, Size

BLAS = ThreadpoolController().select(user_api="blas")
pytestmark = pytest.mark.skipif(not BLAS.info(), reason="a BLAS whose threads nobody can count")


def threads() -> list[int]:
    """Return how many threads each library of BLAS may use; some were built for one alone."""
    return [library["num_threads"] for library in BLAS.info()]


@pytest.fixture(autouse=True)
def before() -> Iterator[list[int]]:
    """Allow two threads, as most machines do; tests themselves are begun with one."""
    own = max(threads())
    _allow(2)
    yield threads()
    _allow(own)


def _allow(most: int) -> None:
    """Set a limit in a thread that ends, so that it belongs to none."""
    one = threading.Thread(target=lambda: BLAS.limit(limits=most))
    one.start()
    one.join()


def seen(monkeypatch: pytest.MonkeyPatch, wait: Any = None) -> list[list[int]]:
    """Return a list of how many threads there are while a programme is solved."""
    found, solve = list[list[int]](), duality._solve

    def watched(*args: Any) -> Optimum:
        found.append(threads())
        if wait is not None:
            with contextlib.suppress(threading.BrokenBarrierError):
                wait.wait(timeout=0.3)
        return solve(*args)

    monkeypatch.setattr(duality, "_solve", watched)
    return found


def planned() -> None:
    """Find the best noise for two sums."""
    sums = [hn.Sum("x", bounds=(0.1, 0.9)), hn.Sum("y", bounds=(0.8, 8.7))]
    people = People.of(hn.Workload(sums).blocks, Size.UNUSED)
    assert people is not None
    assert duality.solve(people.programme).bound > 0


def test_programmes_have_one_thread_and_give_the_others_back(
    before: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small matrices are multiplied in one thread; afterwards there are as many as before."""
    found = seen(monkeypatch)
    planned()
    assert found
    assert max(before) == 2
    assert all(max(each) == 1 for each in found)
    assert threads() == before


def test_a_limit_that_is_not_set_is_seen(
    before: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test sees several threads."""
    monkeypatch.setattr(ThreadpoolController, "limit", lambda *_, **__: contextlib.nullcontext())
    with pytest.raises(AssertionError):
        test_programmes_have_one_thread_and_give_the_others_back(before, monkeypatch)


def test_plans_at_the_same_time_leave_as_many_as_before(
    before: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits of two threads that plan do not stay."""
    seen(monkeypatch, threading.Barrier(2))
    both = [threading.Thread(target=planned) for _ in "ab"]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert threads() == before


def test_limits_that_cross_are_seen(before: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The test sees what is lifted in another order than it was set."""
    monkeypatch.setattr(duality, "_ALONE", contextlib.nullcontext())
    for _ in range(50):
        with contextlib.suppress(AssertionError):
            test_plans_at_the_same_time_leave_as_many_as_before(before, monkeypatch)
            continue
        return
    pytest.fail("no limit stayed")
