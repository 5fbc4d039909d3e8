import gzip
import io
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from halfnoise.data.sources import lines
from support.soak import MORE

NUMBERS = random.Random(1).choices(range(10**9), k=20_000)
LINES = {
    "csv": b"a,b\n" + b"".join(b"1,%d\n" % number for number in NUMBERS),
    "jsonl": b"".join(b'{"a": 1, "b": %d}\n' % number for number in NUMBERS),
}
CUTS: dict[str, Callable[[bytes], bytes]] = {
    "one byte": lambda whole: whole[:-1],
    "the checksum": lambda whole: whole[:-8],
    "one byte more": lambda whole: whole[:-9],
    "the end": lambda whole: whole[:-1000],
    "half": lambda whole: whole[: len(whole) // 2],
    "half of a second part": lambda whole: whole + whole[: len(whole) // 2],
}


def released(path: Path) -> int:
    """Return how many people a file has, with next to no noise."""
    table = hn.release(path, [hn.Count("a")], row_is_person=True, privacy=hn.GaussianDP(mu=1e6))
    return round(table["a"].estimate)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("ending", LINES)
def test_cut_gzip(ending: str, cut: str, tmp_path: Path) -> None:
    """Wherever a zipped file is cut, it is refused."""
    whole = gzip.compress(LINES[ending])
    path = tmp_path / f"table.{ending}.gz"
    path.write_bytes(whole)
    assert released(path) == len(NUMBERS)
    path.write_bytes(CUTS[cut](whole))
    with pytest.raises(hn.DataError, match="complete"):
        released(path)


@pytest.mark.parametrize("cut", CUTS)
def test_cut_parquet(cut: str, tmp_path: Path) -> None:
    """Wherever a Parquet file is cut, it is refused."""
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"a": [1] * len(NUMBERS), "b": NUMBERS}), path)
    assert released(path) == len(NUMBERS)
    path.write_bytes(CUTS[cut](path.read_bytes()))
    with pytest.raises(hn.DataError, match="complete"):
        released(path)


def damaged(draw: random.Random) -> bytes:
    """Return a zipped file in parts, whole or cut, with a wrong bit, or with more behind it."""
    sizes = [draw.choice([0, 1, 10, 1000, 70_000]) for _ in range(draw.choice([1, 1, 2, 3]))]
    parts = [gzip.compress(bytes(draw.choices(b"ab,1\n", k=k)), draw.randint(0, 9)) for k in sizes]
    whole = b"".join(part + bytes(draw.choice([0, 0, 1, 7, 600])) for part in parts)
    kind, at = draw.randint(0, 4), draw.randrange(len(whole))
    wrong = whole[at] ^ 1 << draw.randrange(8)
    more = bytes(draw.choices(range(256), k=draw.choice([1, 2, 30])))
    found = [whole, whole[:at], whole[: -draw.randint(1, 8)], whole + more]
    return [*found, whole[:at] + bytes([wrong]) + whole[at + 1 :]][kind]


def unzipped(zipped: bytes, size: int) -> bytes | None:
    """Return what a zipped file holds, read in blocks; None where it cannot be read."""
    file, found = lines._unzipped(io.BytesIO(zipped)), list[bytes]()
    try:
        while block := file.read(size):
            found.append(block)
    except Exception:  # noqa: BLE001  # of either reader, which is told in one sentence
        return None
    return b"".join(found)


def test_either_reader_of_gzip_reads_and_refuses_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ISA-L is not installed, Python's own gzip gives the same bytes of the same files."""
    draw = random.Random(7)
    files = [(damaged(draw), draw.choice([100, 2**12, 2**17])) for _ in range(600 * MORE)]
    quick = [unzipped(*each) for each in files]
    assert type(lines._unzipped(io.BytesIO())).__module__ == "isal.igzip"
    monkeypatch.setitem(sys.modules, "isal.igzip", None)
    assert type(lines._unzipped(io.BytesIO())).__module__ == "gzip"
    assert quick == [unzipped(*each) for each in files]
    assert 100 < quick.count(None) < len(files) - 100
