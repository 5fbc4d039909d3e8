r"""What a listed item stands for: one code, or all codes that begin alike.

``E11.9`` is one code, ``E11.*`` is every code that begins with ``E11.``. A star elsewhere stands
for itself, as in ``CYP2D6*4``; a code that ends in one is listed as ``G63.2\*``.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

from halfnoise.checks import SPACES
from halfnoise.workload.conditions import Literal


class Code(NamedTuple):
    """A text that a code in a cell must be, or begin with, to be an item."""

    text: str
    begins: bool = False

    @property
    def length(self) -> int:
        """How many characters a code must begin with; 0 where all of it must be the same."""
        return len(self.text) if self.begins else 0

    @classmethod
    def of(cls, item: Literal) -> Self:
        r"""Read an item as it is listed.

        >>> Code.of("E11.*"), Code.of("A*02:01"), Code.of(r"G63.2\*").text
        (Code(text='E11.', begins=True), Code(text='A*02:01', begins=False), 'G63.2*')
        """
        text = str(item).strip(SPACES)
        if text.endswith(r"\*"):
            return cls(f"{text[:-2]}*")
        return cls(text[:-1], begins=True) if text.endswith("*") else cls(text)


def deepest(codes: Sequence[Code]) -> int:
    """Return how many items one code can be, in any case and spacing: more where some begin alike.

    >>> deepest([Code.of(item) for item in ("E11.9", "E11.*", "e 1*", "J45")])
    3
    """
    plain = [(c.begins, "".join(x.lower() for x in c.text if x not in SPACES)) for c in codes]
    begun = {text for begins, text in plain if begins}
    lengths = sorted({*map(len, begun)})
    return max(
        (not begins) + sum(text[:n] in begun for n in lengths if n <= len(text))
        for begins, text in plain
    )
