"""More than fits into memory: 200 million rows, their people and keys, with 1 GB for the engine.

It takes half an hour, and 40 GB of a disk where temporary files are, so it runs only if it is named
(``python -m bench large``); HALFNOISE_BENCH_LARGE says how many rows there are. DuckDB has the same
memory for its own sums.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bench.made import ITEMS, copy
from bench.processes import ours
from bench.rivals import Match, Most, duckdb_runs, grid_of, table
from bench.sheet import Part, Sheet

ROWS = int(os.environ.get("HALFNOISE_BENCH_LARGE", "200000000"))
PEOPLE, KEYS, FEWER = ROWS // 10, ROWS // 20, ROWS // 4
YEARS, FILES = range(2016, 2026), 4  # of which each folder holds so many
COUNTS = [f"q{i}" for i in range(18)]
MEMORY = "1GB"
PATIENCE = 3600  # seconds
FOUR = Most(megabytes=4000)
MU = (f"--memory={MEMORY}", "--no-ledger", "--mu=1")
DELTA = (f"--memory={MEMORY}", "--no-ledger", "--epsilon=8", "--delta=1e-3", "--i-know")


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the table, with those lines alone that are wanted."""
    names = [name for name in MATCHES if wanted(f"large, {name}")]
    if names:
        table("large", _matches(names))


def part() -> Part:
    """Return the table of all lines."""
    return Part([Sheet.of(grid_of(f"{MEMORY} of memory for the engine", _matches(MATCHES)))])


def _matches(names: Iterable[str]) -> Iterator[Match]:
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        for name in names:
            yield MATCHES[name](name, Path(folder))


def by_row(what: str, folder: Path) -> Match:
    """Count in 18 columns, add one up and tell years apart, which folders say."""
    sums = ", ".join(f"sum({name})" for name in (*COUNTS, "amount"))
    query = f"select year, count(*), {sums} from {_visits(folder)} group by year"
    return _match(what, folder, folder / "visits", ["--row-is-person", *_ASKED, *MU], query)


def by_person(what: str, folder: Path) -> Match:
    """Ask the same of people, of whom each has ten rows."""
    most = ", ".join(f"max({name}) as {name}" for name in (*COUNTS, "year"))
    person = f"select person, {most}, sum(amount) as amount from {_visits(folder)} group by person"
    sums = ", ".join(f"sum({name})" for name in (*COUNTS, "amount"))
    query = f"select year, count(*), {sums} from ({person}) group by year"
    return _match(what, folder, folder / "visits", ["--unit=person", *_ASKED, *MU], query)


def items(what: str, folder: Path) -> Match:
    """Count how many people have each item, of which two count."""
    path = folder / "items.parquet"
    person = f"'p' || lpad(floor(random() * {0.3 * FEWER})::int::varchar, 9, '0') as person"
    item = f"{ITEMS}[1 + floor(random() * {len(ITEMS)})::int] as item"
    copy(f"select {person}, {item} from range({FEWER})", path, "(format parquet)")
    listed = f"--items=item={','.join(ITEMS)}"
    have = f"select distinct person, item from '{path}'"
    weighed = f"select item, least(1, 2 / count(*) over (partition by person)) as w from ({have})"
    query = f"select item, sum(w) from ({weighed}) group by item"
    return _match(what, folder, path, ["--unit=person", listed, "--at-most=2", *MU], query)


def discover(what: str, folder: Path) -> Match:
    """Discover groups, and write a line for each number of each."""
    path = folder / "shops.parquet"
    shop = f"'shop' || floor(random() * {KEYS})::int as shop"
    copy(f"select {shop}, random() < 0.3 as q from range({FEWER})", path, "(format parquet)")
    ask = ["--row-is-person", "--count=q", "--by=shop", "--groups=discover", *DELTA]
    by_shop = f"select shop, count(*), count(*) filter (where q) from '{path}' group by shop"
    return _match(what, folder, path, ask, f"copy ({by_shop}) to '/dev/null' (format csv)")


MATCHES: dict[str, Callable[[str, Path], Match]] = {
    f"{ROWS:,} rows x 20 in folders, by row": by_row,
    f"{ROWS:,} rows x 20 in folders, by person": by_person,
    f"items of {int(0.3 * FEWER):,} people": items,
    f"{KEYS:,} keys, discovered": discover,
}
_ASKED = [
    *(f"--count={name}" for name in COUNTS),
    "--sum=amount=0:100",
    f"--choice=year={','.join(map(str, YEARS))}",
]


def _visits(folder: Path) -> str:
    """Return what stands for the rows in SQL; their files are made once."""
    made = [f"(random() < {(i + 1) / 25})::utinyint as {q}" for i, q in enumerate(COUNTS)]
    made.append("floor(random() * 100)::utinyint as amount")
    made.append(f"floor(random() * {PEOPLE})::int as person")
    rows = f"select {', '.join(made)} from range({ROWS // len(YEARS) // FILES})"
    for year in YEARS:
        (own := folder / "visits" / f"year={year}").mkdir(parents=True, exist_ok=True)
        for path in (own / f"part{i}.parquet" for i in range(FILES)):
            if not path.exists():
                copy(rows, path, "(format parquet)")
    return f"read_parquet('{folder}/visits/*/*.parquet', hive_partitioning = true)"


def _match(what: str, folder: Path, path: Path, ask: list[str], query: str) -> Match:
    (ten := folder / "ten.csv").write_text("q\n" + "0\n1\n" * 5)
    out = folder / "out.csv"
    limits = f"set memory_limit = '{MEMORY}'; set temp_directory = '{folder}/spilled'"
    start = ours("release", str(ten), "--count=q", "--row-is-person", "--out=-", *MU)
    return Match(
        what=what,
        ours=ours("release", str(path), *ask, f"--out={out}", "--overwrite", f"--scratch={folder}"),
        start=start,
        theirs=duckdb_runs(f"{limits}; {query}"),
        their_start=duckdb_runs("select 1"),
        most=FOUR,
        patience=PATIENCE,
    )
