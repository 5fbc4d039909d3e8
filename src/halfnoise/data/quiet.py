"""Silence: whatever an engine says may quote cells, so nothing of it is passed on."""

import logging
import threading
import warnings
from collections.abc import Callable
from typing import TypeVar

from halfnoise.errors import DataError, HalfnoiseError

T = TypeVar("T")
_lock = threading.RLock()


def quietly(work: Callable[[], T], failed: str) -> T:
    """Do some work; if an engine fails, say ``failed`` and nothing else, not even in a log.

    **Guarantee.** The error has neither cause nor context, so no traceback leads to the engine's.
    """
    try:
        # Warnings and log records would tell that some cell is odd, or quote it. Both are settings
        # of the whole process, so threads that read take turns.
        with _lock, warnings.catch_warnings():
            before = logging.root.manager.disable
            logging.disable(logging.CRITICAL)
            warnings.simplefilter("ignore")
            try:
                return work()
            finally:
                logging.disable(before)
    except (HalfnoiseError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001, S110  # a panic of Polars is not an Exception
        pass
    raise DataError(failed)
