"""Leaving: what is open is closed, and the exit status says why."""

import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

import typer

from halfnoise.errors import HalfnoiseError, InvalidParameterError, TryAgainError
from halfnoise.failures import ours

CUT_OFF = 1  # how typer leaves where nobody reads what it prints
UNFORESEEN = "this went wrong in a way that was not foreseen; report it"
_STOPS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextlib.contextmanager
def left_properly() -> Iterator[None]:
    """Let what goes wrong inside become one sentence and the exit status that it has.

    0 for done, 2 for wrong use, 3 for data that cannot be read, 4 where the budget refuses, 5 where
    the same may work later; 128 and its number for a signal, which for Ctrl-C is 130.
    """
    with _signals() as stopped:
        try:
            yield
        except Exception as error:  # noqa: BLE001  # nobody shall see a traceback
            if not stopped:
                _leave(error)
        except SystemExit as left:
            if not stopped:
                if left.code == CUT_OFF:
                    _leave(BrokenPipeError())
                _flush()
                raise
        if stopped:
            # An engine may have taken the signal for a failure of its own.
            note("halfnoise: stopped")
            sys.exit(128 + stopped[0])
        _flush()


@contextlib.contextmanager
def gone_at_once() -> Iterator[None]:
    """End the process where it is left: all that is open is closed and all that is said written.

    Python itself would clear away whatever was imported, thing by thing: a twentieth of a small
    release.
    """
    try:
        yield
    except SystemExit as left:
        atexit._run_exitfuncs()  # noqa: SLF001  # what Python does first, and has no other name
        os._exit(left.code if isinstance(left.code, int) else int(left.code is not None))


def _leave(error: Exception) -> NoReturn:
    """Say what went wrong, but for words of an engine, which may quote cells, and leave."""
    if isinstance(error, BrokenPipeError):  # whoever read along has gone, and nobody listens
        _silence()
        sys.exit(TryAgainError.status)
    known = isinstance(error, HalfnoiseError)
    said = error if known else ours(error, UNFORESEEN, InvalidParameterError)
    note(f"halfnoise: {said}")
    sys.exit(getattr(said, "status", 2))


def note(text: str) -> None:
    """Say something beside the result; where that cannot be written, nothing else changes."""
    with contextlib.suppress(OSError, ValueError):
        typer.echo(text, err=True)


def _flush() -> None:
    """Write out what is printed while a failure to do so can still be told."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        _silence()
        _leave(error)


def _silence() -> None:
    """Let nothing more be written out, or Python would try again as it ends, and complain."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """Let signals end the command as an exception does, so that everything is cleaned up."""
    stopped = list[int]()

    def stop(number: int, _: FrameType | None) -> None:
        stopped.append(number)
        raise SystemExit(128 + number)

    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # only there signals arrive
        for each in _STOPS:
            if signal.getsignal(each) is not signal.SIG_IGN:  # as under nohup
                before[each] = signal.signal(each, stop)
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
