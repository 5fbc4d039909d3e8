"""Each format of file beside DuckDB's own SQL for the same answer on the same file.

What is copied before it is read also stands beside our own release of what needs no copy: latin-1
beside UTF-8, a zipped file beside unzipping it first. DuckDB unzips while it reads, in one thread,
so that beside it eight mixed queries would be held to less than they may take of a plain file.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.jobs import CLIPPED, JOBS, Job
from bench.made import Maker
from bench.processes import python
from bench.rivals import Match, Most, table

MANY, SOME = 10_000_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how its files end, how many rows they have, and for each job the bar."""

    ending: str
    rows: int
    bars: dict[str, float]


def _bars(counts: float, one: float, mixed: float, person: float, items: float) -> dict[str, float]:
    return dict(zip(JOBS, (counts, one, one, one, mixed, person, items, items), strict=True))


FORMATS = {
    "plain CSV": Format("csv", SOME, _bars(1.6, 2.5, 3.2, 2.0, 4.0)),
    "quoted CSV": Format("quoted.csv", SOME, _bars(3.3, 3.5, 4.0, 2.6, 5.5)),
    "JSON lines": Format("jsonl", SOME, _bars(1.8, 2.0, 2.6, 2.1, 4.0)),
    "Parquet": Format(
        "parquet",
        MANY,
        {"twenty counts": 1.3, "by a text id": 1.2, "items": 2.6, CLIPPED: 2.6},
    ),
    "gzip": Format("csv.gz", SOME, dict.fromkeys(("twenty counts", "by a text id"), 1.2)),
}
LATIN = dict.fromkeys(("one choice", "eight mixed", "by a text id"), 1.5)
UNZIPPED = dict.fromkeys(("twenty counts", "eight mixed", "by a text id"), 1.2)
UNZIP = """
import gzip, os, shutil
with gzip.open({zipped!r}) as source, open({plain!r}, "wb") as target:
    shutil.copyfileobj(source, target, 2**20)
os.execv({then[0]!r}, {then!r})
"""


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the tables, with those lines alone whose title and name are wanted."""
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        maker = Maker(Path(folder))
        for title, each in FORMATS.items():
            names = [name for name in each.bars if wanted(f"{title}, {name}")]
            if names:
                table(title, (_match(maker, name, each) for name in names))
        for title, bars, match, rival in (
            ("latin-1", LATIN, _latin, "ours, UTF-8"),
            ("gzip, by ourselves", UNZIPPED, _unzipped, "unzip, then ours"),
        ):
            names = [name for name in bars if wanted(f"{title}, {name}")]
            if names:
                table(title, (match(maker, name) for name in names), rival=rival)


def _match(maker: Maker, name: str, each: Format) -> Match:
    job, rows, most = JOBS[name], each.rows, Most(times=each.bars[name])
    if (name, each.ending) == ("twenty counts", "csv"):
        rows, most = MANY, replace(most, megabytes=250)
    made = maker.file(job.kind, each.ending, rows)
    return Match(
        what=f"{name}, {made.rows:,} rows",
        ours=job.ours(made.whole),
        start=job.ours(made.ten),
        theirs=job.theirs(made, made.whole),
        their_start=job.theirs(made, made.ten),
        most=most,
    )


def _latin(maker: Maker, name: str) -> Match:
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
        most=Most(times=LATIN[name]),
    )


def _unzipped(maker: Maker, name: str) -> Match:
    job = JOBS[name]
    made = maker.file(job.kind, "csv.gz", SOME)
    return Match(
        what=f"{name}, {made.rows:,} rows",
        ours=job.ours(made.whole),
        start=job.ours(made.ten),
        theirs=_unzips(made.whole, job),
        their_start=_unzips(made.ten, job),
        most=Most(times=UNZIPPED[name]),
    )


def _unzips(zipped: Path, job: Job) -> list[str]:
    """Return the command that unzips a file to another, and then runs ours on that."""
    plain = zipped.with_name(f"unzipped-{zipped.stem}")
    return python(UNZIP.format(zipped=str(zipped), plain=str(plain), then=job.ours(plain)))
