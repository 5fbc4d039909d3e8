"""What becomes of an error that is not ours: its kind and the versions, never its words."""

import errno
import re
from collections.abc import Sequence

from halfnoise.errors import AGAIN, DataError, HalfnoiseError, TryAgainError
from halfnoise.versions import at_work

# What an engine of another version than expected raises, and no cell does.
_MISFIT = (AttributeError, ImportError, NameError, NotImplementedError, TypeError)
_LATER = {"InterruptException", "ResourceInUseException", "Py4JNetworkError"}
_MEMORY = {"OutOfMemoryException", "MemoryError"}
_FULL = ("No space left", "File too large", "max_temp_directory_size", "os error 28")
_LOCKED = ("Could not set lock",)
NO_DISK = (
    "a disk is full, perhaps that of the temporary folder, which takes what does not fit into"
    " memory; make room and try again, or name another folder (--scratch DIR, scratch='DIR')"
)
NO_MEMORY = (
    "memory is full, or what may be held of it; allow more (--memory 4GB, memory='4GB'), or free"
    " some and try again"
)
CUT_SHORT = "this was cut short: something was locked, stopped or busy; try again"


def ours(
    error: BaseException, failed: str, kind: type[HalfnoiseError] = DataError
) -> HalfnoiseError:
    """Return an error of ours that says ``failed``, or that the same may work later.

    >>> str(ours(ValueError("cell 7"), "it failed")).partition("Python")[0]
    'it failed (ValueError; '
    """
    what = re.sub(r"[^A-Za-z0-9_]", "", type(error).__name__)[:60]
    known = f"({what}; {at_work()}; halfnoise doctor looks at these)"
    if later := _later(error, what):
        return TryAgainError(f"{later} {known}")
    if isinstance(error, _MISFIT):
        failed = "a package does not do what this version of halfnoise expects of it"
    return kind(f"{failed} {known}")


def _later(error: BaseException, what: str) -> str:
    """Say why the same may work later, if it may."""
    number = getattr(error, "errno", None)
    if _says(error, _FULL) or number in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return NO_DISK
    if what in _MEMORY or number == errno.ENOMEM:
        return NO_MEMORY
    return CUT_SHORT if what in _LATER or number in AGAIN or _says(error, _LOCKED) else ""


def _says(error: BaseException, words: Sequence[str]) -> bool:
    """Whether some words are among those of an engine, which nobody else sees."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001  # of an error that cannot even be told
        return False
    return any(each in said for each in words)
