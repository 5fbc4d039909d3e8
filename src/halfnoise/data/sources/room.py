"""What an engine of ours may take of the machine: memory, and a place for what does not fit."""

import os
import re
from pathlib import Path

from halfnoise.checks import refuse
from halfnoise.values import dataclass

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
LEAST = 100 * 10**6  # bytes, below which DuckDB cannot even spill
FOR_A_THREAD = 125 * 10**6  # bytes: what DuckDB wants for each


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Bytes of ``memory``, and the folder in which ``scratch`` is made; None: what is usual.

    It changes no result, so it belongs to no request.
    """

    memory: int | None = None
    scratch: Path | None = None

    @classmethod
    def of(cls, memory: object = None, scratch: object = None) -> "Room":
        """Return what was said, checked.

        >>> Room.of("1.5 GB").memory
        1500000000
        >>> Room.of("much")
        Traceback (most recent call last):
        halfnoise.errors.InvalidParameterError: memory must be at least 100MB, written like 1GB or \
512MiB, got 'much'
        """
        return cls(
            memory=None if memory is None else _bytes(memory),
            scratch=None if scratch is None else _folder(scratch),
        )

    def check_unused(self, engine: str) -> None:
        """Refuse what was said where another engine than DuckDB reads, which has its own."""
        for name, said in (("memory", self.memory), ("scratch", self.scratch)):
            if said is not None:
                remedy = f"see the settings of {engine}"
                raise refuse(name, f"left out where {engine} reads", str(said), remedy)


def _bytes(said: object) -> int:
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([A-Z]*)", str(said).strip().upper())
    if not isinstance(said, bool) and found is not None and found[2] in _UNITS:
        memory = int(float(found[1]) * _UNITS[found[2]])
        if memory >= LEAST:
            return memory
    raise refuse("memory", "at least 100MB, written like 1GB or 512MiB", said)


def _folder(said: object) -> Path:
    folder = os.fspath(said) if isinstance(said, str | os.PathLike) else ""
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):  # noqa: PTH112
        remedy = "make it, on a disk with room for what does not fit into memory"
        raise refuse("scratch", "a folder in which you may write", said, remedy)
    return Path(folder).resolve()
