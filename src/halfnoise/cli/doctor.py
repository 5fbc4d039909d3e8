"""The doctor: which versions are at work, and whether each part does what it must.

No data is touched: the people are made up, and the noise is drawn from bits written down here.
"""

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.data.made_up import KINDS
from halfnoise.data.quiet import quietly
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.errors import HalfnoiseError
from halfnoise.noise.rounded import draw
from halfnoise.noise.staircase import gaussian_table, laplace_table
from halfnoise.planning.outlook import plan
from halfnoise.privacy.definitions import GaussianDP
from halfnoise.request import Request
from halfnoise.scratch import own_folder
from halfnoise.versions import PACKAGES, installed_version
from halfnoise.workload.categories import Choice
from halfnoise.workload.conditions import Where
from halfnoise.workload.numbers import Count, Sum
from halfnoise.workload.workload import Workload

Line = tuple[str, bool]  # what is found, and whether it is as it must be
# Of the made-up people in two regions: who smokes, visits kept in 0 to 20, and where they live.
WORKLOAD = Workload(
    [Count("smoker"), Sum("visits", bounds=(0, 20)), Choice("region", ["north", "süd"])],
    where=Where("region", is_in=["north", "süd"]),
)
TRUTH = {"people": [2], "sums": [[1], [27], [1, 1, 0]]}
# Noise of scale 1000 from the bits below, by the exact arithmetic of the sampler.
NOISE = {
    "Gaussian": [1542, 541, 1399, -2145, -101, -397, 181, 1173, -290, 1942, 499, -1154],
    "Laplace": [2057, 510, 1790, -3348, -70, -350, 150, 1407, -227, 2895, 468, -1373],
}


class WrittenDown:
    """Bits that are the same everywhere: a Weyl sequence with its bits mixed (SplitMix64)."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.state = 0

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Hand out the next words."""
        for i in range(len(words)):
            self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
            mixed = (self.state ^ (self.state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
            words[i] = mixed ^ (mixed >> 31)


def examine() -> Iterator[Line]:
    """Go through versions, noise and engines, one line for each."""
    yield f"Python {platform.python_version()}, {platform.system()} {platform.machine()}", True
    for package in PACKAGES:
        yield f"{package} {installed_version(package) or 'not installed'}", True
    yield "", True
    for law, table in (("Gaussian", gaussian_table), ("Laplace", laplace_table)):
        # Making a table proves it in ball arithmetic, or fails.
        yield _line(f"{law} noise", lambda law=law, table=table: _noise(law, table()))
    for kind, (package, make) in KINDS.items():
        if installed_version(package) is None:
            yield f"{kind}: {package} is not installed", True
        elif package == "pyspark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            yield f"{kind}: there is no Java, so it was not tried", True
        else:
            yield _line(kind, lambda make=make: _engine(make))


def _line(name: str, holds: Any) -> Line:
    try:
        fine = quietly(holds, f"{name} does not work here")
    except HalfnoiseError as error:
        return f"{name}: {error}", False
    return (f"{name}: works", True) if fine else (f"{name}: WRONG RESULTS; do not use it", False)


def _noise(law: str, table: Any) -> bool:
    drawn: Any = draw(table, 1000.0, len(NOISE[law]), WrittenDown())
    return bool(drawn.tolist() == NOISE[law])


def _engine(make: Any) -> bool:
    request = Request(workload=WORKLOAD, unit=("person",))
    blocks = plan(WORKLOAD, privacy=GaussianDP(mu=1)).measurement.blocks
    with own_folder() as folder, open_source(make(Path(folder)), text=TextFormat()) as source:
        totals = prepared(source.of(request.columns), WORKLOAD, blocks, request.unit)()
    number = int(totals.people[0])
    sums = [
        [float(int(x) * block.quantum + number * block.offset) for x in each.view(np.int64)[0]]
        for each, block in zip(totals.sums, blocks, strict=True)
    ]
    return {"people": totals.people.tolist(), "sums": sums} == TRUTH
