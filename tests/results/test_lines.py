"""A long table is written by DuckDB, and comes out byte for byte as if written cell by cell."""

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from halfnoise.results.formats import as_lines
from halfnoise.results.inference import Columns
from halfnoise.results.lines import CSV, MARKDOWN, Layout
from halfnoise.results.published import MANY

TEXTS = ["a,b", '"q"', "x\ny", "x\rz", "=1", "+1", "-1", "@a", "\ta", "", "a|b", " a ", "#c"]
TEXTS += ["NULL", "null", "nan", "ä€😀", "a\0b", "o'k", "\\n"]
ROWS = MANY + 2_000


def repeated(*values: Any) -> NDArray[Any]:
    """Return a column of objects that holds values again and again."""
    column = np.empty(ROWS, dtype=object)
    column[:] = [values[i % len(values)] for i in range(ROWS)]
    return column


def odd() -> Columns:
    """Return a table with every kind of key, and floats of every size."""
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**64, ROWS, dtype=np.uint64).view(np.float64)
    bits[np.isnan(bits)] = np.nan
    powers = 10.0 ** rng.integers(-30, 30, ROWS)
    bits[:8] = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 2.0**53, 1.7976931348623157e308]
    return {
        "=a,b": repeated(*TEXTS),
        "a|b": repeated("plain", "two words"),
        "a\nb": repeated(None, dt.date(2026, 1, 2), True, 1, 1.0, 0.5, "x,y", 2**70, -0.0),
        "days": repeated(dt.date(2026, 1, 2), dt.date(1, 1, 1)),
        "moments": repeated(dt.datetime(2026, 1, 2, 3), None),
        "whole": repeated(1, -5, 2**80),
        "yes": repeated(True, False),
        "zeros": repeated(0.0, -0.0),
        "nobody": repeated(None),
        "bits": bits,
        "usual": rng.normal(scale=100, size=ROWS),
        "round": np.rint(rng.normal(scale=1e6, size=ROWS)),
        "powers": powers,
        "few": rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 0.1 + 0.2, -1e300, 5e-324], ROWS),
        "few at first": np.where(np.arange(ROWS) < MANY, 0.5, bits),
        "decimals": rng.integers(-(10**6), 10**6, ROWS) / 1000,
    }


@pytest.mark.parametrize("layout", [CSV, MARKDOWN])
def test_long_tables_are_written_like_short_ones(layout: Layout) -> None:
    """Whatever the keys and numbers are, both ways give the same bytes."""
    table = odd()
    halves = [{t: c[half] for t, c in table.items()} for half in (slice(MANY), slice(MANY, None))]
    first, second = (as_lines(half, layout) for half in halves)
    titles = as_lines({title: column[:0] for title, column in table.items()}, layout)
    assert as_lines(table, layout) == first + second.removeprefix(titles)


def test_no_text_is_left_as_it_is_that_a_layout_changes() -> None:
    """A column of one odd text alone is written as that text by itself is."""
    for text in TEXTS:
        column = repeated("plain", text)
        for layout in (CSV, MARKDOWN):
            shown = as_lines({"a": column}, layout).decode()
            assert layout.line(layout.text(text)) in shown
    table = {"a": repeated("a,b")}
    assert as_lines(table, replace(CSV, text=str)) != as_lines(table, CSV)


def test_every_mark_is_written_as_by_itself_wherever_it_stands() -> None:
    """Columns are looked at as a whole first: no mark that is changed may pass unseen."""
    marks = [chr(code) for code in (*range(0x3100), *range(0xFE00, 0x10000))]
    words = ["www", "wWw", "WWW.a", "http://a", "HTTPS://b", "a@b", "a__b", "é_é", "1_1"]
    texts = [text for mark in marks for text in (f"{mark}a", f"a{mark}a", f"a{mark}")] + words
    for layout in (CSV, MARKDOWN):
        changed = [text for text in texts if layout.text(text) != text]
        assert len(changed) > 20
        for text in changed:
            column, _ = layout.to_engine("c", np.array(["plain", text], dtype=object))
            assert column.tolist() == ["plain", layout.text(text)]
