"""Two worlds: whatever a run says, prints, logs or leaves behind is the same for every neighbour.

Noise hides one person in the numbers that get out. Here it hides them wholly (``worlds.couple``):
all must be the same to the byte: standard output and error, exit status, warnings, files, and log
records of every logger at every level. A run that fails must fail the same way.
"""

import itertools
import logging
import shlex
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pytest

import halfnoise as hn
from halfnoise import mechanism
from halfnoise.data import quiet
from halfnoise.data.totals import prepared
from halfnoise.errors import DataError
from halfnoise.workload.totals import Totals
from support import engines
from support.commands import run
from support.heard import is_ledger, listening, plain
from support.soak import MORE, SOAKS, tell
from support.worlds import DAMAGED, FILES, NOTICED, Kind, World, couple, worlds

q: Any = hn  # what strict types would refuse is tried, too

UNIT, MU, APPROX = "--unit id", "--mu 1", "--epsilon 1 --delta 1e-6"
ASKED = {
    "a count": f"--count smoker {UNIT} {MU}",
    "numbers": f"--count smoker --sum income=0:100 --mean age=0:120 {UNIT} {MU}",
    "categories": f"--choice blood=A,B --bins age=0,18,65 {UNIT} {MU}",
    "items": f"--items item=a,b,c --at-most 2 {UNIT} {APPROX}",
    "conditions": f"--count old=age:at-least:65 --where income:at-most:50 {UNIT} {MU}",
    "days": f"--count late=day:at-least:2026-02-01 --missing -99,N/A {UNIT} {MU}",
    "groups": f"--count smoker --mean income=0:100 --by blood --groups A,B {UNIT} {MU}",
    "several groups": f"--count smoker --by blood --groups A,B --max-groups 2 {UNIT} {MU}",
    "months": f"--count smoker --by day:month --groups 2026-01,2026-02 {UNIT} {MU}",
    "found": f"--count smoker --by blood --groups discover {UNIT} {APPROX}",
    "months found": f"--mean income=0:9 --by day:month,blood --groups discover {UNIT} {APPROX}",
    "replaced": f"--count smoker --sum income=0:100 --neighbors replace {UNIT} {MU}",
    "rows replaced": f"--count smoker --neighbors replace --row-is-person {MU}",
    "rows": f"--count smoker --sum age=0:99 --row-is-person {MU}",
    "known size": f"--count smoker --known-size 40 {UNIT} {MU}",
    "laplace": f"--count smoker --noise laplace --epsilon 1 {UNIT}",
    "csv": f"--count smoker --out {{folder}}/out.csv {UNIT} {MU}",
    "json": f"--count smoker --by blood --groups A,B --out {{folder}}/out.json {UNIT} {MU}",
    "json lines": f"--count smoker --out {{folder}}/out.jsonl {UNIT} {MU}",
    "markdown": f"--count smoker --out {{folder}}/out.md {UNIT} {MU}",
    "parquet": f"--count smoker --out {{folder}}/out.parquet {UNIT} {MU}",
    "spec": f"--count smoker --save-spec {{folder}}/out.toml {UNIT} {MU}",
    "dry run": f"--count smoker --by blood --groups discover --dry-run {UNIT} {APPROX}",
    "no ledger": f"--count smoker --no-ledger {UNIT} {MU}",
}
WRONG = {
    "no column": f"--count wort {UNIT} {MU}",
    "nobody": f"--count smoker --unit nobody {MU}",
    "no condition": f"--count smoker --where nothing:is:1 {UNIT} {MU}",
    "a day for a number": f"--count late=age:at-least:2026-01-01 {UNIT} {MU}",
    "bounds": f"--sum income=5:1 {UNIT} {MU}",
    "no group": f"--count smoker --by nothing --groups discover {UNIT} {APPROX}",
    "week": f"--count smoker --by day:week --groups 1, {UNIT} {MU}",
    "data as a list": f"--choice blood=@{{data}} {UNIT} {MU}",
    "data as groups": f"--count smoker --by blood --groups @{{data}} {UNIT} {MU}",
    "data as a spec": f"--count smoker --spec {{data}} {UNIT} {MU}",
    "data as output": f"--count smoker --out {{data}} --overwrite {UNIT} {MU}",
    "output there": f"--count smoker --out {{folder}}/there.csv {UNIT} {MU}",
    "no folder": f"--count smoker --out {{folder}}/none/out.csv {UNIT} {MU}",
    "no encoding": f"--count smoker --encoding klingon {UNIT} {MU}",
    "said twice": f"--count smoker --mu 1 --mu 2 {UNIT}",
    "no budget": f"--count smoker {UNIT}",
    "too little": f"--sum income=0:1e-300 --mu 1e-300 {UNIT}",
    "no such option": f"--count smoker --frobnicate {UNIT} {MU}",
}
REPLACED = ("replaced", "rows replaced")
BY = {"by": "blood", "groups": ["A", "B"]}
FIND = {"groups": "discover", "privacy": hn.ApproxDP(epsilon=1, delta=1e-6)}
CALLED: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "counts": ([q.Count("smoker"), q.Count("age", at_least=30, name="old")], {}),
    "numbers": ([q.Sum("income", bounds=(0, 100)), q.Mean("age", bounds=(0, 120))], {}),
    "categories": ([q.Choice("blood", ["A", "B"]), q.Bins("age", [0, 18, 65])], {}),
    "items": ([q.Items("item", ["a", "b", "c"], at_most=2)], {}),
    "groups": ([q.Count("smoker"), q.Mean("income", bounds=(0, 9))], BY),
    "several groups": ([q.Count("smoker"), q.Items("item", ["a", "b"])], BY | {"max_groups": 2}),
    "found": ([q.Count("smoker")], FIND | {"by": "blood"}),
    "whole numbers found": ([q.Count("smoker")], FIND | {"by": ["age", "day"]}),
    "replaced": ([q.Sum("income", bounds=(0, 100))], {"neighbors": hn.Neighbors.REPLACE}),
    "laplace": ([q.Count("smoker")], {"privacy": hn.PureDP(epsilon=1)}),
    "conditions": ([q.Count("smoker")], {"where": [q.Where("day", at_least="2026-02-01")]}),
    "a number among days": ([q.Count("day", at_least=3)], {}),
    "no column": ([q.Count("wort")], {}),
    "no day": ([q.Count("age", at_least="2026-01-01")], {}),
    "a failing cast": ([q.Count(nw.col("note").cast(nw.Int64) > 1, name="cast")], {}),
    "a fold": ([q.Count(nw.col("income").sum().over("id") > 1, name="over")], {}),
    "no arithmetic": ([q.Count(nw.col("note") * nw.col("income") > 1, name="times")], {}),
}
BROKEN = ["numbers", "found", "items", "json"]  # what is asked of files that cannot be read
FRAMES = [each for each in engines.TYPED if "parquet" not in each and each != "spark"]


@dataclass(frozen=True)
class Outcome:
    """All that a run leaves behind."""

    said: tuple[str, ...]
    heard: tuple[str, ...]
    left: tuple[tuple[str, bytes], ...] = ()


Scenario = Callable[[World, Path], Outcome]


def command(kind: Kind, words: str) -> Scenario:
    """Return what runs the command on a file."""

    def carry_out(world: World, folder: Path) -> Outcome:
        (folder / "there.csv").write_bytes(b"there")
        data = kind.put(world, folder)
        there = {path.name for path in folder.iterdir()} - {"there.csv"}
        asked = shlex.split(f"{words} {kind.words}".format(data=data, folder=folder))
        with listening() as heard:
            ran = run("release", data, *asked)
        new = (path for path in sorted(folder.iterdir()) if path.name not in there)
        left = tuple((path.name, path.read_bytes()) for path in new if not is_ledger(path))
        return Outcome((str(ran.status), ran.out, plain(ran.err)), tuple(heard), left)

    return carry_out


def call(engine: str, asked: str) -> Scenario:
    """Return what releases a frame."""
    queries, rules = CALLED[asked]
    options: dict[str, Any] = {"unit": "id", "privacy": hn.GaussianDP(mu=1)} | rules

    def carry_out(world: World, folder: Path) -> Outcome:
        data = engines.ENGINES[engine](world.table, folder)
        with listening() as heard:
            try:
                found = q.release(data, queries, **options)
                said = [repr(found), found.to_json(), *found.notes()]
            except Exception as error:  # noqa: BLE001  # whatever it is, it must be the same
                said = [repr(type(error)), *map(repr, error.args), repr(error.__context__)]
        return Outcome(tuple(said), tuple(heard))

    return carry_out


def scenarios() -> Iterator[tuple[str, Scenario]]:
    """List all scenarios: each kind of file with each request, each frame with each."""
    for (name, kind), (asked, words) in itertools.product(FILES.items(), (ASKED | WRONG).items()):
        yield f"{name}: {asked}", command(kind, words)
    for (name, kind), asked in itertools.product(DAMAGED.items(), BROKEN):
        yield f"{name}: {asked}", command(kind, ASKED[asked])
    for engine, asked in itertools.product(FRAMES, CALLED):
        yield f"{engine}: {asked}", call(engine, asked)


def in_turn(kinds: Sequence[str], asked: Sequence[str], start: int = 0) -> list[str]:
    """Return so many scenarios that each kind and each request is in one of them."""
    number = max(len(kinds), len(asked))
    return [f"{kinds[(start + i) % len(kinds)]}: {asked[i % len(asked)]}" for i in range(number)]


ALL = dict(scenarios())
# Those that fail take little time: there are two of each.
SOME = in_turn([*FILES], [*ASKED]) + in_turn([*FILES], [*WRONG]) + in_turn([*FILES], [*WRONG], 5)
SOME += (
    in_turn([*DAMAGED], BROKEN) + in_turn(FRAMES, [*CALLED]) + in_turn(FRAMES, [*CALLED][:10], 4)
)
TRIED = [*ALL] if SOAKS else SOME
TURNS = len(NOTICED) if SOAKS else 1


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
        for turn in range(i, i + TURNS):
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
    for turn, asked in enumerate([*CALLED] if SOAKS else ["numbers"]):
        base, others = worlds(turn)
        scenario = call("spark", asked)
        one = _fresh(scenario, base, tmp_path / "world")
        for world in itertools.islice(others, MORE):
            assert one == _fresh(scenario, world, tmp_path / "world"), asked
