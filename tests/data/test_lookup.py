"""Lists as tables of an engine: what goes in is what rows are compared with."""

import math
import struct
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pytest

from halfnoise.data.lookup import PLACE, lookup
from support import engines

TEXTS = ["a", " a ", "", "\0", "\x1f", '"', "\\", "\n\t\r", "\u2028", "\ufeff", "{}", "null", "ü"]
TEXTS += ["a\u0301", "\U0001f600", "x" * 10_000]
WHOLE = [0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63)]
FRACTIONS = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 1 / 3, 1e22, math.inf, -math.inf]


def bits(value: Any) -> Any:
    """Return what tells a number from all others, also zero from minus zero."""
    return struct.pack("d", value) if isinstance(value, float) else value


@pytest.mark.parametrize("listed", [TEXTS, WHOLE, FRACTIONS], ids=["texts", "whole", "fractions"])
def test_spark_needs_no_python_on_its_workers(
    listed: Sequence[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists come to Spark as they are, also where its workers have no Python, or another one."""
    session = engines.spark_session()
    monkeypatch.setattr(session.sparkContext, "pythonExec", "no-such-python")
    frame: nw.LazyFrame[Any] = nw.from_native(session.range(1)).lazy()
    table: Any = lookup(frame, {"value": listed}).to_native()
    found = {row[PLACE]: bits(row["value"]) for row in table.collect()}
    assert [found[place] for place in range(len(listed))] == [bits(value) for value in listed]


@pytest.mark.parametrize("listed", [["?", "\ud800"], ["\U0001f600", "\ud83d\ude00"]])
def test_no_two_values_become_one_in_spark(listed: list[str]) -> None:
    """Half of a surrogate pair is refused: as another text, it would meet a row twice."""
    frame: nw.LazyFrame[Any] = nw.from_native(engines.spark_session().range(1)).lazy()
    with pytest.raises(UnicodeEncodeError):
        lookup(frame, {"value": listed})
