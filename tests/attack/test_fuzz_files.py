"""Whatever is in a file of rows: it is read, or refused in a sentence that shows nothing of it."""

import functools
import gzip
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfnoise.data import quiet
from halfnoise.errors import DataError
from support import stored
from support.fuzz import LIMIT, MORE, Meter, Tried, fuzz

CANARY = "Kanarienvogel"
ROWS = [
    {"id": f"{CANARY}{i % 7}", "yes": i % 3 == 0, "x": i * 1.5, "word": "abäéñ"[i % 5], "n": i}
    for i in range(40)
]
ASKED = ["--count", "yes", "--sum", "x=0:20", "--choice", "word=a,b", "--count", "n:at-least:3"]
ASKED += ["--unit", "id", "--mu", "1"]
NAMED = ["--names", "id,yes,x,word,n"]


def _text(mark: str) -> bytes:
    lines = [mark.join(ROWS[0]), *(mark.join(map(str, row.values())) for row in ROWS)]
    return "\n".join([*lines, ""]).encode()


def _json() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def _parquet(**options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(ROWS), sink, **options)
    return bytes(sink.getvalue())


@functools.cache
def _kept(make: Callable[[Any, Path], Path], *, typed: bool = False) -> bytes:
    table = pa.Table.from_pylist(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        return make(table if typed else table.to_pydict(), Path(folder)).read_bytes()


SOUND: dict[str, Callable[[], bytes]] = {
    "a.csv": lambda: _text(","),
    "a.tsv": lambda: _text("\t"),
    "a.jsonl": _json,
    "a.csv.gz": lambda: gzip.compress(_text(","), mtime=0),
    "a.jsonl.gz": lambda: gzip.compress(_json(), mtime=0),
    "a.parquet": _parquet,
    "b.parquet": lambda: _parquet(compression="zstd", use_dictionary=False, row_group_size=9),
    "c.parquet": lambda: _parquet(compression="none", version="1.0", data_page_version="2.0"),
    "a.xlsx": lambda: _kept(stored.xlsx),
    "a.ods": lambda: _kept(stored.ods),
    "a.sqlite": lambda: _kept(stored.sqlite),
    "a.duckdb": lambda: _kept(stored.duckdb_file, typed=True),
}
MARKS = [
    b"\0",
    b"\xff",
    b'"',
    b"'",
    b",",
    b"\n",
    b"\r",
    b"\x1e",
    b"{",
    b"}",
    b"\xef\xbb\xbf",
    b"\\",
]
MARKS += [
    b"[" * 3000,
    b'{"a":' * 3000,
    b'"\\ud800"',
    b"1e999",
    b"9" * 5000,
    b"NaN",
    b"\x1a",
    b"\xc3",
]


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Return a file of which bytes were flipped, cut, doubled, moved, zeroed or put in."""
    for _ in range(draw.choice([1, 1, 1, 2, 8])):
        # The end of a Parquet file and the beginning of the others say the most.
        near = draw.choice([0.0, 0.5, 0.9]) * len(content)
        i = draw.randrange(int(near), len(content)) if content else 0
        j = min(len(content), i + draw.choice([1, 2, 8, 100]))
        byte = bytes([content[i] ^ 1 << draw.randrange(8)]) if content else b""
        content = draw.choice(
            [
                content[:i] + byte + content[i + 1 :],
                content[:i] + byte + content[i + 1 :],
                content[:i],
                content[i:],
                content + content[i:],
                content[:i] + content[j:],
                content[:j] + content[i:],
                content[:i] + bytes(j - i) + content[j:],
                content[:i] + draw.choice(MARKS) + content[i:],
                content[:i] + draw.randbytes(j - i) + content[j:],
            ]
        )
    return content


FILES = st.tuples(st.sampled_from([*SOUND]), st.integers(0, 2**64), st.integers(0, 9))


def released(file: tuple[str, int, int], meter: Meter, tried: Tried, limit: float = LIMIT) -> None:
    """Release a damaged file, of which nothing but names may be seen."""
    name, seed, how = file
    (path := meter.folder / name).write_bytes(damaged(SOUND[name](), random.Random(seed)))
    more = NAMED if not how and not name.endswith(("parquet", "jsonl", "jsonl.gz")) else []
    ran = tried.command(meter, "release", name, *ASKED, *more, limit=limit)
    assert CANARY not in ran.err, (name, ran.err)
    assert CANARY not in ran.out
    path.unlink()


def all_tried(meter: Meter, many: int, *, same: bool = True) -> Tried:
    """Release so many damaged files."""
    tried = Tried("damaged files")
    fuzz(lambda file: released(file, meter, tried), FILES, many, same=same)
    return tried


def test_any_damage(meter: Meter) -> None:
    """No damage leads to a traceback, a hang, words of an engine, or a cell on the screen."""
    all_tried(meter, 40 * MORE, same=MORE == 1).told(40 * MORE)


def test_words_of_an_engine_are_seen(meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that passes on what an engine says is caught."""
    monkeypatch.setattr(quiet, "ours", lambda error, said: DataError(f"{said} {error}"))
    with pytest.raises(AssertionError):
        all_tried(meter, 40)
