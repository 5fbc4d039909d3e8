"""Many releases of the same totals, at the price of one."""

from dataclasses import dataclass, replace

import numpy as np

from halfnoise import Release, Workload, plan
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.mechanism import noisy
from halfnoise.privacy.definitions import Privacy
from halfnoise.request import Request
from halfnoise.results.inference import Errors
from support.fixed_workloads import Floats, fixed
from support.measured import grid_for

RELEASES = 20_000


def errors(
    grid: CenteredMeasurement,
    people: int,
    rows: int,
    *,
    back: CenteredMeasurement | None = None,
    root: int = 1,
) -> Floats:
    """Return the errors of releases, carried out as the library does or with a fault on the way.

    ``back``: the grid by which estimates come back; ``root``: a factor on the noise of the number
    of people.
    """
    totals, truth = fixed(grid, people, rows)
    (measured,) = grid.measure(totals)
    (scales,) = grid.scales
    noise = grid.design.noise.draw(np.broadcast_to(scales, measured.shape))
    if root != 1:
        noise[:, -1] *= root
    noised = measured + noise.view(np.uint64)
    found = (back or grid).recover([noised], known_size=float(people))
    sizes = [] if found.sizes is None else [found.sizes]
    return np.asarray(np.column_stack([found.estimates, *sizes]) - truth)


@dataclass(frozen=True, kw_only=True)
class Many:
    """Many releases of one table: one of them, the true values, and all of their errors."""

    one: Release
    truth: Floats
    errors: Floats

    def true(self, name: str) -> float:
        """Return the true value of an estimated sum."""
        return float(self.truth[self.one.names.index(name)])

    def each(self, count: int | None = None, *, short: float = 1.0) -> list[Release]:
        """Return the releases one by one, with errors said to be smaller by a factor."""
        said = shortened(self.one.errors, short)
        values = self.truth + self.errors[:count]
        return [replace(self.one, values=row, errors=said) for row in values]


def many(
    workload: Workload,
    privacy: Privacy,
    *,
    people: int = 1000,
    known: bool = False,
    rows: int = RELEASES,
) -> Many:
    """Release a table of fixed totals many times by the design that is chosen for it."""
    found = plan(workload, privacy=privacy, known_size=known)
    grid = grid_for(found)
    totals, truth = fixed(grid, people)
    asked = Request(workload=workload, known_size=people if known else None)
    one = noisy(found, grid, totals, asked)
    assert isinstance(one, Release)
    return Many(one=one, truth=truth, errors=errors(grid, people, rows))


def shortened(said: Errors, factor: float) -> Errors:
    """Return errors whose every standard deviation is multiplied by a factor."""
    square, given = factor**2, said.covariance
    own = tuple(Run(run.start, run.stop, run.value * square) for run in given.variances)
    shared = tuple(Shared(term.weight * square, term.loadings) for term in given.shared)
    return Errors(said.noise, Covariance(given.size, own, shared))
