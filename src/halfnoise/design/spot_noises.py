"""The noises of a part of places inside places, as they are kept."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from halfnoise.checks import finite, whole
from halfnoise.design.cell_parts import Own
from halfnoise.design.cross_errors import Matrix
from halfnoise.workload.sets.residuals import Axes
from halfnoise.workload.sets.spots import Spots


class Noises(NamedTuple):
    """Of a part the residuals, the kind of place, its coordinates, by kind of place and layer.

    ``variances``: of all noises; ``held``: how much each coordinate has of each.
    """

    axes: tuple[Axes, ...]
    spot: int
    own: tuple[Own, ...]
    variances: tuple[float, ...]
    held: Matrix

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read them from plain values."""
        return cls(
            axes=tuple(map(axes_of, stored["axes"])),
            spot=whole(least=0, spot=stored["spot"]),
            own=tuple((whole(least=0, spot=q), whole(least=0, layer=k)) for q, k in stored["own"]),
            variances=tuple(finite(variances=each) for each in stored["variances"]),
            held=tuple(tuple(finite(held=each) for each in row) for row in stored["held"]),
        )

    def fits(self, spots: Spots, layers: int, plain: Sequence[int]) -> bool:
        """Whether they may be those of a part of such places, by such attributes."""
        number = len(spots.every)
        known = self.spot < number and all({*axes} <= {*plain} for axes in self.axes)
        inside = known and all(
            q < number and self.spot in spots.every[q].around and layer < layers
            for q, layer in self.own
        )
        square = {len(row) for row in self.held} == {len(self.variances)}
        return inside and square and len(self.own) == len(self.held) and min(self.variances) > 0


def axes_of(stored: Sequence[Any]) -> Axes:
    """Read the axes of a table."""
    return tuple(whole(least=0, axis=axis) for axis in stored)
