"""What every result shows of itself: as words, as a frame, as JSON."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import installed
from halfnoise.privacy.definitions import Guarantee, Privacy
from halfnoise.privacy.words import dp_event, promise
from halfnoise.results.comparison import Comparison
from halfnoise.text import on_screen
from halfnoise.views import Viewed, drawing

MANY = 10_000  # so many values are written for programs alone, on one line


class Published(Viewed):
    """A result: noisy values and all that is public beside them. No true total."""

    __slots__ = ()
    values: NDArray[np.float64]
    guarantee: Guarantee
    privacy: Privacy
    facts: Mapping[str, Any]

    @staticmethod
    def _views() -> ModuleType:
        # What shows releases knows what one is, and it nothing of them until it is shown; nor does
        # it load, here and below, what few ask for.
        from halfnoise.results import formats

        return formats

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain values, ready for JSON."""
        return dict(self._views().document.to_dict(self))

    def to_json(self) -> str:
        """Return the release as JSON; ``from_json`` reads it back."""
        indent = 2 if self.values.size <= MANY else None
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_html(self, *, title: str | None = None, charts: bool | None = None) -> str:
        """Return the release as a page: one file that needs no other, and ``hn.read`` reads back.

        ``title``: what stands above it, else what was asked. ``charts``: with charts, which need
        the extra ``[report]``, or without; unless given, with them where they can be drawn.
        """
        return str(drawing().page(self, title=title, charts=charts))

    def plot(self, *names: str) -> Any:
        """Return what was asked, or some of it by name, as an Altair chart that can be changed."""
        return drawing().plotted(self, *names)

    def to_polars(self) -> Any:
        """Return the table as a Polars frame."""
        return self._views().frame(self, "polars")

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame."""
        return self._views().frame(self, "pandas")

    def to_arrow(self) -> Any:
        """Return the table as a PyArrow table."""
        return installed("pyarrow").table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as a stream of Arrow, which every library of frames reads."""
        return self._views().relation(self).__arrow_c_stream__(requested_schema)

    def dp_event(self) -> Any:
        """Return the release as an event of Google's dp_accounting, for other accountants.

        It is what the release promises as one draw of noise: every Gaussian release is a Gaussian
        mechanism of its mu, and Laplace noise on several sums reveals no more than on one. Where
        groups were discovered, a person is shown beside it with the probability of that, through
        so little noise (epsilon 100) that it hides nothing; accountants of Renyi differential
        privacy, which does not hold for it, refuse it.
        """
        return dp_event(self.guarantee)

    def notes(self) -> list[str]:
        """Say what goes with the values, and what they themselves suggest to check."""
        return list(self._views().render.notes(self))

    def promises(self) -> list[str]:
        """Say what is promised to each person, by which design, and how near to the best."""
        designs = [self.facts["design"]] if "design" in self.facts else []
        why = [f"Design: {design['name']}. {design['why']}" for design in designs]
        best = self._views().render.certified(self.facts)
        return [promise(self.guarantee, self.privacy), *why, *best]

    def compare(
        self, earlier: Any, *, level: float | None = None, shares: bool = False
    ) -> Comparison:
        """Return differences from an earlier release, and ratios to it, by name and group.

        ``level``: how often intervals hold; that of this release unless given. ``shares``: counts
        as shares of all people. The noises of the two are independent, so neither may be made of
        the other. The values as they came out are compared, also where whole numbers are shown.
        """
        from halfnoise.results.comparing import compare

        found: Comparison = compare(self, earlier, level, shares=shares)  # type: ignore[arg-type]
        return found

    def note(self, language: str = "en", *, ledger: Any = None) -> Any:
        """Return the method note: what readers and experts need to know, true for this release.

        ``ledger``: where it was charged, which tells what all releases come to. ``markdown()`` and
        ``html()`` write it.
        """
        from halfnoise.results.note import note

        return note(self, language, ledger)  # type: ignore[arg-type]

    def table(self) -> str:
        """Return the values as text, rounded to what the noise makes meaningful."""
        return str(self._views().render.table(self))

    def __repr__(self) -> str:
        return "\n".join([self.table(), "", *map(on_screen, self._views().render.beside(self))])

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Copy and pickle by what it was made of, so that its values stay read-only."""
        names = [each.name for each in fields(self) if each.init]  # type: ignore[arg-type]  # its heirs are dataclasses
        return partial(type(self), **{name: getattr(self, name) for name in names}), ()
