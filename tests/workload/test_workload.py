import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.workload.gathering import KINDS
from halfnoise.workload.queries import Query
from support.corners import corners

COUNT, SUM = hn.Count("a"), hn.Sum("x", bounds=(0, 20))


def test_blocks_come_in_one_order() -> None:
    """Blocks stand in the order of kinds, and within a kind as asked."""
    asked: list[Query] = [
        hn.Items("i", ["u"]),
        hn.Bins("b", [0]),
        hn.Choice("c", ["u"]),
        hn.Mean("m", bounds=(0, 1)),
        hn.Sum("y", bounds=(0, 1)),
        SUM,
        COUNT,
    ]
    blocks = hn.Workload(asked).blocks
    assert [block.kind for block in blocks] == sorted(
        (query.kind for query in asked), key=KINDS.index
    )
    assert [block.label for block in blocks if block.kind == "sum"] == ["y", "x"]


def test_counts_of_equal_importance_share_a_block() -> None:
    """Counts are gathered by importance, so that a million of them are one block."""
    queries = [hn.Count(name) for name in "abcd"]
    assert [b.queries for b in hn.Workload(queries).blocks] == [4]
    weighed = hn.Workload(queries, importance={"b": 4, "c": 4})
    assert [(b.queries, b.importance) for b in weighed.blocks] == [(2, 1.0), (2, 4.0)]


def test_importance_is_relative_to_width() -> None:
    """By default an error counts relative to the query's own range."""
    (block,) = hn.Workload([SUM]).blocks
    assert block.importance == 1 / 400


def test_corners_are_the_product_of_the_blocks() -> None:
    """K is the product of what each block allows."""
    workload = hn.Workload([COUNT, SUM, hn.Choice("c", ["u"])])
    assert workload.size == 4
    assert len(set(corners(workload))) == 2 * 2 * 2


def test_groups_by_name_or_number() -> None:
    """Groups are listed or counted."""
    for groups, other, number in ((("n", "s"), None, 2), (16, "other", 16)):
        grouping = hn.Workload([COUNT], groups=groups, other=other).grouping
        assert grouping is not None
        assert grouping.number == number
    assert not hn.Workload([COUNT]).grouped


def test_the_dial_of_the_paper() -> None:
    """C^4 = d + 4 w_0, and the smallest dial means no interest in the size."""
    assert hn.Workload([hn.Counts(16)], size_dial=2).size_importance == 0
    assert hn.Workload([hn.Counts(16)], size_dial=4).size_importance == 60


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"queries": []}, "queries must hold at least one query"),
        ({"queries": "ab"}, "queries must be a list of queries"),
        (
            {"queries": ["a"]},
            "Sum, Mean, Choice, Bins, Items, Nested or Table, got",
        ),
        ({"queries": [COUNT, COUNT]}, "the query 'a' is asked twice"),
        ({"queries": [COUNT, hn.Sum("a", bounds=(0, 1))]}, "the query 'a' is asked twice"),
        ({"neighbors": "replace"}, "neighbors must be Neighbors.ADD_REMOVE or"),
        ({"groups": ()}, "groups must be a list of at least one group"),
        ({"groups": 1.5}, "groups must be a whole number"),
        ({"at_most": 2}, "at_most must be at most 1, got 2"),
        ({"queries": [SUM], "at_most": 1}, "at_most must be given together with counts"),
        ({"importance": {"zzz": 1}}, "importance must be given for the name of a query"),
        ({"importance": {"a": 0}}, "importance of a must be a positive number"),
        ({"size_importance": -1}, "size_importance must be zero or more"),
        ({"size_dial": 0.5}, "size_dial must be at least d^(1/4) = 1 for 1 counts"),
        ({"size_dial": 2, "size_importance": 1}, "give size_importance or size_dial, not both"),
    ],
)
def test_bad_workloads_are_refused(given: dict[str, object], said: str) -> None:
    """What breaks a rule is refused with the rule."""
    with pytest.raises(hn.InvalidParameterError) as refused:
        hn.Workload(**{"queries": [COUNT], **given})  # type: ignore[arg-type]
    assert said in str(refused.value)


@pytest.mark.parametrize("weight", [5e-324, 1e-51, 1e51, 1.7e308])
@pytest.mark.parametrize("name", ["importance", "margins"])
def test_what_tables_weigh_is_within_reason(name: str, weight: float) -> None:
    """As what queries weigh: floats could not hold squares and products of such numbers."""
    with pytest.raises(hn.InvalidParameterError, match=f"{name} must be between 1e-50 and 1e50"):
        hn.Table(["a", "b"], **{name: weight})
    assert hn.Table(["a", "b"], margins=0).margins == 0


def test_what_is_not_offered_is_said() -> None:
    """Sound wishes that are not granted are told apart from mistakes."""
    with pytest.raises(hn.NotSupportedError, match="must have equal importance"):
        hn.Workload([COUNT, hn.Count("b")], at_most=1, importance={"a": 2})
    with pytest.raises(hn.NotSupportedError, match="use size_importance instead"):
        hn.Workload([SUM], size_dial=5)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]
)
@pytest.mark.parametrize("more", [{"importance": {"a": 2.0}}, {"size_dial": 2.0}])
def test_it_is_a_value(again: Callable[[hn.Workload], hn.Workload], more: dict[str, Any]) -> None:
    """Copied and pickled it is the same, and its importances cannot be changed in place."""
    workload = hn.Workload([COUNT], **more)
    found = again(workload)
    assert found == workload
    assert found.blocks == workload.blocks
    assert found.size_importance == workload.size_importance
    for each in (workload, found):
        with pytest.raises(TypeError):
            each.importance["a"] = 3.0  # type: ignore[index]  # which is what is tried
