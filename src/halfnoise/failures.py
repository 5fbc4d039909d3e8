"""What becomes of an error that is not ours: its kind and the versions, never its words."""

import re

from halfnoise.errors import AGAIN, DataError, HalfnoiseError, TryAgainError
from halfnoise.versions import at_work

_LATER = ("OutOfMemoryException", "InterruptException", "Py4JNetworkError", "MemoryError")
_FULL = ("No space left", "max_temp_directory_size", "Could not set lock", "os error 28")


def ours(
    error: BaseException, failed: str, kind: type[HalfnoiseError] = DataError
) -> HalfnoiseError:
    """Return an error of ours that says ``failed``, or that the same may work later.

    >>> str(ours(ValueError("cell 7"), "it failed")).partition("Python")[0]
    'it failed (ValueError; '
    """
    what = re.sub(r"[^A-Za-z0-9_]", "", type(error).__name__)[:60]
    known = f"({what}; {at_work()}; halfnoise doctor looks at these)"
    words, number = str(error), getattr(error, "errno", None)
    if what in _LATER or number in AGAIN or any(each in words for each in _FULL):
        why = "this was cut short: memory or disk is full, or something was locked or stopped"
        return TryAgainError(f"{why}; try again {known}")
    return kind(f"{failed} {known}")
