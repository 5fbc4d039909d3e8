"""Bad input by the thousand: how much of it, how long each may take, and what it must not do."""

import contextlib
import faulthandler
import json
import os
import re
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, given, settings

from halfnoise.errors import HalfnoiseError
from support.commands import Ran, run

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))  # so many times as many inputs
LIMIT = 60.0  # seconds for one input; the slowest known takes two, but machines may be busy
# What an engine, or Python, says; and our own sentences for what nobody foresaw.
FOREIGN = re.compile(
    r"Traceback|duckdb(?! or spark)|polars|pyarrow|narwhals|numpy|sqlite|tomllib|flint|"
    r"[A-Za-z]+ Error: |[A-Z][a-z]+Error|NoneType|must be (?:str|int|float|bool|NoneType)\b|"
    r"not foreseen|does not do what this version|<[a-z_.]+ object|LINE \d"
)
VERSIONS = re.compile(r" \(\w+; Python [^()]*; halfnoise doctor looks at these\)")
STATUSES = (0, 2, 3, 4, 5)
WRONG_USE = 2


class Hang(BaseException):
    """An input took too long; no ``except Exception`` shall keep it."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail where the work inside takes longer, whoever catches what; at worst end the process.

    Python hears an alarm between two of its own steps. Where an engine never comes back to it, all
    that is left is to end the process, and to say where it was.
    """
    rung = False

    def ring(_: int, __: FrameType | None) -> None:
        nonlocal rung
        rung = True
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    faulthandler.dump_traceback_later(10 * seconds, exit=True, file=sys.__stderr__ or 2)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
        if rung:  # also where somebody on the way took it for a failure of an engine
            raise Hang


def spent(folder: Path) -> int:
    """Return how many charges the ledgers in a folder hold; 0 where there is no ledger."""
    charges = 0
    for path in folder.rglob("*.ledger"):
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as ledger:
            bodies = ledger.execute("select body from entries").fetchall()
            charges += sum(json.loads(body)["kind"] == "charged" for (body,) in bodies)
    return charges


@dataclass
class Meter:
    """Stands where the command charges, in a ``folder``, and counts."""

    folder: Path
    charged: int = 0

    def charge(self, _: object) -> None:
        """Count a charge."""
        self.charged += 1

    @property
    def now(self) -> int:
        """How many charges there were: here, and in ledgers of the folder."""
        return self.charged + spent(self.folder)


@dataclass
class Tried:
    """What was tried, by how it ended."""

    what: str
    ends: Counter[str] = field(default_factory=Counter)

    def command(self, meter: Meter, *words: str, limit: float = LIMIT) -> Ran:
        """Run the command, which may refuse in a sentence of ours, in time, and spends nothing."""
        before = meter.now
        with within(limit):
            ran = run(*words)
        said = ran.out + ran.err
        assert ran.status in STATUSES, (words, ran)
        assert not foreign(said, " ".join(words)), (words, said)
        assert is_written(ran.out), (words, ran.out)
        if ran.status == WRONG_USE or words[:1] != ("release",):
            assert meter.now == before, (words, ran)
        self.ends[str(ran.status)] += 1
        return ran

    def call(self, work: Callable[[], Any], given: str = "", *, limit: float = LIMIT) -> Any:
        """Do some work on what is given, which may be refused, in time; return what comes of it."""
        refused = ""
        with within(limit):
            try:
                found = work()
            except HalfnoiseError as error:
                found, refused = None, str(error) or "refused"
        assert not foreign(refused, given), refused
        self.ends["refused" if refused else "accepted"] += 1
        return found

    @property
    def bad(self) -> int:
        """How many inputs were refused."""
        return self.ends.total() - self.ends["0"] - self.ends["accepted"]

    def told(self, least: int) -> None:
        """Print the figures of a soak, and hold that enough was tried."""
        if MORE > 1:
            ends = ", ".join(f"{end}: {many:,}" for end, many in sorted(self.ends.items()))
            zero = "tracebacks 0, hangs 0, spends 0"  # or it would not have come here
            said = f"fuzzed {self.what}: {self.ends.total():,} inputs, {self.bad:,} bad ({ends})"
            sys.stdout.write(f"{said}; {zero}\n")  # shown by pytest -rP
        assert self.ends.total() >= least, self.ends


def foreign(said: str, given: str) -> list[str]:
    """Return what is said in words of an engine, but for those that were given."""
    found = FOREIGN.findall(VERSIONS.sub("", said))
    return [words for words in found if words not in given]


def is_written(text: str) -> bool:
    """Whether a terminal could show a text: no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fuzz(
    work: Callable[[Any], object],
    inputs: st.SearchStrategy[Any],
    many: int,
    *,
    same: bool = MORE == 1,
) -> None:
    """Do some work on so many inputs: the same ones each time, unless they soak."""

    @given(inputs)
    def run_all(one: Any) -> None:
        work(one)

    settings(
        max_examples=many,
        deadline=None,
        derandomize=same,
        database=None,
        phases=(Phase.generate,),  # to shrink what hangs would take for ever
        suppress_health_check=[*HealthCheck],
    )(run_all)()
