"""The whole command without an engine: rows are not the point, and thousands of runs take seconds.

Words, checks, the ledger, the noise, the output and the way out are the command's own; the plan is
made once, and the totals are always the same.
"""

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from halfnoise import mechanism
from halfnoise.cli import releasing
from halfnoise.cli.leaving import left_properly
from halfnoise.data.sources.source import TextFormat
from halfnoise.ledger.entries import History
from halfnoise.ledger.ledger import Ledger
from halfnoise.privacy.definitions import GaussianDP
from halfnoise.workload.totals import Totals
from support.commands import Ran

COLUMNS = ("person_id", "smoker", "old")
# One asks for little of a limit that is told in its own unit, which needs no search for an epsilon.
WORDS: dict[str, Any] = {"count": ["smoker"], "unit": ["person_id"], "mu": "0.125"}
LIMIT = GaussianDP(mu=100)


@contextlib.contextmanager
def _source(*_: object, **__: object) -> Iterator[SimpleNamespace]:
    facts = {"columns": COLUMNS, "from_header": False, "could_be_a_row": False}
    yield SimpleNamespace(**facts, counted=True, extract=None, files=(), text=TextFormat())


def _prepared(_: object, __: object, blocks: Any, ___: object) -> Any:
    # So many that no number is near zero: the same is said of each release.
    one = np.array([9000], dtype=np.uint64)
    sums = tuple(np.full((1, block.shape.size), 3000, dtype=np.uint64) for block in blocks)
    return lambda: Totals(sums=sums, people=one, everyone=one)


def without_engine(patch: pytest.MonkeyPatch) -> None:
    """Let the command do without rows."""
    plan: Any = vars(mechanism)["plan"]
    made = dict[str, Any]()

    def planned(workload: Any, **terms: Any) -> Any:
        key = repr((workload, terms))
        return made[key] if key in made else made.setdefault(key, plan(workload, **terms))

    patch.setattr(releasing, "open_source", _source)
    patch.setattr(mechanism, "prepared", _prepared)
    patch.setattr(mechanism, "plan", planned)


@dataclass(frozen=True, kw_only=True)
class Job:
    """A release from a file in a folder, to be asked for again and again.

    ``ending``: that of its output, "" where it is printed. ``name``: what it is called, None for no
    name. ``own``: the ledger is the one beside the file, made on the way; else it is there already.
    ``table``: what its output is called.
    """

    folder: Path
    ending: str = ""
    name: str | None = "monday"
    own: bool = False
    table: str = "table"

    @property
    def ledger(self) -> Ledger:
        """The ledger, as somebody sees it who opens it now."""
        return Ledger(self.folder / ("survey.csv.ledger" if self.own else "job.ledger"))

    @property
    def out(self) -> Path:
        """Where it is written."""
        return self.folder / f"{self.table}{self.ending}"

    def begin(self) -> None:
        """Make what must be there before."""
        (self.folder / "survey.csv").write_text(",".join(COLUMNS) + "\n")
        if not self.own:
            Ledger.create(self.folder / "job.ledger", limit=LIMIT, unit="person_id", i_know=True)
        if self.ending == ".jsonl":
            self.out.write_text('{"an": "earlier line"}\n')

    def words(self, **instead: Any) -> dict[str, Any]:
        """Return what is said."""
        said: dict[str, Any] = WORDS | ({} if self.own else {"ledger": self.ledger.store.name})
        said |= {"out": str(self.out) if self.ending else "-"}
        said |= {} if self.name is None else {"name": self.name}
        return {word: x for word, x in (said | instead).items() if x is not None}

    def run(self, printed: Path | None = None, **instead: Any) -> Ran:
        """Run the command; what it prints goes to a file, where a death leaves it as it was."""
        err, status = io.StringIO(), 0
        printed = printed or self.folder / "printed"
        with (
            printed.open("w", encoding="utf-8") as out,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                with left_properly():
                    data = [str(self.folder / "survey.csv")]
                    releasing.release_command(self.words(**instead), data)
            except SystemExit as left:
                status = int(str(left.code or 0))
        return Ran(status=status, out=printed.read_text(encoding="utf-8"), err=err.getvalue())

    def seen(self, printed: str = "") -> list[bytes]:
        """Return each copy of the result that somebody may have seen."""
        if not self.ending:
            return [printed.encode()] if printed else []
        if not self.out.exists():
            return []
        content = self.out.read_bytes()
        if self.ending != ".jsonl":
            return [content]
        lines = content.splitlines(keepends=True)
        assert lines[0] == b'{"an": "earlier line"}\n', lines
        return [b"".join(lines[1:])] if lines[1:] else []

    def history(self) -> History | None:
        """Return what stands in the ledger, every part checked; None before there is one."""
        ledger = self.ledger
        return ledger.verify() if ledger.store.exists() else None


def claims(ran: Ran) -> set[str]:
    """Return the names of which a run says that they are charged."""
    return set(re.findall(r"(?:[Cc]harged: |the charge )'([^']*)'", ran.err))
