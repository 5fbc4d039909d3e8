import _thread
import logging
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data.quiet import quietly
from support import engines
from support.commands import SURVEY

CANARY = "Kanarienvogel"


class Kept(logging.Handler):
    """Keeps what it is told."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.records.append(record)


@pytest.fixture
def kept() -> Iterator[Kept]:
    """Return a handler that hears everything, from the lowest level on."""
    handler, level = Kept(), logging.root.level
    logging.root.addHandler(handler)
    logging.root.setLevel(1)
    yield handler
    logging.root.removeHandler(handler)
    logging.root.setLevel(level)


def said_inside() -> None:
    """Say the canary in every way that engines have."""
    for name in ("polars", "duckdb.x", "py4j.java_gateway", "SQLQueryContextLogger", "made.now"):
        logging.getLogger(name).error("it is %s", CANARY)
        logging.getLogger(name).critical(CANARY, exc_info=ValueError(CANARY), stack_info=True)
        logging.getLogger(name).log(1, CANARY, extra={"cell": CANARY})
    logging.warning(CANARY)  # noqa: LOG015  # as py4j does
    logging.captureWarnings(capture=False)
    for category in (UserWarning, RuntimeWarning, DeprecationWarning, FutureWarning):
        warnings.warn(CANARY, category, stacklevel=1)
        warnings.warn_explicit(CANARY, category, "polars/x.py", 3, module="polars.x")


def raising(error: type[BaseException], text: str = CANARY) -> Callable[[], None]:
    """Return work that fails."""

    def work() -> None:
        raise error(text)

    return work


@pytest.mark.parametrize("action", ["error", "always", "default", "once", "ignore"])
def test_nothing_is_heard_from_inside(kept: Kept, action: Any) -> None:
    """No record and no warning arrives, and a user's filter makes no error of one."""
    for nested in (said_inside, lambda: quietly(said_inside, "inner")):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter(action)
            quietly(nested, "sorry")
        assert not warned
    assert not kept.records
    assert CANARY not in str(globals().get("__warningregistry__", {}))


def test_the_mutant_is_heard(kept: Kept) -> None:
    """What this file listens with hears all of it where nobody is silenced."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        said_inside()
    assert len(warned) == 8
    assert len(kept.records) == 16


def test_all_is_heard_from_outside(kept: Kept) -> None:
    """Before, after and in other threads, every record and warning arrives as it was made."""
    inside, done = threading.Event(), threading.Event()

    def work() -> int:
        inside.set()
        said_inside()
        return int(done.wait(60))

    reader = threading.Thread(target=lambda: quietly(work, "sorry"))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        reader.start()
        assert inside.wait(60)
        for i in range(118):
            logging.getLogger("mine").info("record %s", i, extra={"more": i})
            warnings.warn(f"warning {i}", UserWarning, stacklevel=1)
        done.set()
        reader.join()
        logging.getLogger("polars").info("after")
        warnings.warn("after", UserWarning, stacklevel=1)
    mine = [record for record in kept.records if record.name == "mine"]
    assert [record.getMessage() for record in mine] == [f"record {i}" for i in range(118)]
    assert {record.levelno for record in mine} == {logging.INFO}
    assert vars(mine[3])["more"] == 3
    assert kept.records[-1].getMessage() == "after"
    assert [str(each.message) for each in warned] == [
        *(f"warning {i}" for i in range(118)),
        "after",
    ]


def test_a_release_silences_nobody_else(kept: Kept) -> None:
    """While tables are released one after the other, another thread loses nothing."""
    stop, made = threading.Event(), list[str]()

    def talk() -> None:
        while not stop.is_set():
            made.append(f"record {len(made)}")
            logging.getLogger("mine").warning(made[-1])
            time.sleep(0.0005)

    thread = threading.Thread(target=talk)
    thread.start()
    try:
        people = pl.DataFrame({"x": [True] * 10})
        for data in (people, people.to_pandas(), people.to_arrow()):
            privacy = hn.GaussianDP(mu=1)
            hn.release(data, [hn.Count("x")], row_is_person=True, privacy=privacy)
    finally:
        stop.set()
        thread.join()
    assert len(made) > 20
    mine = [record.getMessage() for record in kept.records if record.name == "mine"]
    assert mine == made


def test_threads_read_side_by_side() -> None:
    """Two threads are inside at once: each waits for the other, which would never come."""
    both = threading.Barrier(2, timeout=20)
    met = list[int]()
    threads = [
        threading.Thread(target=lambda: met.append(quietly(both.wait, "sorry"))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(met) == [0, 1]


def test_threads_of_an_engine_are_not_heard(kept: Kept) -> None:
    """Engines have threads that Python did not start: theirs are silent, a user's are not."""
    done = threading.Event()

    def speak() -> None:
        for name in ("polars.thread", "py4j", "mine"):
            logging.getLogger(name).error(CANARY if name != "mine" else name)
        warnings.warn_explicit(CANARY, UserWarning, "x.py", 3, module="polars.x")
        warnings.warn_explicit(CANARY, UserWarning, "sys", 1, module="sys")
        warnings.warn_explicit("mine", UserWarning, "x.py", 3, module="mine")
        done.set()

    def work() -> None:
        _thread.start_new_thread(speak, ())
        assert done.wait(60)

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        quietly(work, "sorry")
    assert [record.getMessage() for record in kept.records] == ["mine"]
    assert [str(each.message) for each in warned] == ["mine"]


@pytest.mark.parametrize("engine", ["pandas", "polars", "arrow", "duckdb", "ibis", "csv", "spark"])
def test_warnings_that_are_errors_break_no_release(
    engine: str, tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that logs and warns while it reads is not heard, whatever the filters say."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    data = engines.ENGINES[engine](pa.table({"x": pa.array([1, 0, 1])}), tmp_path)
    select = nw.LazyFrame.select

    def loud(frame: Any, *columns: Any, **named: Any) -> Any:
        said_inside()
        return select(frame, *columns, **named)

    monkeypatch.setattr(nw.LazyFrame, "select", loud)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = hn.release(data, [hn.Count("x")], row_is_person=True, privacy=hn.GaussianDP(mu=1e6))
    assert round(table["x"].estimate) == 2
    assert not [record for record in kept.records if CANARY in record.getMessage()]


def test_a_factory_of_records_stays_in_use(kept: Kept) -> None:
    """A user's own way to make records goes on making those that are heard, and sees no others."""
    before, seen = logging.getLogRecordFactory(), list[str]()

    def own(*said: Any, **more: Any) -> logging.LogRecord:
        record = logging.LogRecord(*said, **more)
        seen.append(record.getMessage())
        record.mark = "mine"
        return record

    try:
        logging.setLogRecordFactory(own)
        for _ in range(3):
            quietly(said_inside, "sorry")
        logging.getLogger("mine").info("hello")
    finally:
        logging.setLogRecordFactory(before)
    assert [vars(record)["mark"] for record in kept.records] == ["mine"]
    assert CANARY not in "".join(seen)


@pytest.mark.parametrize(
    ("error", "text", "kind"),
    [
        (ValueError, CANARY, hn.DataError),
        (AttributeError, CANARY, hn.DataError),
        (MemoryError, CANARY, hn.TryAgainError),
        (RuntimeError, f"IO Error: No space left on device: {CANARY}", hn.TryAgainError),
        (type("OutOfMemoryException", (Exception,), {}), CANARY, hn.TryAgainError),
        (RuntimeError, "Query interrupted", KeyboardInterrupt),
    ],
)
def test_a_failure_says_its_kind_and_the_versions(
    error: type[BaseException], text: str, kind: type[BaseException]
) -> None:
    """The class of the exception and the versions at work are told, its words never."""
    with pytest.raises(kind) as caught:
        quietly(raising(error, text), "it failed")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    said = str(caught.value)
    assert CANARY not in said
    if kind is hn.DataError:
        what = "it failed" if error is ValueError else "a package does not do what this version"
        assert said.startswith(what)
        assert f" ({error.__name__}; Python " in said
        assert f"pandas {pd.__version__}" in said
    if kind is not KeyboardInterrupt:
        assert "halfnoise doctor" in said


class TalksError(Exception):
    """Logs whenever it is asked for its words, as Spark's errors do, and then fails."""

    def __str__(self) -> str:
        logging.getLogger("py4j.clientserver").debug("Answer received: %s", CANARY)
        raise ValueError(CANARY)


def test_an_error_that_talks_when_it_is_looked_at(kept: Kept) -> None:
    """Nothing is heard of it either, and its own failure is not passed on."""
    with pytest.raises(hn.DataError, match=r"^it failed \(TalksError; ") as caught:
        quietly(raising(TalksError), "it failed")
    assert caught.value.__context__ is None
    assert not kept.records


FORK = """
import os, signal, sys, threading
import halfnoise as hn
from halfnoise.data.quiet import quietly

inside, done = threading.Event(), threading.Event()
reader = threading.Thread(target=lambda: quietly(lambda: inside.set() or done.wait(60), ""))
reader.start()
inside.wait(60)
child = os.fork()
if not child:
    signal.alarm(20)  # a child that waits for ever is ended
    asked, privacy = [hn.Count("smoker")], hn.GaussianDP(mu=1e6)
    table = hn.release(sys.argv[1], asked, unit="person_id", privacy=privacy, i_know=True)
    os._exit(round(table["smoker"].estimate))
status = os.waitpid(child, 0)[1]
done.set()
reader.join()
print(os.waitstatus_to_exitcode(status))
"""


def test_a_fork_while_another_thread_reads(tmp_path: Path) -> None:
    """The child reads a table of its own: nothing is held that nobody there can give back."""
    (path := tmp_path / "survey.csv").write_text(SURVEY, encoding="utf-8")
    words = [sys.executable, "-W", "ignore", "-c", FORK, str(path)]
    ran = subprocess.run(words, capture_output=True, timeout=60, check=False, env={**os.environ})
    assert ran.stdout.decode().strip() == "4", ran.stderr.decode()


class Broken:
    """A stream of Arrow memory that quotes a cell where it fails."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Fail."""
        raise TypeError(CANARY)


def test_our_own_errors_carry_nothing_of_an_engine() -> None:
    """What an engine said before one of our own errors is not kept beside it."""
    with pytest.raises(hn.InvalidParameterError, match="got 'Broken'") as caught:
        hn.release(Broken(), [hn.Count("x")], row_is_person=True, privacy=hn.GaussianDP(mu=1))
    assert caught.value.__context__ is None

    def refusing() -> None:
        try:
            raising(ValueError, CANARY)()
        except ValueError as error:
            raise hn.DataError("sorry") from error

    for work in (refusing, lambda: quietly(refusing, "")):
        with pytest.raises(hn.DataError) as caught_too:
            quietly(work, "")
        assert (caught_too.value.__cause__, caught_too.value.__context__) == (None, None)
