"""Silence: whatever an engine says may quote cells, so nothing of it is passed on."""

import warnings
from collections.abc import Callable
from typing import TypeVar

from halfnoise.errors import DataError, HalfnoiseError

T = TypeVar("T")


def quietly(work: Callable[[], T], said: str) -> T:
    """Do some work; if an engine fails, say ``said`` and nothing else. Warnings are dropped.

    **Guarantee.** The error has neither cause nor context, so no traceback leads to the engine's.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except (HalfnoiseError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001, S110  # a panic of Polars is not an Exception
        pass
    raise DataError(said)
