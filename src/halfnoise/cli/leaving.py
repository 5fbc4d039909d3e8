"""Leaving: what is open is closed, and the exit status says why."""

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import typer

from halfnoise.errors import HalfnoiseError, InvalidParameterError
from halfnoise.failures import ours

UNFORESEEN = "this went wrong in a way that was not foreseen; report it"
_STOPS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def left_properly(command: Callable[[], object]) -> None:
    """Run a command; what goes wrong becomes one sentence and the exit status that it has.

    0 for done, 2 for wrong use, 3 for data that cannot be read, 4 where the budget refuses, 5 where
    the same may work later; 128 and its number for a signal, which for Ctrl-C is 130.
    """
    with _signals() as stopped:
        try:
            command()
        except Exception as error:  # noqa: BLE001
            if not stopped:
                # The words of an engine may quote cells, so nothing of them is shown.
                known = isinstance(error, HalfnoiseError)
                said = error if known else ours(error, UNFORESEEN, InvalidParameterError)
                typer.echo(f"halfnoise: {said}", err=True)
                sys.exit(getattr(said, "status", 2))
        except SystemExit:
            if not stopped:
                raise
        if stopped:
            # An engine may have taken the signal for a failure of its own.
            typer.echo("halfnoise: stopped", err=True)
            sys.exit(128 + stopped[0])


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
