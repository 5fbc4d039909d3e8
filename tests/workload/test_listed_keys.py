"""Keys of groups are kept by column, and are a sequence of tuples all the same."""

import pickle

import pytest

import halfnoise as hn
from halfnoise.workload.groups import Grouping
from halfnoise.workload.listing import Keys

ROWS = [("north", 1), ("south", None), ("south", 1)]


def test_keys_are_a_sequence_of_tuples() -> None:
    """They are compared, found, cut, hashed, copied and gone through as such, and show no cell."""
    keys = Keys.of(ROWS, 2)
    assert [*keys] == ROWS
    assert keys == ROWS
    assert keys == Keys.of(keys, 2)
    assert keys != ROWS[:2]
    assert keys[:2] == ROWS[:2]
    assert keys[-1] == ROWS[-1]
    assert ("south", 1) in keys
    assert ("north", None) not in keys  # each value is there, but not beside the other
    assert hash(keys) == hash((*ROWS,))
    assert pickle.loads(pickle.dumps(keys)) == ROWS
    assert keys.at([2, 0]) == [ROWS[2], ROWS[0]]
    assert "north" not in repr(keys)
    assert len(Keys.of([], 2)) == 0


def test_what_has_one_hash_is_not_the_same() -> None:
    """Python has one hash for -1 and -2; two keys of one hash are refused only if they are one."""
    found = Grouping.of("x", [-1, -2])
    assert found is not None
    assert found.keys == [(-1,), (-2,)]
    with pytest.raises(hn.InvalidParameterError, match="list each group once"):
        Grouping.of("x", [-1, -2, -1])
