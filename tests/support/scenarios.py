"""What is asked of tables, by the command and in Python, well or wrongly; and what comes of it."""

import itertools
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw

import halfnoise as hn
from support import engines
from support.commands import run
from support.heard import is_ledger, listening, plain
from support.worlds import DAMAGED, FILES, Kind, World

q: Any = hn  # what strict types would refuse is tried, too

UNIT, FEWER = "--unit id", "--discover-delta 1e-13"  # of many groups of one, none shows by chance
CROSSED = "--choice blood=A,B --bins age=0,18,65 --table blood,age"
ASKED = {
    "a count": f"--count smoker {UNIT} {{mu}}",
    "numbers": f"--count smoker --sum income=0:100 --mean age=0:120 {UNIT} {{mu}}",
    "categories": f"--choice blood=A,B --bins age=0,18,65 {UNIT} {{mu}}",
    "cross tables": f"{CROSSED} --mean income=0:100 --by-cell income=blood {UNIT} {{mu}}",
    "cross tables found": f"{CROSSED} --by note --groups discover {FEWER} {UNIT} {{approx}}",
    "cross tables in json": f"{CROSSED} --out {{folder}}/out.json {UNIT} {{mu}}",
    "check of cross tables": f"check {CROSSED} {UNIT} {{mu}}",
    "items": f"--items item=a,b,c --at-most 2 {UNIT} {{approx}}",
    "conditions": f"--count old=age:at-least:65 --where income:up-to:50 {UNIT} {{mu}}",
    "days": f"--count late=day:at-least:2026-02-01 --missing -99,N/A {UNIT} {{mu}}",
    "groups": f"--count smoker --mean income=0:100 --by blood --groups A,B {UNIT} {{mu}}",
    "several groups": f"--count smoker --by blood --groups A,B --max-groups 2 {UNIT} {{mu}}",
    "months": f"--count smoker --by day:month --groups 2026-01,2026-02 {UNIT} {{mu}}",
    "found": f"--count smoker --by blood --groups discover {UNIT} {{approx}}",
    "months found": f"--mean income=0:9 --by day:month,blood --groups discover {UNIT} {{approx}}",
    "names found": f"--count smoker --by note --groups discover {FEWER} {UNIT} {{approx}}",
    "replaced": f"--count smoker --sum income=0:100 --neighbors replace {UNIT} {{mu}}",
    "rows replaced": "--count smoker --neighbors replace --row-is-person {mu}",
    "rows": "--count smoker --sum age=0:99 --row-is-person {mu}",
    "known size": f"--count smoker --known-size 40 {UNIT} {{mu}}",
    "laplace": f"--count smoker --noise laplace {UNIT} {{pure}}",
    "csv": f"--count smoker --out {{folder}}/out.csv {UNIT} {{mu}}",
    "json": f"--count smoker --by blood --groups A,B --out {{folder}}/out.json {UNIT} {{mu}}",
    "json lines": f"--count smoker --out {{folder}}/out.jsonl {UNIT} {{mu}}",
    "markdown": f"--count smoker --out {{folder}}/out.md {UNIT} {{mu}}",
    "parquet": f"--count smoker --out {{folder}}/out.parquet {UNIT} {{mu}}",
    "spec": f"--count smoker --save-spec {{folder}}/out.toml {UNIT} {{mu}}",
    "dry run": f"--count smoker --by blood --groups discover --dry-run {UNIT} {{approx}}",
    "no ledger": f"--count smoker --no-ledger {UNIT} {{mu}}",
    "check": f"check --count smoker --choice blood=A,B --mean age=0:99 {UNIT} {{mu}}",
    "first spec": "spec --out {folder}/out.toml",
}
WRONG = {
    "no column": f"--count wort {UNIT} {{mu}}",
    "nobody": "--count smoker --unit nobody {mu}",
    "no condition": f"--count smoker --where nothing:is:1 {UNIT} {{mu}}",
    "a day for a number": f"--count late=age:at-least:2026-01-01 {UNIT} {{mu}}",
    "no axis": f"--choice blood=A,B --table blood,nothing {UNIT} {{mu}}",
    "bounds": f"--sum income=5:1 {UNIT} {{mu}}",
    "no group": f"--count smoker --by nothing --groups discover {UNIT} {{approx}}",
    "week": f"--count smoker --by day:week --groups 1, {UNIT} {{mu}}",
    "data as a list": f"--choice blood=@{{data}} {UNIT} {{mu}}",
    "data as places": f"--nested blood,age=@{{data}} {UNIT} {{mu}}",
    "data as groups": f"--count smoker --by blood --groups @{{data}} {UNIT} {{mu}}",
    "data as a spec": f"--count smoker --spec {{data}} {UNIT} {{mu}}",
    "data as output": f"--count smoker --out {{data}} --overwrite {UNIT} {{mu}}",
    "output there": f"--count smoker --out {{folder}}/there.csv {UNIT} {{mu}}",
    "no folder": f"--count smoker --out {{folder}}/none/out.csv {UNIT} {{mu}}",
    "no encoding": f"--count smoker --encoding klingon {UNIT} {{mu}}",
    "said twice": f"--count smoker --mu 1 --mu 2 {UNIT}",
    "no budget": f"--count smoker {UNIT}",
    "too little": f"--sum income=0:1e-300 --mu 1e-300 {UNIT}",
    "check of what is wrong": f"check --count wort --count smoker --sum age=0:x {UNIT} --mu x",
    "no such option": f"--count smoker --frobnicate {UNIT} {{mu}}",
}
BROKEN = ("numbers", "found", "items", "json")  # what is asked of files that cannot be read
REPLACED = ("replaced", "rows replaced", "tables replaced")
BY = {"by": "blood", "groups": ["A", "B"]}
FIND = {"groups": "discover", "privacy": "approx"}
TABLE = q.Table([q.Choice("blood", ["A", "B"]), q.Bins("age", [0, 18, 65])])
PLACES = q.Nested("blood", "item", places=[("A", "a"), ("A", "b"), ("B", "c")])
MANY = q.Table(["age", q.Choice("item", [*"abc", *map(str, range(60))])])
BY_CELL = [q.Mean("income", bounds=(0, 100), by=["age"]), q.Count("smoker", by=["blood", "age"])]
CALLED: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "counts": ([q.Count("smoker"), q.Count("age", at_least=30, name="old")], {}),
    "numbers": ([q.Sum("income", bounds=(0, 100)), q.Mean("age", bounds=(0, 120))], {}),
    "categories": ([q.Choice("blood", ["A", "B"]), q.Bins("age", [0, 18, 65])], {}),
    "items": ([q.Items("item", ["a", "b", "c"], at_most=2)], {}),
    "tables": ([TABLE, MANY, *BY_CELL], {}),
    "tables in groups": ([TABLE, *BY_CELL], {"by": "item", "groups": ["a", "b"]}),
    "places": ([PLACES, q.Table(["item", q.Bins("age", [0, 18])]), BY_CELL[0]], {}),
    "tables in groups that are found": ([TABLE, q.Count("smoker")], FIND | {"by": "item"}),
    "tables replaced": (
        [TABLE, MANY],
        {"neighbors": hn.Neighbors.REPLACE, "known_size": 40},
    ),
    "groups": ([q.Count("smoker"), q.Mean("income", bounds=(0, 9))], BY),
    "several groups": ([q.Count("smoker"), q.Items("item", ["a", "b"])], BY | {"max_groups": 2}),
    "found": ([q.Count("smoker")], FIND | {"by": "blood"}),
    "names found": ([q.Count("smoker")], FIND | {"by": "note", "discover_delta": 1e-13}),
    "whole numbers found": ([q.Count("smoker")], FIND | {"by": ["age", "day"]}),
    "replaced": ([q.Sum("income", bounds=(0, 100))], {"neighbors": hn.Neighbors.REPLACE}),
    "laplace": ([q.Count("smoker")], {"privacy": "pure"}),
    "conditions": ([q.Count("smoker")], {"where": [q.Where("day", at_least="2026-02-01")]}),
    "a number among days": ([q.Count("day", at_least=3)], {}),
    "no column": ([q.Count("wort")], {}),
    "no axis": ([q.Table([q.Choice("blood", ["A"]), q.Bins("wort", [1])])], {}),
    "no day": ([q.Count("age", at_least="2026-01-01")], {}),
    "a failing cast": ([q.Count(nw.col("note").cast(nw.Int64) > 1, name="cast")], {}),
    "a fold": ([q.Count(nw.col("income").sum().over("id") > 1, name="over")], {}),
    "no arithmetic": ([q.Count(nw.col("note") * nw.col("income") > 1, name="times")], {}),
}
FRAMES = [each for each in engines.TYPED if not {"parquet", "file", "spark"} & {*each.split("-")}]


@dataclass(frozen=True)
class Budgets:
    """What may be spent: a mu; an epsilon with a delta of one in a million, or without."""

    mu: float = 1
    epsilon: float = 1

    @property
    def words(self) -> Mapping[str, str]:
        """The same as words."""
        pure = f"--epsilon {self.epsilon}"
        return {"mu": f"--mu {self.mu}", "pure": pure, "approx": f"{pure} --delta 1e-6"}

    @property
    def values(self) -> Mapping[str, Any]:
        """The same as values."""
        approx = hn.ApproxDP(epsilon=self.epsilon, delta=1e-6)
        pure = hn.PureDP(epsilon=self.epsilon)
        return {"mu": hn.GaussianDP(mu=self.mu), "pure": pure, "approx": approx}


@dataclass(frozen=True)
class Outcome:
    """All that a run leaves behind: what it said, what was heard of it, files, and its error."""

    said: tuple[str, ...]
    heard: tuple[str, ...]
    left: tuple[tuple[str, bytes], ...] = ()
    error: BaseException | None = field(default=None, compare=False, repr=False)


Scenario = Callable[[World, Path], Outcome]


def command(kind: Kind, words: str, budgets: Budgets) -> Scenario:
    """Return what runs the command on a file."""

    def carry_out(world: World, folder: Path) -> Outcome:
        (folder / "there.csv").write_bytes(b"there")
        data = kind.put(world, folder)
        there = {path.name for path in folder.iterdir()} - {"there.csv"}
        given = {"data": data, "folder": folder, **budgets.words}
        asked = shlex.split(f"{words} {kind.words}".format(**given))
        with listening() as heard:
            other = asked[0] in ("check", "spec")
            name, *rest = asked if other else ["release", *asked]
            ran = run(name, data, *rest)
        new = (path for path in sorted(folder.iterdir()) if path.name not in there)
        left = tuple((path.name, path.read_bytes()) for path in new if not is_ledger(path))
        said = (str(ran.status), ran.out, plain(ran.err))
        return Outcome(said, tuple(heard), left, ran.stopped)

    return carry_out


def call(engine: str, asked: str, budgets: Budgets) -> Scenario:
    """Return what releases a frame."""
    queries, rules = CALLED[asked]
    privacy = budgets.values[rules.get("privacy", "mu")]

    def carry_out(world: World, folder: Path) -> Outcome:
        data, failed = engines.ENGINES[engine](world.table, folder), None
        with listening() as heard:
            try:
                found = q.release(data, queries, unit="id", **rules | {"privacy": privacy})
                said = [repr(found), found.to_json(), *found.notes()]
            except Exception as error:  # noqa: BLE001  # whatever it is, it must be the same
                said = [repr(type(error)), *map(repr, error.args), repr(error.__context__)]
                failed = error
        return Outcome(tuple(said), tuple(heard), error=failed)

    return carry_out


def scenarios(budgets: Budgets) -> Iterator[tuple[str, Scenario]]:
    """List all scenarios: each kind of file with each request, each frame with each."""
    for (name, kind), (asked, words) in itertools.product(FILES.items(), (ASKED | WRONG).items()):
        yield f"{name}: {asked}", command(kind, words, budgets)
    for (name, kind), asked in itertools.product(DAMAGED.items(), BROKEN):
        yield f"{name}: {asked}", command(kind, ASKED[asked], budgets)
    for engine, asked in itertools.product(FRAMES, CALLED):
        yield f"{engine}: {asked}", call(engine, asked, budgets)


def in_turn(kinds: Sequence[str], asked: Sequence[str], start: int = 0) -> list[str]:
    """Return so many scenarios that each kind and each request is in one of them."""
    number = max(len(kinds), len(asked))
    return [f"{kinds[(start + i) % len(kinds)]}: {asked[i % len(asked)]}" for i in range(number)]
