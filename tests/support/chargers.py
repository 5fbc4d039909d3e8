"""Many processes that charge a ledger at once: forked from one that is light, let go together.

``python chargers.py PLACE BROKEN PROCESSES EACH PLACE ...`` prints what each was told, as lines of
JSON. Every other charge of a process has a name that all processes use.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping

from halfnoise.errors import BudgetError
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.store import Store
from support.postgres import connected
from support.stores import BROKEN, bill

Told = tuple[str, int, str]  # what, the entry, its name


def charge_all(ledger: Ledger, each: int) -> Iterator[Told]:
    """Charge so many times, and yield what one is told."""
    for i in range(each):
        try:
            charge = ledger.charge(bill(f"shared-{i}" if i % 2 else None))
        except BudgetError:
            yield "refused", 0, ""
        except Exception as error:  # noqa: BLE001  # a broken one may raise anything
            yield type(error).__name__, 0, ""
        else:
            yield ("shared" if i % 2 else "alone"), charge.entry, charge.name


def together(places: Mapping[str, tuple[str, int, int]]) -> dict[str, list[Told]]:
    """Run this file; return what was told at each place.

    Each has a store that may be broken, so many processes, and so many charges of each.
    """
    jobs = [str(word) for place, job in places.items() for word in (place, *job)]
    words = [sys.executable, "-W", "error", __file__, *jobs]
    folders = os.pathsep.join(filter(None, sys.path))
    ran = subprocess.run(
        words, env=os.environ | {"PYTHONPATH": folders}, capture_output=True, text=True, check=True
    )
    told: dict[str, list[Told]] = {place: [] for place in places}
    for line in ran.stdout.splitlines():
        place, *said = json.loads(line)
        told[place].append(tuple(said))
    return told


def _store(place: str, *, own: bool) -> Store:
    """Return a place: one by its address, or one on a connection that stays open."""
    where, _, title = place.rpartition("#")
    if own and where:
        return Ledger.postgresql(connected(where), title).store
    return Ledger(place).store


def _run(place: str, broken: str, processes: int, each: int) -> bool:
    gate, let_go = os.pipe()
    for number in range(processes):
        if os.fork() == 0:
            status = 1
            try:
                os.close(let_go)
                ledger = Ledger(BROKEN[broken](_store(place, own=number % 2 == 0)))
                os.read(gate, 1)  # until all may go
                for told in [*charge_all(ledger, each)]:
                    os.write(sys.stdout.fileno(), f"{json.dumps((place, *told))}\n".encode())
                status = 0
            finally:
                os._exit(status)
    os.close(let_go)
    failed = [os.wait()[1] for _ in range(processes)]
    return not any(failed)


if __name__ == "__main__":
    columns = (sys.argv[1::4], sys.argv[2::4], map(int, sys.argv[3::4]), map(int, sys.argv[4::4]))
    sys.exit(not all(_run(*job) for job in zip(*columns, strict=True)))
