import decimal
import itertools
from typing import Any

import numpy as np
import pytest

from halfnoise.data.sources.objects import identity, shown
from halfnoise.data.sources.pandas_frames import _of_one_type, _readable

pd = pytest.importorskip("pandas")

NONE = (None, float("nan"), pd.NA, pd.NaT, decimal.Decimal("nan"))
ODD = (*NONE, np.bool_(True), 1, "True", "", b"x")


def alike(cells: list[Any]) -> list[list[bool]]:
    """Which cells are one person; what is empty or missing names nobody."""
    named = [None if pd.isna(cell) or cell == "" else cell for cell in cells]
    return [[one is not None and one == other for other in named] for one in named]


@pytest.mark.parametrize("known", [[True], [False], [True, False]])
def test_yes_and_no_among_objects(known: list[bool]) -> None:
    """What is read at once says what each cell does by itself, and tells the same people apart."""
    for many in range(3):
        for odd in itertools.combinations(ODD, many):
            column = pd.Series([*known, *odd, *known], dtype=object)
            texts, ids = _readable(column, shown)
            assert [None if pd.isna(x) else x for x in texts] == [*map(shown, column)]
            assert alike([*ids]) == alike([*map(identity, column)])


def test_yes_and_no_are_read_at_once() -> None:
    """A column of them in which some are missing is no slower than text."""
    assert _of_one_type(pd.Series([True, None, False], dtype=object)) is not None
    assert _of_one_type(pd.Series([True, "no"], dtype=object)) is None
