"""How much a squared error counts, relative to others: of a query, and of the number of people."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from halfnoise.checks import finite, meant, not_negative, refuse, weighs
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.workload.block import Block
from halfnoise.workload.sets import Box

OBJECTIVES = ("total", "largest")

COMES_ALONG = 0.01  # what weighs so much costs little: margins of tables, and sizes of groups


def check_importance(
    importance: object, size_importance: float, objective: str, known: Collection[str]
) -> tuple[Mapping[str, float], float]:
    """Return importances by the names of queries, read-only, and that of the number of people."""
    if objective not in OBJECTIVES:
        raise refuse("objective", " or ".join(map(repr, OBJECTIVES)), objective)
    if not isinstance(importance, Mapping):
        raise refuse("importance", "by name", importance, 'for example {"smoker": 4}')
    for name, weight in importance.items():
        if name not in known:
            rule = "given for the name of a query"
            raise refuse("importance", rule, name, meant(name, known))
        weighs(**{f"importance of {name}": weight})
    if size := not_negative(size_importance=size_importance):
        weighs(size_importance=size)
    found = {name: float(weight) for name, weight in importance.items()}
    return MappingProxyType(found), size


def importance_of_dial(size_dial: float, d: int) -> float:
    """Return what the C of the paper means for d counts, relative to that of one of them."""
    dial = finite(size_dial=size_dial)
    if dial < d**0.25 * (1 - 1e-12):
        rule = f"at least d^(1/4) = {d**0.25:.6g} for {d} counts"
        remedy = "a smaller one makes both the counts and the number of people worse"
        raise refuse("size_dial", rule, dial, remedy)
    if dial > 1e50:
        raise refuse("size_dial", "at most 1e50", dial, "from there on it makes no difference")
    # sec:reduced-correlated-noise: C is the ratio of the two noises, C^4 = d + 4 w_0.
    return max(0.0, (dial**4 - d) / 4)


def dialled(size_importance: float, blocks: Sequence[Block], dial: float) -> float:
    """Return the importance of the number of people where it is said the paper's way."""
    if size_importance:
        rule = "give size_importance or size_dial, not both"
        raise InvalidParameterError(f"{rule}: they say the same")
    d = sum(block.shape.size for block in blocks)
    if len(blocks) != 1 or blocks[0].shape != Box(d):
        finite(size_dial=dial)
        rule = "size_dial is defined for counts without at_most alone"
        raise NotSupportedError(f"{rule}; use size_importance instead")
    return importance_of_dial(dial, d) * blocks[0].importance
