"""What is asked of made-up people, in our words and in SQL that gives the same answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.made import COUNTS, ITEMS, REGIONS, Made
from bench.processes import ours
from bench.rivals import duckdb_runs

ROW, PERSON = ("--row-is-person",), ("--unit=person",)
AT_MOST = 2
CLIPPED = f"items, at most {AT_MOST}"


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
    return f"count(*) filter (where {condition})"


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
                _yes("score <> -99"),
                "avg(least(greatest(score, 0), 10)) filter (where score <> -99)",
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
        "select count(*), sum(smoker), count(*) filter (where insured) from (select person, "
        "max(smoker) as smoker, bool_or(insured = 'yes') as insured from {data} group by person)",
    ),
    "items": Job(
        "mixed", [*PERSON, _LISTED], f"select item, count(*) from ({_HAVE}) group by item"
    ),
    CLIPPED: Job(
        "mixed",
        [*PERSON, _LISTED, f"--at-most={AT_MOST}"],
        f"select item, sum(weight) from (select item, {_WEIGHED} from ({_HAVE})) group by item",
    ),
}
