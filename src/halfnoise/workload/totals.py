"""Exact totals, the value in which the private side hands over what it added up."""

from halfnoise.values import dataclass
from halfnoise.workload.grid import Ring
from halfnoise.workload.listing import Key


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Totals:
    """What enters the noise, and must not leave this side without it. It has no repr.

    ``sums`` and ``people`` have a row for each group, ``everyone`` is the number of all people.
    ``heads``: the number of people in each group, where ``people`` is the sum of their weights.
    ``keys``: the groups that were found, in the order of the rows; None where they are listed.
    """

    sums: tuple[Ring, ...]
    people: Ring
    everyone: Ring
    heads: Ring | None = None
    keys: tuple[Key, ...] | None = None
