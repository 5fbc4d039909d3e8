"""The rules of a workload as keywords, and how often people count under them."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.privacy.definitions import Neighbors
from halfnoise.workload.conditions import Where
from halfnoise.workload.listing import Groups
from halfnoise.workload.weights import Weight


class Rules(TypedDict, total=False):
    """The rules of a workload as keywords; ``Workload`` says what each of them means."""

    where: Where | Sequence[Where]
    neighbors: Neighbors
    weight: Weight | None
    unweighted_size: bool
    effective_size: bool
    groups: Groups
    other: str | None
    max_groups: int
    discover_delta: float | None
    missing_group: str | None
    group_sizes: bool
    at_most: int | None
    importance: Mapping[str, float]
    size_importance: float
    size_dial: float | None
    objective: str


def check_weight(weight: object, neighbors: Neighbors, *, sizes: bool, varies: bool) -> None:
    """Refuse what is no weight, what is asked of one that is not there, and people who change.

    ``sizes``: whether other sizes than the sum of weights are asked for; ``varies``: whether a
    variance is.
    """
    if not isinstance(weight, Weight | None):
        raise refuse("weight", "a Weight", weight, 'for example Weight("w", bounds=(0, 5))')
    if weight is None and sizes:
        rule = "unweighted_size and effective_size go with a weight, got none"
        raise InvalidParameterError(f'{rule}; say weight=Weight("w", bounds=(0, 5))')
    if weight is not None and varies:
        raise NotSupportedError(
            "variance goes with people who count alike, got a weight; leave one of them out"
        )
    if weight is not None and neighbors is Neighbors.REPLACE:
        # Who has another weight would change the size, which could not be public.
        raise NotSupportedError(
            "weight goes with add-remove alone, got replace: another weight changes the size, which"
            " could then not be public; use add-remove, or leave the weight out"
        )


def check_where(where: object, neighbors: Neighbors) -> tuple[Where, ...]:
    """Return the conditions on who is in the table, which go with add-remove alone."""
    who = Where.several(where)
    if who and neighbors is Neighbors.REPLACE:
        # Another answer could move somebody in or out, and the number of people would tell it.
        raise NotSupportedError(
            "where for the whole table goes with add-remove alone, got replace: who is in the table"
            " would depend on answers, and its size could not be public; use add-remove, or give"
            " the condition to each query: Count('smoker', where=Where('age', at_least=18))"
        )
    return who
