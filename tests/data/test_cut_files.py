import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn

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
