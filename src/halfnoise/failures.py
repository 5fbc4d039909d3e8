"""What becomes of an error that is not ours: its kind and the versions, never its words."""

import re

from halfnoise.errors import AGAIN, DataError, HalfnoiseError, TryAgainError
from halfnoise.versions import at_work

# What an engine of another version than expected raises, and no cell does.
_MISFIT = (AttributeError, ImportError, NameError, NotImplementedError, TypeError)
_LATER = {
    *("OutOfMemoryException", "InterruptException", "ResourceInUseException"),
    *("Py4JNetworkError", "MemoryError"),
}
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
    if what in _LATER or getattr(error, "errno", None) in AGAIN or _is_full(error):
        why = "this was cut short: memory or disk is full, or something was locked or stopped"
        return TryAgainError(f"{why}; try again {known}")
    if isinstance(error, _MISFIT):
        failed = "a package does not do what this version of halfnoise expects of it"
    return kind(f"{failed} {known}")


def _is_full(error: BaseException) -> bool:
    """Whether an engine's words, which nobody else sees, say that there is no room."""
    try:
        words = str(error)
    except Exception:  # noqa: BLE001  # of an error that cannot even be told
        return False
    return any(each in words for each in _FULL)
