"""Files of people who do not exist: the same rows in each format, and ten of them beside it."""

import gzip
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

ROWS = int(os.environ.get("HALFNOISE_BENCH_ROWS", "10000000"))  # no file has more
COUNTS = [f"q{i}" for i in range(20)]
REGIONS = ("north", "south", "east", "west")
ITEMS = [f"item{i}" for i in range(100)]

TYPES = {
    "counts": dict.fromkeys(COUNTS, "UTINYINT"),
    "mixed": {
        "person": "VARCHAR",
        "smoker": "BIGINT",
        "age": "BIGINT",
        "amount": "DOUBLE",
        "region": "VARCHAR",
        "insured": "VARCHAR",
        "visits": "BIGINT",
        "seen": "DATE",
        "item": "VARCHAR",
        "score": "BIGINT",
    },
}

_WRITTEN = {
    "csv": "(format csv)",
    "quoted.csv": "(format csv, force_quote *)",
    "jsonl": "(format json)",
    "parquet": "(format parquet)",
}


@dataclass(frozen=True, slots=True)
class Made:
    """A file, ten rows of it in another, and how DuckDB reads such files best."""

    whole: Path
    ten: Path
    rows: int
    types: dict[str, str]

    def read(self, path: Path) -> str:
        """Return what stands for a file in SQL: with types declared, where the format has none."""
        columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in self.types.items()) + "}"
        if path.suffix == ".jsonl":
            return f"read_json('{path}', format = 'newline_delimited', columns = {columns})"
        if path.suffix in (".csv", ".gz"):
            dialect = "auto_detect = false, header = true, delim = ',', quote = '\"'"
            return f"read_csv('{path}', {dialect}, columns = {columns})"
        return f"'{path}'"


@dataclass(slots=True)
class Maker:
    """Makes files in a folder, each once and when it is asked for."""

    folder: Path
    made: dict[tuple[str, str, int], Made] = field(default_factory=dict)

    def file(self, kind: str, format: str, rows: int) -> Made:  # noqa: A002  # what it is
        """Return a file of a kind, ``counts`` or ``mixed``, in a format, with so many rows."""
        key = kind, format, min(rows, ROWS)
        if key not in self.made:
            whole, ten = (self._write(kind, format, number) for number in (key[2], 10))
            self.made[key] = Made(whole, ten, key[2], TYPES[kind])
        return self.made[key]

    def _write(self, kind: str, format: str, rows: int) -> Path:  # noqa: A002
        path = self.folder / f"{kind}-{rows}.{format}"
        if path.exists():
            return path
        if format == "csv.gz":
            plain = self._write(kind, "csv", rows)
            with plain.open("rb") as source, gzip.open(path, "wb", compresslevel=6) as target:
                shutil.copyfileobj(source, target, 2**20)
        elif format in ("utf-8.csv", "latin-1.csv"):
            self._with_letters(kind, rows)
        else:
            typed = self._write(kind, "parquet", rows) if format != "parquet" else None
            rows_of = f"select * from '{typed}'" if typed else people(kind, rows)
            copy(rows_of, path, _WRITTEN[format])
        return path

    def _with_letters(self, kind: str, rows: int) -> None:
        """Write the same file in two encodings, with a letter beyond ASCII in some cells."""
        typed = self._write(kind, "parquet", rows)
        utf8, latin = (self.folder / f"{kind}-{rows}.{name}.csv" for name in ("utf-8", "latin-1"))
        letter = "case when visits < 2 then replace(region, 'o', 'ö') else region end as region"
        copy(f"select * replace ({letter}) from '{typed}'", utf8, _WRITTEN["csv"])
        with (
            utf8.open(encoding="utf-8", newline="") as source,
            latin.open("w", encoding="latin-1", newline="") as target,
        ):
            shutil.copyfileobj(source, target, 2**20)


def copy(query: str, path: Path, options: str) -> None:
    """Write what a query gives, the same rows each time."""
    with duckdb.connect() as connection:
        connection.execute("set enable_progress_bar = false")
        connection.execute("set threads = 1")
        connection.execute("select setseed(0.5)")
        connection.execute(f"copy ({query}) to '{path}' {options}")


def people(kind: str, rows: int) -> str:
    """Return the query that makes people up: about three rows for each person."""
    if kind == "counts":
        drawn = [f"(random() < {(i + 1) / 25})::utinyint as {q}" for i, q in enumerate(COUNTS)]
        return f"select {', '.join(drawn)} from range({rows})"
    return f"""select
        'p' || lpad(floor(random() * {max(rows * 0.3, 1)})::int::varchar, 9, '0') as person,
        (random() < 0.3)::int as smoker,
        floor(random() * 90)::int as age,
        round(random() * 200, 2) as amount,
        {list(REGIONS)}[1 + floor(random() * {len(REGIONS)})::int] as region,
        if(random() < 0.5, 'yes', 'no') as insured,
        floor(random() * 20)::int as visits,
        date '2024-01-01' + floor(random() * 365)::int as seen,
        {ITEMS}[1 + floor(random() * {len(ITEMS)})::int] as item,
        case when random() < 0.1 then null when random() < 0.1 then -99
            else floor(random() * 10)::int end as score
        from range({rows})"""
