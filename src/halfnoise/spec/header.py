"""The columns of a table as its header tells them: what words mean, and what patterns may show."""

import re
from collections.abc import Collection, Iterable, Sequence

from halfnoise.data.sources import Source
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, field

_MARKS = re.compile(r"\[!?\]?[^\]]*\]|[*?]")  # what stands for any character, or for some


@dataclass(frozen=True, slots=True)
class Header:
    """The names of all columns, by which words are read.

    ``is_line``: they come from a line of a file, which could be a row. ``hidden``: it looks like
    one, so nothing of it is shown.
    """

    names: Sequence[str] = field(default=(), repr=False)
    is_line: bool = False
    hidden: bool = False

    @classmethod
    def of(cls, source: Source) -> "Header":
        """Return the header of a table."""
        return cls(source.columns, source.from_header, source.could_be_a_row)

    def shown(self, patterns: Iterable[str], named: Collection[object]) -> Sequence[str]:
        """Return what patterns may match, and so show.

        In a file without a header the first line is a person's cells. Who names one of them, or
        knows how it begins, may see it; a pattern that fits anything shows whatever is there.

        >>> Header(["q_a"], is_line=True).shown(["q_*"], [])
        ['q_a']
        """
        loose = [text for text in patterns if len(_MARKS.sub("", text)) < 2]
        if loose and self.is_line and not any(name in self.names for name in named):
            raise InvalidParameterError(
                f"--count {loose[0]!r} fits nearly any column, and the first line of a file could"
                " be a row: name a column of the header too (--unit person_id), begin the pattern"
                " with two characters or more ('q_*'), or name the columns: --names a,b,c"
            )
        return () if self.hidden else self.names
