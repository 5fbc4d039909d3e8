"""Two worlds: whatever a run says, prints, logs or leaves behind is the same for every neighbour.

Noise hides one person in the numbers that get out. Here it hides them wholly (``worlds.couple``):
all must be the same to the byte: standard output and error, exit status, warnings, files, and log
records of every logger at every level. A run that fails must fail the same way.
"""

import itertools
import logging
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise import mechanism
from halfnoise.data import quiet
from halfnoise.data.totals import prepared
from halfnoise.errors import DataError
from halfnoise.workload.totals import Totals
from support.scenarios import (
    ASKED,
    BROKEN,
    CALLED,
    FRAMES,
    REPLACED,
    WRONG,
    Budgets,
    Outcome,
    Scenario,
    call,
    in_turn,
    scenarios,
)
from support.soak import MORE, SOAKS, tell
from support.worlds import DAMAGED, FILES, World, couple, worlds

ALL = dict(scenarios(Budgets()))
# Those that fail take little time: there are two of each.
SOME = in_turn([*FILES], [*ASKED]) + in_turn([*FILES], [*WRONG]) + in_turn([*FILES], [*WRONG], 5)
SOME += (
    in_turn([*DAMAGED], BROKEN) + in_turn(FRAMES, [*CALLED]) + in_turn(FRAMES, [*CALLED][-6:], 4)
)
TRIED = [*ALL] if SOAKS else SOME
TURNS = min(MORE, 3)  # with so many kinds of people, other ones in each scenario


def tried(name: str, folder: Path, turn: int, most: int = 3) -> Iterator[tuple[Outcome, Outcome]]:
    """Run a scenario in both worlds, for one neighbour after the other."""
    replaced = any(name.endswith(f": {each}") for each in REPLACED)
    base, others = worlds(turn, replaced=replaced)
    first = _fresh(ALL[name], base, folder)
    neighbours = list(others)
    some = [neighbours[(turn + i) % len(neighbours)] for i in range(min(most, len(neighbours)))]
    for world in some:
        yield first, _fresh(ALL[name], world, folder)


def _fresh(scenario: Scenario, world: World, folder: Path) -> Outcome:
    """Run in a folder of the same name each time, with nothing of another run in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return scenario(world, folder)


@pytest.fixture(autouse=True)
def coupled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let noise hide one person wholly."""
    couple(monkeypatch)


def test_scenarios_are_many() -> None:
    """There are at least a hundred, of which every kind of file, frame and request has some."""
    assert len(TRIED) >= 100
    for parts in (FILES, DAMAGED, FRAMES):
        assert all(any(name.startswith(f"{part}: ") for name in TRIED) for part in parts)
    for asked in (*ASKED, *WRONG, *CALLED):
        assert any(name.endswith(f": {asked}") for name in TRIED)


@pytest.mark.parametrize("part", range(8))
def test_both_worlds_are_heard_alike(part: int, tmp_path: Path) -> None:
    """Nothing that a run leaves behind tells one world from the other."""
    pairs, statuses = 0, set[str]()
    for i, name in list(enumerate(TRIED))[part::8]:
        for turn in range(TURNS * i, TURNS * (i + 1)):
            for one, other in tried(name, tmp_path / "world", turn, 3 if SOAKS else 1):
                assert one == other, (name, turn)
                statuses.add(one.said[0])
                pairs += 1
    assert len(statuses) > 2
    tell(f"two worlds, part {part}", scenarios=len(TRIED[part::8]), pairs=pairs, differences=0)


def _said(_: BaseException, failed: str) -> hn.HalfnoiseError:
    return DataError(f"{failed}: {_}")


def _warned(totals: Totals) -> None:
    if totals.people[0] % 2:
        warnings.warn("an odd table", UserWarning, stacklevel=2)


def _logged(totals: Totals) -> None:
    logging.getLogger("halfnoise.mutant").debug("%d people", totals.people[0])


def _refused(totals: Totals) -> None:
    if totals.people[0] % 2:
        raise DataError("an odd table")


MUTANTS = {
    "a warning that depends on a value": _warned,
    "a log line with a number of rows": _logged,
    "a status that depends on a row": _refused,
}


def differs(name: str, folder: Path) -> bool:
    """Whether any neighbour is told apart."""
    return any(one != other for one, other in tried(name, folder / "world", 0))


@pytest.mark.parametrize("scenario", ["csv: numbers", "arrow: numbers"])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_what_depends_on_a_row_is_noticed(
    mutant: str, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What looks at the totals, and does anything else with them, is seen."""

    def leaking(*given: Any) -> Callable[[], Totals]:
        add_up = prepared(*given)

        def leak() -> Totals:
            totals = add_up()
            MUTANTS[mutant](totals)
            return totals

        return leak

    monkeypatch.setattr(mechanism, "prepared", leaking)
    assert differs(scenario, tmp_path)


def test_an_error_that_quotes_a_cell_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine's own words tell one world from the other; ours do not."""
    assert not differs("polars: a failing cast", tmp_path)
    monkeypatch.setattr(quiet, "ours", _said)
    assert differs("polars: a failing cast", tmp_path)


def test_both_worlds_are_heard_alike_in_spark(tmp_path: Path) -> None:
    """The same in Spark, whose frames take longer."""
    for turn, asked in enumerate([*CALLED] if SOAKS else ["laplace"]):
        base, others = worlds(turn)
        scenario = call("spark", asked, Budgets())
        one = _fresh(scenario, base, tmp_path / "world")
        for world in itertools.islice(others, MORE):
            assert one == _fresh(scenario, world, tmp_path / "world"), asked
