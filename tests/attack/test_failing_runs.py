"""Many failing runs of the command on tables full of what must not be seen."""

import gzip
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.commands import run
from support.soak import SOAKS

CANARY = "Kanarienvogel"
TABLE = pa.table(
    {
        "id": [f"{CANARY}{i}" for i in range(9)],
        "word": [f"{CANARY} {i}" for i in range(9)],
        "number": [98765.4321 + i for i in range(9)],
        "day": pa.array([f"1958-03-0{i + 1}" for i in range(9)]),
    }
)
SEEN = re.compile(rf"{CANARY}|98765|1958-03|Traceback|duckdb\.|Error: |LINE \d|\brow \d|\bline \d")


def _text(mark: str) -> bytes:
    rows = [map(str, row.values()) for row in TABLE.to_pylist()]
    lines = [mark.join(TABLE.column_names), *(mark.join(row) for row in rows)]
    return "\n".join([*lines, ""]).encode()


def _rows(mark: str) -> bytes:
    return _text(mark).partition(b"\n")[2]


def _parquet(path: Path) -> bytes:
    pq.write_table(TABLE, path)
    return path.read_bytes()


FILES: dict[str, Callable[[Path], bytes]] = {
    "a.csv": lambda _: _text(","),
    "a.tsv": lambda _: _text("\t"),
    "a.parquet": _parquet,
    "cut.csv.gz": lambda _: gzip.compress(_text(",") * 999)[:-20],
    "cut.parquet": lambda path: _parquet(path)[:-20],
    "text.parquet": lambda _: _text(","),
    "plain.csv.gz": lambda _: _text(","),
    "parquet.csv": lambda path: b"id,word,number,day\n" + _parquet(path),
    # Without a header, the first row is all that there is to name columns by.
    "bare.csv": lambda _: _rows(","),
    "bare.tsv": lambda _: _rows("\t"),
    "bare.csv.gz": lambda _: gzip.compress(_rows(",")),
    "words.csv": lambda _: f"{CANARY}a,{CANARY},{CANARY}_c,{CANARY}s\n".encode() * 9,
}
# Each fails whatever the file: by what is asked, by a name, a type, a list, a spec or an output.
REQUESTS = [
    "--count wort {people}",
    "--count word --unit nobody --mu 1",
    "--count word --where nothing:is:1 {people}",
    "--count id {people}",
    "--count word --where id:is:1 {people}",
    "--count word --by day:week --groups 1, {people}",
    "--count word --by nothing --groups discover {people}",
    "--choice word=@{data} {people}",
    "--count word --by word --groups @{data} {people}",
    "--count word --missing @{data} {people}",
    "--count word --spec {data} {people}",
    "--count word --out {data} --overwrite {people}",
    "--count word --save-spec {data} --overwrite {people}",
    "--count word --out {folder}/none/x.csv {people}",
    "--count word --where word:is:a --neighbors replace {people}",
    "--count word --mu 1 --mu 2 --unit id",
    "--sum number=5:1 {people}",
    "--count word {people} --dry-run --encoding klingon",
]


@pytest.mark.parametrize("name", FILES)
def test_no_failing_run_shows_data(tmp_path: Path, name: str) -> None:
    """Over files and requests, more than a hundred, nothing of a cell or an engine is said.

    Of two files like each other each takes one half of the requests; a soak takes all.
    """
    requests = REQUESTS if SOAKS else REQUESTS[[*FILES].index(name) % 2 :: 2]
    assert len(FILES) * len(requests) > 100
    path = tmp_path / name
    path.write_bytes(content := FILES[name](path))
    for request in requests:
        words = request.format(people="--unit id --mu 1", data=path, folder=tmp_path)
        ran = run("release", path, *shlex.split(words))
        assert ran.status in (2, 3), (request, ran)
        said = re.sub(r" \(\w+; Python .*looks at these\)", "", ran.out + ran.err)
        assert not SEEN.search(said.replace(str(tmp_path), "")), (request, said)
        assert CANARY not in ran.err
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == [name]
