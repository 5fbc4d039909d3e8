"""Each format of file beside DuckDB's own SQL for the same answer on the same file."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.jobs import AT_MOST, JOBS
from bench.made import Maker
from bench.rivals import Match, Most, table

MANY, SOME = 10_000_000, 1_000_000


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
