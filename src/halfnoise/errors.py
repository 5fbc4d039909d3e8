"""What can go wrong, as one tree; beside each, the exit status of the command.

    HalfnoiseError
    ├── InvalidParameterError   2  a value breaks a rule (also a ValueError)
    │   └── UnknownNameError    2  a result has nothing under that name (also a KeyError)
    ├── NotSupportedError       2  a sound wish that halfnoise does not grant
    ├── DataError               3  a table cannot be read, or a result not be written
    │   └── TryAgainError       5  nothing is wrong with it: a full disk, a lock, an interruption
    ├── BudgetError             4  the budget does not allow it
    └── MissingExtraError       2  an optional package is not installed (also an ImportError)

Every message says what is wrong, the value, the rule and the remedy, and none shows data.
"""

import errno
from typing import ClassVar

# What the system says where the same may work later.
_BUSY = ("EAGAIN", "EBUSY", "EDEADLK", "EINTR", "EMFILE", "ENFILE", "ENOMEM", "ETXTBSY")
AGAIN = {getattr(errno, name, None) for name in ("ENOSPC", "EDQUOT", *_BUSY)} - {None}


class HalfnoiseError(Exception):
    """Any failure that halfnoise foresees; its text is advice to the person who reads it."""

    status: ClassVar[int] = 2


class InvalidParameterError(HalfnoiseError, ValueError):
    """A parameter breaks a rule that its message states."""


class UnknownNameError(InvalidParameterError, KeyError):
    """A result has no estimate, or no group, under a name; the message lists those it has."""

    def __str__(self) -> str:
        """Return the sentence as it is; a KeyError would put quotes around it."""
        return str(self.args[0])


class NotSupportedError(HalfnoiseError):
    """A combination that makes sense but that halfnoise does not offer."""


class DataError(HalfnoiseError):
    """A table cannot be read, or a result cannot be written; the message shows nothing of it."""

    status: ClassVar[int] = 3


class TryAgainError(DataError):
    """The same may work later: a disk was full, something was locked, an engine interrupted."""

    status: ClassVar[int] = 5


class BudgetError(HalfnoiseError):
    """What was asked costs more than is left to spend; nothing was read."""

    status: ClassVar[int] = 4


class MissingExtraError(HalfnoiseError, ImportError):
    """An optional package is missing; the message names the extra that brings it."""
