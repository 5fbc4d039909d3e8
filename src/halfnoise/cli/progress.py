"""What is shown while the work takes its time: on a terminal, and nowhere else.

The step, the share of it that is done and how long the rest may take. How many rows were read is
a true total, and what stands on a terminal is soon in a log: so it is told only of as many rows as
the request says that there are, for which no row was looked at.
"""

import sys
import time
from contextlib import nullcontext

from halfnoise.data.sources import Source
from halfnoise.data.sources.progress import Progress
from halfnoise.mechanism import Step
from halfnoise.values import dataclass, field

_SOON = 0.02  # of the work, before which nobody knows how long the rest takes


def shown(source: Source, rows: int | None = None) -> Step:
    """Return what shows the step that the work is in, if there is a terminal.

    ``rows``: how many the request says that there are, if it does.
    """
    if sys.stderr is None or not sys.stderr.isatty():  # None where it is closed
        return nullcontext
    from rich.console import Console

    return lambda step: Console(stderr=True).status(_Line(step, source.progress, rows))


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that says another thing each time it is looked at."""

    step: str
    progress: Progress
    rows: int | None
    began: float = field(default_factory=time.monotonic)

    def __rich__(self) -> str:
        took = time.monotonic() - self.began
        return f"halfnoise: {self.step}{told(self.progress.share, took)}{self._read()}"

    def _read(self) -> str:
        """Say about how many rows were read, and in which of several looks at them."""
        if self.rows is None or (share := self.progress.now()) is None:
            return ""
        looks, done = self.progress.looks, self.progress.done
        read = f", about {float(f'{share * self.rows:.2g}'):,.0f} of {self.rows:,} rows"
        return read if looks == 1 else f"{read}, look {min(done + 1, looks)} of {looks}"


def told(share: float | None, seconds: float) -> str:
    """Say which share is done after some seconds, and how long the rest takes at that pace.

    >>> told(0.25, 100), told(0.001, 5), told(None, 5)
    (', 25% done, 5 min left', ', 0% done', '')
    """
    if share is None:
        return ""
    done = f", {int(100 * share)}% done"
    return done if share < _SOON else f"{done}, {_span(seconds * (1 - share) / share)} left"


def _span(seconds: float) -> str:
    """Return how long something takes, in the unit that fits.

    >>> _span(12.4), _span(300), _span(7200)
    ('13 s', '5 min', '2.0 h')
    """
    if seconds < 90:
        return f"{int(seconds) + 1} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
