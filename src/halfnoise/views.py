"""What shows itself as more than text: in a notebook, as a chart, as a page.

Whoever draws knows what is drawn, and what is drawn knows nothing of it until it is looked at: the
one place where a room below imports one above.
"""

import importlib.util
from collections.abc import Sequence
from types import ModuleType
from typing import Any, TypeAlias

from halfnoise.text import text_table

Grid: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]  # titles, and rows of cells
# What the extra ``[report]`` brings, by the name under which it is imported.
PACKAGES = {"altair": "altair", "vl_convert": "vl-convert-python"}


def can_draw() -> bool:
    """Whether what draws is installed."""
    return all(importlib.util.find_spec(module) is not None for module in PACKAGES)


def drawing() -> ModuleType:
    """Return the module that draws, imported when something is looked at."""
    from halfnoise.report import views

    return views


class Viewed:
    """What a notebook shows as tables and words."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(drawing().notebook(self))


class Planned(Viewed):
    """A plan, which is a table, and a picture of the margins of error in it."""

    __slots__ = ()

    def grid(self) -> Grid:
        """Return its table as titles and rows of cells."""
        raise NotImplementedError

    def table(self) -> str:
        """Return its table as text."""
        return text_table(*self.grid())

    def plot(self) -> Any:
        """Return its margins of error as an Altair chart, which can be changed."""
        return drawing().plotted(self)
