"""Canaries: nothing of a cell, and no true total, gets out anywhere, of no run, well or failing.

Looked at, at the level of debugging: what is printed, log records of all loggers, warnings, files
that are written, ledgers beside the data, what is left for temporary use, and all that frames of
ours know when a run fails. While a run goes on, a copy may lie in a folder for its owner alone.
"""

import logging
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise import files, mechanism, scratch
from halfnoise.data import quiet
from halfnoise.data.groups import Groups
from halfnoise.data.totals import prepared
from halfnoise.errors import DataError
from halfnoise.noise.law import Noise
from halfnoise.workload.totals import Totals
from support import engines
from support.canaries import PEOPLE, canaries, files_in, known_to, same_bits, seen, true_totals
from support.scenarios import (
    ASKED,
    BROKEN,
    CALLED,
    FRAMES,
    WRONG,
    Budgets,
    Outcome,
    in_turn,
    scenarios,
)
from support.soak import SOAKS, tell
from support.worlds import DAMAGED, FILES, World

pytestmark = pytest.mark.usefixtures("databases")
q: Any = hn  # what strict types would refuse is tried, too

BUDGETS = Budgets(mu=4e-6, epsilon=1e-5)  # noise in the millions, which hits no total by chance
ALL = dict(scenarios(BUDGETS))
SOME = in_turn([*FILES], [*ASKED]) + in_turn([*FILES], [*WRONG], 3)
SOME += in_turn([*DAMAGED], BROKEN) + in_turn(FRAMES, [*CALLED], 2)
TRIED = [*ALL] if SOAKS else SOME
PARTS = 6


@dataclass
class Watch:
    """Looks over a run's shoulder, and into its folders afterwards."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    totals: set[int] = field(default_factory=set)
    open_to_others: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Give it a folder for temporary files, and listen to what is exact."""
        self.temporary.mkdir()
        self.data.mkdir()
        self.monkeypatch.setattr(tempfile, "tempdir", str(self.temporary))
        self.monkeypatch.setenv("TMPDIR", str(self.temporary))
        noisy = mechanism.noisy

        def listen(plan: Any, measurement: Any, totals: Totals, request: Any) -> Any:
            self.totals |= true_totals(totals)
            self.open_to_others += self.unprotected()
            return noisy(plan, measurement, totals, request)

        self.monkeypatch.setattr(mechanism, "noisy", listen)

    @property
    def temporary(self) -> Path:
        """Where temporary files go."""
        return self.folder / "temporary"

    @property
    def data(self) -> Path:
        """Where the data are, and outputs and ledgers."""
        return self.folder / "data"

    def unprotected(self) -> list[Path]:
        """Return temporary files that are not in a folder for their owner alone."""
        folders = [path for path in self.temporary.iterdir() if path.is_dir()]
        own = [path for path in folders if stat.S_IMODE(path.lstat().st_mode) == 0o700]
        found = (path for path, _ in files_in(self.temporary))
        return [path for path in found if not any(folder in path.parents for folder in own)]

    def shown(self, run: Callable[[World, Path], Outcome]) -> list[object]:
        """Run, and return what gets out, or is left behind, that must not be."""
        for path, _ in files_in(self.data):
            path.unlink()
        self.totals.clear()
        outcome = run(canaries(), self.data)
        said = "\n".join([*outcome.said, *outcome.heard, *known_to(outcome.error)])
        left = [
            content for path, content in files_in(self.data) if not path.name.startswith("data")
        ]
        ledgers = [content for path, content in files_in(self.data) if ".ledger" in path.name]
        found = [seen(text, self.totals) for text in (said.encode(), *left, *ledgers)]
        shown: list[object] = [each for some in found for each in some]
        return shown + [path for path, _ in files_in(self.temporary)] + self.open_to_others


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Return what looks over a run's shoulder."""
    same_bits(monkeypatch)
    return Watch(tmp_path, monkeypatch)


def test_scenarios_are_many() -> None:
    """There are at least sixty, of all kinds of files and frames, and of all that is asked."""
    assert len(TRIED) >= 60
    for part in (*FILES, *DAMAGED, *FRAMES):
        assert any(name.startswith(f"{part}: ") for name in TRIED), part
    for asked in (*ASKED, *WRONG, *CALLED):
        assert any(name.endswith(f": {asked}") for name in TRIED), asked


@pytest.mark.parametrize("part", range(PARTS))
def test_no_canary_gets_out(part: int, watch: Watch) -> None:
    """Nothing of a cell and no true total is anywhere to be seen."""
    failed, exact = 0, 0
    for name in TRIED[part::PARTS]:
        assert not watch.shown(ALL[name]), name
        exact += PEOPLE in watch.totals
        failed += not watch.totals
    assert failed
    assert exact
    tell(f"canaries, part {part}", scenarios=len(TRIED[part::PARTS]), failing=failed, leaks=0)


def _raise(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


Patch = Callable[[pytest.MonkeyPatch], None]
# What may stop a run once it knows the totals, and what is asked then.
STOPS: dict[str, tuple[str, Patch]] = {
    "the noise fails": (
        "arrow: numbers",
        lambda patch: patch.setattr(Noise, "draw", _raise(MemoryError())),
    ),
    "the noise fails in groups": (
        "csv: groups",
        lambda patch: patch.setattr(Noise, "draw", _raise(MemoryError())),
    ),
    "somebody stops it": (
        "polars: groups",
        lambda patch: patch.setattr(Groups, "places", _raise(KeyboardInterrupt())),
    ),
    "somebody stops a file": (
        "utf-16: numbers",
        lambda patch: patch.setattr(Groups, "places", _raise(KeyboardInterrupt())),
    ),
    "the disk is full": (
        "parquet: json",
        lambda patch: patch.setattr(files, "_write", _raise(OSError(28, "full"))),
    ),
}


def stopped(name: str) -> Callable[[World, Path], Outcome]:
    """Return a scenario whose run may be stopped in ways that are no errors."""

    def carry_out(world: World, folder: Path) -> Outcome:
        try:
            return ALL[name](world, folder)
        except BaseException as error:  # noqa: BLE001  # also what stops a run
            return Outcome(("stopped",), (), error=error)

    return carry_out


@pytest.mark.parametrize("stop", STOPS)
def test_no_canary_gets_out_of_a_run_that_is_stopped(
    stop: str, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stops a run that knows the totals, no frame of ours tells them."""
    name, broken = STOPS[stop]
    broken(monkeypatch)
    assert not watch.shown(stopped(name))
    assert watch.totals or "stops" in stop


def _said(error: BaseException, failed: str) -> hn.HalfnoiseError:
    return DataError(f"{failed}: {error}")


def _log_total(*given: Any) -> Callable[[], Totals]:
    add_up = prepared(*given)

    def leak() -> Totals:
        totals = add_up()
        logging.getLogger("halfnoise.mutant").debug("%d in all", totals.sums[0][0, 0])
        return totals

    return leak


def _keep_a_copy(*given: Any) -> Callable[[], Totals]:
    Path(tempfile.mkstemp()[1]).write_bytes(b"a copy")
    return prepared(*given)


MUTANTS: dict[str, tuple[str, Patch]] = {
    "an error that quotes a cell": (
        "polars: a failing cast",
        lambda patch: patch.setattr(quiet, "ours", _said),
    ),
    "a log line with the true total": (
        "csv: a count",
        lambda patch: patch.setattr(mechanism, "prepared", _log_total),
    ),
    "a temporary file left behind": (
        "utf-16: a count",
        lambda patch: patch.setattr(scratch, "_remove", lambda _: None),
    ),
    "a temporary file that others may read": (
        "arrow: counts",
        lambda patch: patch.setattr(mechanism, "prepared", _keep_a_copy),
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_leak_is_noticed(mutant: str, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is broken on purpose is seen, where the same is silent as it is."""
    name, broken = MUTANTS[mutant]
    assert not watch.shown(ALL[name])
    broken(monkeypatch)
    assert watch.shown(ALL[name])


def test_a_repr_that_shows_a_total_is_noticed(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Totals that could be printed would be seen in a traceback with locals."""
    name, broken = STOPS["the noise fails"]
    broken(monkeypatch)
    monkeypatch.setattr(Totals, "__repr__", lambda totals: f"{totals.sums} {totals.people}")
    assert watch.shown(stopped(name))


def test_every_way_to_write_a_canary_is_seen() -> None:
    """Cells and totals are found as text of any kind, and as machines hold numbers."""
    row, total = canaries().rows[2711], 987_654_321_012
    for cell in row[:1] + row[2:4] + row[5:]:
        assert seen(f"a {cell}!".encode())
        assert seen(f"a {cell}!".encode("utf-16-le"))
    assert seen(f"{row[2]:,}".encode())
    for number in (row[2], row[3]):
        for order in ("<", ">"):
            assert seen(b"abc" + np.array([number]).astype(f"{order}i8").tobytes()) or number < 1e9
            assert (
                seen(b"abcde" + np.array([number]).astype(f"{order}f8").tobytes()) or number > 1e9
            )
    for text in (f"{total}", f"[{total:,}]", f"x={total}.0", f"({total}, 3)"):
        assert seen(text.encode(), {total})
    assert seen(total.to_bytes(8, "big"), {total})
    assert seen(f"{PEOPLE} people".encode())
    assert not seen(f"1{PEOPLE} {PEOPLE}1 {PEOPLE}.5 a{PEOPLE} 0.{PEOPLE}".encode())


def test_tables_are_not_text(tmp_path: Path) -> None:
    """Of what a frame of ours knows only tables are left out, by what they are made of."""

    def knows(value: object) -> Iterator[str]:
        frame = {"__name__": "halfnoise.made_up", "value": value}
        with suppress(ZeroDivisionError):
            exec("def f(own):\n    1 / 0", frame)  # noqa: S102  # a frame that seems to be ours
        try:
            frame["f"](value)  # type: ignore[operator]
        except ZeroDivisionError as error:
            yield from known_to(error)

    cell = canaries().rows[5][0]
    for held in (cell, [cell], {"a": (cell,)}, {cell: 1}, np.array([cell])):
        assert seen("\n".join(knows(held)).encode()), held
    few = World(canaries().rows[:3])
    for engine in FRAMES:
        data = engines.ENGINES[engine](few.table, tmp_path)
        assert not seen("\n".join(knows((data, "else"))).encode()), engine
