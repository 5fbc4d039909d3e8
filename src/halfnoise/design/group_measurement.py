"""The measurement of groups that are alike: their totals, and what each is away from the mean."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from halfnoise.design.design import Design, Measurement, Recovered
from halfnoise.design.grid_rows import GridRows
from halfnoise.design.people import Size
from halfnoise.design.row_measurement import Across, rows_facts
from halfnoise.design.threshold import Threshold
from halfnoise.values import dataclass
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.totals import Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMeasurement(Measurement):
    """What lies across and away from the mean, for each group, and then all totals."""

    design: Design
    blocks: tuple[Block, ...]
    across: Across
    total: GridRows
    apart: GridRows
    threshold: Threshold | None = None

    @property
    def scales(self) -> list[Floats]:
        """The scales of the noise on each group, and on the totals, in steps."""
        return [np.concatenate([*self.across.scales, self.apart.scales]), self.total.scales]

    @property
    def facts(self) -> Mapping[str, Any]:
        """The quanta and steps of all blocks and rows, and what rows are made of."""
        return self.across.facts | rows_facts(self.apart) | {"totals": rows_facts(self.total)}

    def measure(self, totals: Totals) -> list[Ring]:
        """Return a row for each group, and one for all of them together."""
        apart = self.apart.measure(totals.sums, totals.people)
        sums = [each.sum(axis=0, dtype=np.uint64, keepdims=True) for each in totals.sums]
        people = totals.people.sum(dtype=np.uint64, keepdims=True)
        groups = np.concatenate([*self.across.measure(totals), apart], axis=1)
        return [groups, self.total.measure(sums, people)]

    def recover(self, noisy: list[Ring], known_size: float | None = None) -> Recovered:
        """Return the estimates from what was measured, with its noise."""
        del known_size
        groups, totals = (ring.view(np.int64).astype(np.float64) for ring in noisy)
        start = groups.shape[1] - len(self.apart.steps)
        apart, sizes = self.apart.recover(groups[:, start:])
        total, size = self.total.recover(totals)
        along = [own + all_of / len(groups) for own, all_of in zip(apart, total, strict=True)]
        root = sizes + size / len(groups)
        measured = self.across.people.size is Size.MEASURED
        estimates = self.across.recover(groups, along, root)
        return Recovered(estimates=estimates, sizes=root if measured else None)

    def discovering(self, most: int, delta: float) -> Self:
        """Refuse: the groups are listed."""
        raise NotImplementedError(most, delta)
