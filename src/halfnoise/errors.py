"""What can go wrong, as one tree.

    HalfnoiseError
    ├── InvalidParameterError   a value breaks a rule (also a ValueError)
    │   └── UnknownNameError    a result has nothing under that name (also a KeyError)
    ├── NotSupportedError       a sound wish that halfnoise does not grant
    ├── DataError               a table cannot be read, or a result not be written
    └── MissingExtraError       an optional package is not installed (also an ImportError)

Every message says what is wrong, the value, the rule and the remedy, and none shows data.
"""


class HalfnoiseError(Exception):
    """Any failure that halfnoise foresees; its text is advice to the person who reads it."""


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


class MissingExtraError(HalfnoiseError, ImportError):
    """An optional package is missing; the message names the extra that brings it."""
