"""The errors of all estimates, put together from noises on coordinates and across them."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from halfnoise.design.cell_lines import errors, line_parts
from halfnoise.design.cells import Cells
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.cross_errors import CrossErrors
from halfnoise.design.people import People, Size
from halfnoise.design.placed_errors import errors_of
from halfnoise.values import dataclass
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Parts, Scales, Span
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.sets.placed import Placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """Independent noises: ``scales`` across, by block, and ``stds`` on the coordinates.

    ``held``: for each coordinate, the number of people last, how much of each noise it holds. That
    of the number of people is the last noise, and the only one that it holds.
    """

    people: People
    scales: Sequence[Scales]
    stds: Floats
    held: Floats

    @property
    def size_scale(self) -> float | None:
        """The scale of the noise on the number of people; None where it is not measured."""
        return float(self.stds[-1]) if self.measured else None

    @property
    def measured(self) -> bool:
        """Whether the number of people is; otherwise it is known, or nothing leans on it."""
        return self.people.size is Size.MEASURED

    def _each(self) -> Iterator[tuple[int, Block, Folded, Scales]]:
        places = range(len(self.people.blocks))
        return zip(places, self.people.blocks, self.people.folds, self.scales, strict=True)

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each line, the scales of the independent noises in its estimates."""
        found = list[Parts]()
        for place, block, fold, scales in self._each():
            held = self.held[self.people.own(place)] * self.stds
            if isinstance(fold, Cells) and isinstance(block, TableBlock):
                people = self.stds * (self.held[-1] if self.measured else 0.0)
                found += line_parts(fold, block, scales, np.vstack([held, people]))
            elif fold.coordinates:
                found += fold.parts(scales, held.tolist())
            else:
                found += block.parts(fold.shape.midpoint, scales, self.size_scale or 0.0)
        return tuple(found)

    def covariance(self) -> Covariance:
        """Return the joint error of all estimates, the number of people last if it is measured."""
        start, variances, shared = 0, list[Run](), list[Shared]()
        tables: CrossErrors | None = None
        for _, block, fold, scales in self._each():
            if isinstance(fold, Cells):
                tables = errors(fold, start, scales)
                start += block.shape.size
                continue
            mixture = fold.mixture()
            own = [(*mixture.own, scales[0] ** 2)] if any(mixture.own) else []
            variances += _runs(own, start)
            for scale, by, loadings in mixture.shared:
                shared.append(Shared(scales[scale] ** 2 / by, _runs(loadings, start)))
            if mixture.tables is not None:
                tables = errors_of(start, mixture.tables, [scale**2 for scale in scales])
            start += block.shape.size
        noises = zip(self.stds.tolist(), self.held.T, strict=True)
        shared += [Shared(std**2, self.loadings(held)) for std, held in noises]
        sized = self.size_scale is not None
        return Covariance(start + sized, tuple(variances), tuple(shared), tables)

    def loadings(self, held: Floats) -> tuple[Run, ...]:
        """Return what all estimates hold of a noise of which coordinates hold so much."""
        start, found, size = 0, list[Run](), float(held[-1]) if self.measured else 0.0
        for place, block, fold, scales in self._each():
            spans = fold.loads(held[self.people.own(place)].tolist(), size)
            placed = isinstance(fold.shape, Placed) and not isinstance(fold, Cells)
            if size and placed and (made := fold.mixture().tables):
                places = errors_of(0, made, [scale**2 for scale in scales])
                spans = ((low, high, size * own) for low, high, own in places.leans())
            found += _runs((span for span in spans if span[2]), start)
            start += block.shape.size
        if size:
            found.append(Run(start, start + 1, size))
        return tuple(found)


def _runs(spans: Iterable[Span], start: int) -> tuple[Run, ...]:
    return tuple(Run(start + low, start + high, x) for low, high, x in spans)
