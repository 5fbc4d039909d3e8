"""Silence: whatever an engine says may quote cells, so nothing of it is passed on.

Warnings and log records are dropped where they are made, if the thread that makes them reads. Both
pass hooks of the whole process, which let those of all other threads through: nothing is switched
off, no thread waits for another, and as no lock is held, a process may be forked at any time.
"""

import contextlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from halfnoise.errors import HalfnoiseError
from halfnoise.failures import ours
from halfnoise.versions import ENGINES

T = TypeVar("T")
_own = threading.local()  # how often the thread is inside
_readers: set[tuple[int, int]] = set()  # processes and threads that read
# What engines call themselves and what they stand on; a thread of theirs without a frame is "sys".
_SPEAKERS = {*ENGINES, "narwhals", "numpy", "py4j", "sqlglot", "sys"}


def quietly(work: Callable[[], T], failed: str) -> T:
    """Do some work; if an engine fails, say ``failed`` and the kind of failure, not its words.

    **Guarantee.** The error has neither cause nor context, so no traceback leads to the engine's,
    and nothing that the engine logs or warns of is recorded or shown.
    """
    with _silence():  # also while an error is looked at: Spark asks the JVM for its words
        try:
            return work()
        except HalfnoiseError as error:
            error.__cause__ = error.__context__ = None
            raise
        except (KeyboardInterrupt, SystemExit) as error:
            error.__cause__ = error.__context__ = None
            said: BaseException = error.with_traceback(None)  # which leads past exact totals
        except BaseException as error:  # noqa: BLE001  # a panic of Polars is not an Exception
            stopped = type(error) is RuntimeError and error.args == ("Query interrupted",)
            # DuckDB takes an interruption, and says this instead.
            said = KeyboardInterrupt() if stopped else ours(error, failed)
    raise said


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop what this thread, and threads of engines, say meanwhile."""
    _Records.listen()
    me, depth = (os.getpid(), threading.get_ident()), getattr(_own, "depth", 0)
    _own.depth = depth + 1
    _readers.add(me)
    try:
        with _no_warnings():
            yield
    finally:
        _own.depth = depth
        if not depth:
            _readers.discard(me)


def _unheard(speaker: str) -> bool:
    """Whether this thread reads, or is an engine's own, which Python did not start."""
    if getattr(_own, "depth", 0):
        return True
    reading = any(process == os.getpid() for process, _ in tuple(_readers))
    foreign = reading and type(threading.current_thread()).__name__ == "_DummyThread"
    return foreign and speaker.partition(".")[0] in _SPEAKERS


class _Warnings:
    """Stands where a filter of warnings has a pattern for modules."""

    @staticmethod
    def match(module: str) -> bool:
        """Whether the filter, which ignores, is for this warning."""
        return _unheard(module)


_FILTER: Any = ("ignore", None, Warning, _Warnings(), 0)


@contextlib.contextmanager
def _no_warnings() -> Iterator[None]:
    """Put our filter in front of all others, so that a user's cannot make errors of warnings."""
    if getattr(sys.flags, "context_aware_warnings", False):  # then filters are each thread's own
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
        return
    filters: Any = warnings.filters
    if filters[:1] != [_FILTER]:
        with contextlib.suppress(ValueError):
            filters.remove(_FILTER)
        filters.insert(0, _FILTER)
    yield


class _Records:
    """Makes log records; those that must not be heard are empty, and below every level."""

    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self.make = make

    @classmethod
    def listen(cls) -> None:
        """Stand in front of what makes log records."""
        now = logging.getLogRecordFactory()
        if not isinstance(now, cls):
            logging.setLogRecordFactory(cls(now))

    def __call__(self, *said: Any, **more: Any) -> logging.LogRecord:
        """Make a record of its logger, level, path, line, message, arguments and exception."""
        if not _unheard(str(said[0] if said else more.get("name"))):
            return self.make(*said, **more)
        record = self.make(*said[:4], "", (), None)
        record.levelno = -sys.maxsize
        return record
