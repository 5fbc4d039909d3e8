"""What a charge takes on a local disk, and what it takes to open and verify a long ledger."""

import hashlib
import os
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from halfnoise.ledger.entries import Charge, Row
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.store import Rows
from halfnoise.ledger.terms import Bill
from halfnoise.privacy.account import Account
from halfnoise.privacy.definitions import ApproxDP, GaussianDP, Privacy
from halfnoise.proof import exactly

CHARGES, ENTRIES = 2_000, 100_000
SLOWEST, LONGEST = 0.010, 2.0  # seconds: of a charge at the 99th percentile, and to open and verify
PRICE = exactly(0.01) ** 2


def main() -> None:
    """Print the tables."""
    console = Console()
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        console.print(charges(Path(folder)))
        console.print(long(Path(folder)))


def charges(folder: Path) -> Grid:
    """Measure charges one after another, each on disk before the next."""
    title = f"{CHARGES:,} charges, one after another"
    grid = Grid("ledger", "median ms", "99th percentile ms", "at most", "", title=title)
    limits: dict[str, Privacy | None] = {
        "without a limit": None,
        "a limit in mu": GaussianDP(mu=10),
        "a limit in epsilon and delta": ApproxDP(epsilon=10, delta=1e-6),
    }
    for name, limit in limits.items():
        ledger = Ledger.create(folder / f"{name}.ledger", limit=limit, i_know=True)
        took = list[float]()
        for number in range(CHARGES):
            bill = Bill(guarantee=GaussianDP(mu=0.01), request=_hash(number), what="count of a")
            start = time.perf_counter()
            ledger.charge(bill)
            took.append(time.perf_counter() - start)
        middle, slow = statistics.median(took), statistics.quantiles(took, n=100)[98]
        grid.add_row(name, *(f"{1e3 * x:.2f}" for x in (middle, slow)), *_judged(slow, SLOWEST))
    middle, slow = _of_the_disk(folder / "page")
    grid.add_row("(the disk: one page, fsync)", f"{1e3 * middle:.2f}", f"{1e3 * slow:.2f}", "", "")
    return grid


def _of_the_disk(path: Path) -> tuple[float, float]:
    """Measure what the disk takes to keep one page; a charge has to wait for that four times."""
    took, page = list[float](), bytes(4096)
    with path.open("wb", buffering=0) as file:
        for _ in range(CHARGES // 4):
            start = time.perf_counter()
            file.write(page)
            os.fsync(file.fileno())
            took.append(time.perf_counter() - start)
    return statistics.median(took), statistics.quantiles(took, n=100)[98]


def long(folder: Path) -> Grid:
    """Measure what a ledger with many entries takes."""
    path = folder / "long.ledger"
    build(path, ENTRIES)
    title = f"a ledger of {ENTRIES:,} entries"
    grid = Grid("what", "seconds", "of the processor", "at most", "", title=title)
    works = {"open and verify": Ledger.verify, "open and show": Ledger.history}
    for name, work in works.items():
        start, busy = time.perf_counter(), time.process_time()
        history = work(Ledger(path))
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        if history.last is None or history.last.entry + 1 != ENTRIES:
            raise ValueError(history.last)
        grid.add_row(name, f"{seconds:.2f}", f"{busy:.2f}", *_judged(seconds, LONGEST))
    ledger, took = Ledger(path), list[float]()
    ledger.history()
    for number in range(20):
        bill = Bill(guarantee=GaussianDP(mu=0.01), request=_hash(number), what="count of a")
        start = time.perf_counter()
        ledger.charge(bill)
        took.append(time.perf_counter() - start)
    grid.add_row("a charge more, median", f"{statistics.median(took):.4f}", "", "", "")
    return grid


def build(path: Path, entries: int) -> None:
    """Write a ledger with so many entries in one go: charged, drawn, released, again and again."""
    Ledger.create(path, limit=GaussianDP(mu=10), i_know=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rows = Rows(connection.execute)
        connection.execute("begin")
        (found,) = rows.since(0)
        last = Row(*found)
        while last.entry + 1 < entries:
            number = last.entry + 1
            cost = Account(squares=PRICE)
            result = f"result {number}".encode()
            hashed = hashlib.sha256(result).hexdigest()
            charge = Charge(
                entry=number,
                name=f"release-{number}",
                time="",
                request=_hash(number),
                what="count of a",
                cost=cost,
                price=cost,
            )
            last = Row.after(last, **charge.to_dict())
            rows.append(last)
            if last.entry + 1 < entries:
                rows.keep(hashed, result)
            for kind in ("drawn", "released"):
                if last.entry + 1 < entries:
                    last = Row.after(last, kind=kind, charge=number, sha256=hashed)
                    rows.append(last)
        connection.execute("commit")


def _judged(took: float, most: float) -> tuple[str, str]:
    return f"{most:g} s", "holds" if took <= most else "MISSED"


def _hash(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()
