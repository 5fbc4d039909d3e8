"""What grows in another direction than rows: columns, categories, groups, and the length of lines.

Everything beyond the start of the smallest release counts, planning too.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.made import ROWS, copy
from bench.processes import ours, python
from bench.rivals import Match, Most, duckdb_runs, table

COLUMNS, WIDE_ROWS = 20_000, 2_000
CATEGORIES, CATEGORY_ROWS = 10_000, 100_000
GROUPS, GROUP_ROWS = 1_000_000, min(5_000_000, ROWS)
FIELDS, LINES = 400, 20_000
LONG, LONG_LINES = 1_900_000, 1_500

MU = ("--row-is-person", "--no-ledger", "--out=-", "--mu=1")
DELTA = ("--row-is-person", "--no-ledger", "--out=-", "--epsilon=8", "--delta=1e-3", "--i-know")
RELEASED = f"""
import halfnoise as hn
groups = [f"shop{{{{i}}}}" for i in range({GROUPS})]
hn.release(
    {{path!r}},
    [hn.Count("q")],
    row_is_person=True,
    privacy=hn.GaussianDP(mu=1),
    ledger=None,
    {{more}}
).columns()
"""


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the table, with those lines alone that are wanted."""
    names = [name for name in MATCHES if wanted(f"growth, {name}")]

    def matches() -> Iterator[Match]:
        for name in names:
            with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
                yield MATCHES[name](name, Path(folder))

    if names:
        table("growth", matches())


def many_counts(what: str, folder: Path) -> Match:
    """Count in 20,000 columns."""
    path = folder / ("wide.parquet" if "Parquet" in what else "wide.csv")
    names = wide(path)
    data = declared(path, names) if path.suffix == ".csv" else f"'{path}'"
    sums = ", ".join(f"sum({name})" for name in names)
    ask = [*(f"--count={name}" for name in names), *MU]
    return _match(what, path, ask, f"select {sums} from {data}", Most(times=8))


def few_of_many(what: str, folder: Path) -> Match:
    """Count in ten of 20,000 columns."""
    path = folder / "wide.csv"
    names = wide(path)
    some = names[:: len(names) // 10]
    sums = ", ".join(f"sum({name})" for name in some)
    ask = [*(f"--count={name}" for name in some), *MU]
    return _match(what, path, ask, f"select {sums} from {declared(path, names)}")


def many_categories(what: str, folder: Path) -> Match:
    """Count a choice of 10,000."""
    path, listed = folder / "codes.csv", _listed(folder, "code", CATEGORIES)
    code = f"'code' || floor(random() * {CATEGORIES})::int as code"
    copy(f"select {code} from range({CATEGORY_ROWS})", path, "(format csv)")
    query = f"select code, count(*) from {declared(path, ['code'], 'VARCHAR')} group by code"
    return _match(what, path, [f"--choice=code=@{listed}", *MU], query, Most(seconds=1))


def groups(what: str, folder: Path) -> Match:
    """Release a table for each of a million groups; DuckDB writes lines with as much in them."""
    path = _shops(folder)
    listed = "discover" if "discovered" in what else f"@{_listed(folder, 'shop', GROUPS)}"
    ask = ["--count=q", "--by=shop", f"--groups={listed}", *DELTA]
    counted = f"select *, random() as r from ({_by_shop(path)}) as each (shop, a, b)"
    lines = (f"select shop, '{n}', 'count', {n} + r, 1 + r, {n} - r, {n} + 2 * r" for n in "ab")
    long = " union all ".join(f"{line} from counted" for line in lines)
    written = f"with counted as materialized ({counted}) {long}"
    query = f"copy ({written}) to '/dev/stdout' (format csv)"
    return _match(what, path, ask, query, Most(times=3))


def groups_in_python(what: str, folder: Path) -> Match:
    """Release the same as arrays in Python, where the list is there before, as files are."""
    path, ten = _shops(folder), _ten(folder)
    fetched = python(f"import duckdb\nduckdb.sql({_by_shop(path)!r}).fetchnumpy()")
    started = python("import duckdb\nduckdb.sql('select 1').fetchnumpy()")
    return Match(
        what=what,
        ours=python(RELEASED.format(path=str(path), more='by="shop", groups=groups')),
        start=python(RELEASED.format(path=str(ten), more="")),
        theirs=fetched,
        their_start=started,
        most=Most(times=3),
    )


def many_fields(what: str, folder: Path) -> Match:
    """Count in 400 fields of JSON lines."""
    path, names = folder / "wide.jsonl", [f"q{i}" for i in range(FIELDS)]
    drawn = np.random.default_rng(5).integers(0, 2, (LINES, FIELDS)).tolist()
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in drawn)
    columns = _columns(names, "UTINYINT")
    sums = ", ".join(f"sum({name})" for name in names)
    data = f"read_json('{path}', format = 'newline_delimited', columns = {columns})"
    ask = [*(f"--count={name}" for name in names), *MU]
    return _match(what, path, ask, f"select {sums} from {data}", Most(seconds=15))


def long_lines(what: str, folder: Path) -> Match:
    """Count in lines of nearly two megabytes."""
    path = folder / "long.csv"
    note = "x" * (LONG - 3)
    with path.open("w", encoding="utf-8") as file:
        file.write("q,note\n")
        file.writelines(f"{i % 2},{note}\n" for i in range(LONG_LINES))
    data = declared(path, ["q", "note"], "VARCHAR", f"max_line_size = {LONG + 10}")
    query = f"select count(*) filter (where q = '1') from {data}"
    return _match(what, path, ["--count=q", *MU], query, Most(megabytes=1000))


MATCHES: dict[str, Callable[[str, Path], Match]] = {
    f"{COLUMNS:,} counts, Parquet": many_counts,
    f"{COLUMNS:,} counts, CSV": many_counts,
    f"10 counts of {COLUMNS:,} columns, CSV": few_of_many,
    f"a choice of {CATEGORIES:,}, CSV": many_categories,
    f"{GROUPS:,} groups, listed": groups,
    f"{GROUPS:,} groups, listed, in Python": groups_in_python,
    f"{GROUPS:,} groups, discovered": groups,
    f"{FIELDS} counts in {LINES:,} JSON lines": many_fields,
    f"{LONG_LINES:,} lines of {LONG / 1e6} MB": long_lines,
}


def _match(
    what: str,
    path: Path,
    ask: Sequence[str],
    query: str,
    most: Most = Most(),  # noqa: B008
) -> Match:
    said = path.parent / "query.sql"  # longer than the words of a command may be
    said.write_text(query)
    return Match(
        what=what,
        ours=ours("release", str(path), *ask),
        start=_smallest(path.parent),
        theirs=duckdb_runs(said),
        their_start=duckdb_runs("select 1"),
        most=most,
    )


def _smallest(folder: Path) -> list[str]:
    return ours("release", str(_ten(folder)), "--count=q", *MU)


def _ten(folder: Path) -> Path:
    path = folder / "ten.csv"
    path.write_text("q\n" + "0\n1\n" * 5)
    return path


def wide(path: Path) -> list[str]:
    """Write a file with 20,000 columns of 0 and 1; return their names."""
    names = [f"q{i}" for i in range(COLUMNS)]
    drawn = np.random.default_rng(5).integers(0, 2, (WIDE_ROWS, COLUMNS), dtype=np.uint8)
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(dict(zip(names, drawn.T.copy(), strict=True))), path)
        return names
    text = np.full((WIDE_ROWS, 2 * COLUMNS), ord(","), dtype=np.uint8)
    text[:, ::2] = drawn + ord("0")
    text[:, -1] = ord("\n")
    path.write_bytes((",".join(names) + "\n").encode() + text.tobytes())
    return names


def declared(path: Path, names: Sequence[str], kind: str = "UTINYINT", more: str = "") -> str:
    """Return what stands for a CSV file in SQL, all columns of one type."""
    dialect = "auto_detect = false, header = true, delim = ',', quote = '\"'"
    dialect = ", ".join(filter(None, (dialect, more)))
    return f"read_csv('{path}', {dialect}, columns = {_columns(names, kind)})"


def _columns(names: Sequence[str], kind: str) -> str:
    return "{" + ", ".join(f"'{name}': '{kind}'" for name in names) + "}"


def _listed(folder: Path, stem: str, number: int) -> Path:
    path = folder / f"{stem}s.txt"
    path.write_text("".join(f"{stem}{i}\n" for i in range(number)))
    return path


def _shops(folder: Path) -> Path:
    path = folder / "shops.parquet"
    shop = f"'shop' || floor(random() * {GROUPS})::int as shop"
    drawn = f"select {shop}, random() < 0.3 as q from range({GROUP_ROWS})"
    copy(drawn, path, "(format parquet)")
    return path


def _by_shop(path: Path) -> str:
    counted = "count(*), count(*) filter (where q)"
    return f"select shop, {counted} from '{path}' group by shop"
