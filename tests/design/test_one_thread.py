import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from threadpoolctl import ThreadpoolController

import halfnoise as hn
from halfnoise.design import duality
from halfnoise.design.people import People, Size

BLAS = ThreadpoolController().select(user_api="blas")
pytestmark = pytest.mark.skipif(not BLAS.info(), reason="a BLAS whose threads nobody can count")


def threads() -> set[int]:
    """Return how many threads each library of BLAS may use."""
    return {library["num_threads"] for library in BLAS.info()}


@pytest.fixture(autouse=True)
def _two() -> Iterator[None]:
    """Allow two threads, as most machines do; tests themselves are begun with one."""
    before = max(threads())
    BLAS.limit(limits=2)
    yield
    BLAS.limit(limits=before)


def seen(monkeypatch: pytest.MonkeyPatch, wait: Any = None) -> list[set[int]]:
    """Return a list of how many threads there are while a programme is solved."""
    found, solve = list[set[int]](), duality._solve

    def watched(*args: Any) -> duality.Optimum:
        found.append(threads())
        if wait is not None:
            with contextlib.suppress(threading.BrokenBarrierError):
                wait.wait(timeout=1)
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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Small matrices are multiplied in one thread; afterwards there are as many as before."""
    found = seen(monkeypatch)
    planned()
    assert found
    assert all(each == {1} for each in found)
    assert threads() == {2}


def test_a_limit_that_is_not_set_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test sees several threads."""
    monkeypatch.setattr(ThreadpoolController, "limit", lambda *_, **__: contextlib.nullcontext())
    with pytest.raises(AssertionError):
        test_programmes_have_one_thread_and_give_the_others_back(monkeypatch)


def test_plans_at_the_same_time_leave_as_many_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of two threads that plan do not stay."""
    seen(monkeypatch, threading.Barrier(2))
    both = [threading.Thread(target=planned) for _ in "ab"]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert threads() == {2}
