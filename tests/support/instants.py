"""Every instant of a release at which something can go wrong, one after another.

The steps of the protocol, each statement to SQLite and each call to the system that writes are
watched; each has an instant before and one after it. At one of them something is done. What is
written to a file is written piece by piece, so that it can be torn.
"""

import functools
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from halfnoise import files, mechanism
from halfnoise.ledger import booking, sqlite_file
from halfnoise.results import formats

_SYSTEM = ("open", "write", "fsync", "link", "replace", "ftruncate")
_QUIET = ("trusted_schema", "cell_size", "fullfsync", "application_id", "sqlite_master")
_PIECE = 64  # bytes; more are written in parts


class Instants:
    """What happens in a release, in order, and what is to be done at one of its instants.

    ``at``: the number of the instant, None for none. ``do`` gets the label of the instant, and
    ``every`` that of each.
    """

    def __init__(self, at: int | None = None, do: Callable[[str], None] = lambda _: None) -> None:
        """Begin before all of them."""
        self.at, self.do, self.labels = at, do, list[str]()
        self.every: Callable[[str], None] = lambda _: None

    def tick(self, label: str) -> None:
        """Pass an instant."""
        self.labels.append(label)
        self.every(label)
        if self.at == len(self.labels) - 1:
            self.do(label)

    def around(self, work: Callable[..., Any], label: str) -> Callable[..., Any]:
        """Return what does the same, between two instants."""

        @functools.wraps(work)
        def watched(*given: Any, **more: Any) -> Any:
            self.tick(f"before {label}")
            done = work(*given, **more)
            self.tick(f"after {label}")
            return done

        return watched

    @contextmanager
    def watched(self) -> Iterator["Instants"]:
        """Watch what a release does."""
        with pytest.MonkeyPatch.context() as patch:
            for name in ("stored", "make", "keep", "handed_over"):
                own = getattr(booking.Booking, name)
                patch.setattr(booking.Booking, name, self.around(own, f"step {name}"))
            patch.setattr(mechanism, "noisy", self.around(mechanism.noisy, "step draw"))
            patch.setattr(mechanism, "prepared", self._added_up(vars(mechanism)["prepared"]))
            output = formats.Output
            patch.setattr(output, "write", self.around(output.write, "step write"))
            patch.setattr(typer, "echo", self._echo(typer.echo))
            system = {name: self.around(getattr(os, name), f"os {name}") for name in _SYSTEM}
            system["write"] = self.around(_write_some, "os write")
            patch.setattr(files, "os", SimpleNamespace(**vars(os) | system))
            connect = functools.partial(sqlite3.connect, factory=self._connection())
            library = SimpleNamespace(**vars(sqlite3) | {"connect": connect})
            patch.setattr(sqlite_file, "sqlite3", library)
            yield self

    def _added_up(self, prepared: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: self.around(prepared(*given), "step add up")

    def _echo(self, echo: Callable[..., Any]) -> Callable[..., Any]:
        told, printed = self.around(echo, "echo told"), self.around(echo, "echo printed")
        return lambda *said, **how: (told if how.get("err") else printed)(*said, **how)

    def _connection(self) -> type[sqlite3.Connection]:
        instants = self

        class Watched(sqlite3.Connection):
            """A connection whose statements are watched."""

            def __init__(self, where: str, *given: Any, **more: Any) -> None:
                super().__init__(where, *given, **more)
                self.in_memory = where == ":memory:"

            def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
                """Run a statement."""
                run = super().execute
                if self.in_memory or any(word in statement for word in _QUIET):
                    return run(statement, *values)
                words = " ".join(statement.split()[:3])
                found: sqlite3.Cursor = instants.around(run, f"sql {words}")(statement, *values)
                return found

            def close(self) -> None:
                """Close it, which may still write."""
                instants.around(super().close, "sql close")()

        return Watched


def _write_some(handle: int, content: memoryview) -> int:
    return os.write(handle, content if len(content) <= _PIECE else content[: len(content) // 2])
