"""Each format of file beside DuckDB's own SQL for the same answer on the same file."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.made import COUNTS, ITEMS, REGIONS, Made, Maker
from bench.processes import ours
from bench.rivals import Match, Most, duckdb_runs, table

MANY, SOME = 10_000_000, 1_000_000
ROW, PERSON = ("--row-is-person",), ("--unit=person",)
AT_MOST = 2


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked of a kind of file, in our words and in DuckDB's."""

    kind: str
    ask: Sequence[str]
    sql: str

    def ours(self, path: Path, *more: str) -> list[str]:
        """Return our command."""
        end = ("--mu=1", "--no-ledger", "--out=-", *more)
        return ours("release", str(path), *self.ask, *end)

    def theirs(self, made: Made, path: Path) -> list[str]:
        """Return DuckDB's command."""
        return duckdb_runs(self.sql.format(data=made.read(path)))


def _yes(condition: str) -> str:
    return f"count(*) filter ({condition})"


_ADDED = ", ".join(f"sum({q})" for q in COUNTS)
_CHOSEN = "--choice=region=" + ",".join(REGIONS)
_LISTED = "--items=item=" + ",".join(ITEMS)
_HAVE = "select distinct person, item from {data} where item is not null"
_WEIGHED = f"least(1, {AT_MOST} / count(*) over (partition by person)) as weight"

JOBS = {
    "twenty counts": Job(
        "counts",
        [*ROW, *(f"--count={q}" for q in COUNTS)],
        f"select count(*), {_ADDED} from {{data}}",
    ),
    "one sum": Job(
        "mixed",
        [*ROW, "--sum=amount=0:200"],
        "select count(*), sum(least(greatest(amount, 0), 200)) from {data}",
    ),
    "one mean": Job(
        "mixed",
        [*ROW, "--mean=amount=0:200"],
        "select count(*), count(amount), avg(least(greatest(amount, 0), 200)) from {data}",
    ),
    "one choice": Job(
        "mixed", [*ROW, _CHOSEN], "select region, count(*) from {data} group by region"
    ),
    "eight mixed": Job(
        "mixed",
        [
            *ROW,
            "--count=smoker",
            "--count=old=age:at-least:65",
            "--count=late=seen:at-least:2024-07-01",
            "--sum=visits=0:20",
            "--mean=amount=0:200",
            "--mean=score=0:10",
            "--missing=-99",
            _CHOSEN,
            "--bins=age=0,18,65",
        ],
        "select "
        + ", ".join(
            [
                "count(*)",
                _yes("smoker = 1"),
                _yes("age >= 65"),
                _yes("seen >= date '2024-07-01'"),
                "sum(least(visits, 20))",
                "count(amount), avg(least(greatest(amount, 0), 200))",
                "count(nullif(score, -99)), avg(least(greatest(nullif(score, -99), 0), 10))",
                *(_yes(f"region = '{region}'") for region in REGIONS),
                _yes("age < 18"),
                _yes("age >= 18 and age < 65"),
            ]
        )
        + " from {data}",
    ),
    "by a text id": Job(
        "mixed",
        [*PERSON, "--count=smoker", "--count=insured"],
        "select count(*), sum(smoker), count(*) filter (insured) from (select person, "
        "max(smoker) as smoker, bool_or(insured = 'yes') as insured from {data} group by person)",
    ),
    "items": Job(
        "mixed", [*PERSON, _LISTED], f"select item, count(*) from ({_HAVE}) group by item"
    ),
    f"items, at most {AT_MOST}": Job(
        "mixed",
        [*PERSON, _LISTED, f"--at-most={AT_MOST}"],
        f"select item, sum(weight) from (select item, {_WEIGHED} from ({_HAVE})) group by item",
    ),
}


def _bars(counts: float, one: float, mixed: float, person: float, items: float) -> list[float]:
    return [counts, one, one, one, mixed, person, items, items]


FORMATS: dict[str, tuple[str, int, dict[str, float]]] = {
    "plain CSV": ("csv", SOME, dict(zip(JOBS, _bars(1.6, 2.5, 3.2, 2.0, 4.0), strict=True))),
    "quoted CSV": ("quoted.csv", SOME, dict(zip(JOBS, _bars(3.3, 3.5, 4, 2.6, 5.5), strict=True))),
    "JSON lines": ("jsonl", SOME, dict(zip(JOBS, _bars(1.8, 2, 2.6, 2.1, 4), strict=True))),
    "Parquet": (
        "parquet",
        MANY,
        {
            "twenty counts": 1.3,
            "by a text id": 1.2,
            "items": 2.6,
            f"items, at most {AT_MOST}": 2.6,
        },
    ),
    "gzip": ("csv.gz", SOME, {"twenty counts": 1.2, "eight mixed": 1.2, "by a text id": 1.2}),
}
LATIN = {"one choice": 1.5, "eight mixed": 1.5, "by a text id": 1.5}


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the tables, with those lines alone whose title and name are wanted."""
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        maker = Maker(Path(folder))
        for title, (format_, rows, bars) in FORMATS.items():
            names = [name for name in bars if wanted(f"{title}, {name}")]
            if names:
                matches = (_match(maker, name, format_, rows, bars[name]) for name in names)
                table(title, matches)
        names = [name for name in LATIN if wanted(f"latin-1, {name}")]
        if names:
            matches = (_latin(maker, name, LATIN[name]) for name in names)
            table("latin-1", matches, rival="ours, UTF-8")


def _match(maker: Maker, name: str, format_: str, rows: int, times: float) -> Match:
    job, most = JOBS[name], Most(times=times)
    if (name, format_) == ("twenty counts", "csv"):
        rows, most = MANY, Most(times=times, megabytes=250)
    made = maker.file(job.kind, format_, rows)
    return Match(
        what=f"{name}, {made.rows:,} rows",
        ours=job.ours(made.whole),
        start=job.ours(made.ten),
        theirs=job.theirs(made, made.whole),
        their_start=job.theirs(made, made.ten),
        most=most,
    )


def _latin(maker: Maker, name: str, times: float) -> Match:
    job = JOBS[name]
    made = maker.file(job.kind, "latin-1.csv", SOME)
    utf8 = maker.file(job.kind, "utf-8.csv", SOME)
    latin = "--encoding=latin-1"
    return Match(
        what=f"{name}, {made.rows:,} rows",
        ours=job.ours(made.whole, latin),
        start=job.ours(made.ten, latin),
        theirs=job.ours(utf8.whole),
        their_start=job.ours(utf8.ten),
        most=Most(times=times),
    )
