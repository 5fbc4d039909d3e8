"""How much of the reading is done: a share of it, never rows, whose number is a true total."""

import contextlib
from collections.abc import Callable
from typing import Any

from halfnoise.values import dataclass


@dataclass(slots=True)
class Progress:
    """A share, told from inside by whoever reads, and looked at from outside by another thread.

    ``now`` says which share of one look at the table is done, where an engine can tell; ``looks``:
    how many there are, of which some are ``done``.
    """

    now: Callable[[], float | None] = lambda: None
    looks: int = 1
    done: int = 0

    @classmethod
    def of(cls, connection: Any) -> "Progress":
        """Return that of the queries of a DuckDB connection, which says -1 where it has none."""

        def now() -> float | None:
            with contextlib.suppress(Exception):  # it may be closed by now
                share = connection.query_progress() / 100
                return share if 0 <= share <= 1 else None
            return None

        return cls(now)

    def begin(self, looks: int) -> None:
        """Begin with the first of so many looks."""
        self.looks, self.done = looks, 0

    @property
    def share(self) -> float | None:
        """The share that is done, if that can be told.

        >>> Progress(lambda: 0.5, looks=2, done=1).share
        0.75
        """
        now = self.now()
        return None if now is None else min(1.0, (self.done + now) / self.looks)
