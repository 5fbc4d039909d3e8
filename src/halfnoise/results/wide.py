"""A table as one reads it: rows by the first axes, columns by the last, totals at the ends."""

from collections.abc import Callable, Iterable, Sequence

from halfnoise.results.shown import error
from halfnoise.text import on_screen, text_table, width
from halfnoise.values import dataclass

MOST_WIDE = 120  # columns of a terminal; what is wider is shown line by line
DASH = "\N{EN DASH}"  # what the noise leaves open
OPEN = f"{DASH} too few people to tell."
TOTAL = "total"
GAP = 2  # between columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Wide:
    """A table in texts: ``heads`` are the labels of its rows, ``titles`` stand above columns.

    ``lines``: the categories of a row and its cells. ``below``: what is said of its errors.
    """

    title: str
    heads: tuple[str, ...]
    titles: tuple[str, ...]
    lines: Sequence[tuple[Sequence[str], Sequence[str]]]
    below: tuple[str, ...]

    def text(self, most: int) -> str:
        """Return it for a terminal, ``most`` lines of it."""
        lines = [[*head, *cells] for head, cells in self.lines[:most]]
        cut = ["..."] if len(self.lines) > most else []
        body = text_table([*self.heads, *self.titles], lines, left=len(self.heads))
        return "\n".join([on_screen(self.title), body, *cut, *map(on_screen, self.below)])

    def is_too_wide(self) -> bool:
        """Whether its columns do not fit on a terminal."""
        lines = [[*head, *cells] for head, cells in ((self.heads, self.titles), *self.lines[:1])]
        widths = [max(map(width, column)) + GAP for column in zip(*lines, strict=True)]
        return sum(widths) - GAP > MOST_WIDE

    def markdown(self, text: Callable[[str], str]) -> str:
        """Return it as Markdown; ``text`` escapes a cell."""

        def line(cells: Iterable[str]) -> str:
            return f"| {' | '.join(map(text, cells))} |\n"

        head = line([*self.heads, *self.titles])
        under = line(["---"] * len(self.heads) + ["---:"] * len(self.titles))
        body = "".join(line([*head, *cells]) for head, cells in self.lines)
        below = "\n".join(map(text, self.below))
        return f"**{text(self.title)}**\n\n{head}{under}{body}\n{below}\n"


def between(least: float, most: float) -> str:
    """Write standard errors that go from one to another.

    >>> between(1.25, 1.25), between(0.5, 2)
    ('1.25', '0.5 to 2')
    """
    one, other = map(error, (least, most))
    return one if one == other else f"{one} to {other}"
