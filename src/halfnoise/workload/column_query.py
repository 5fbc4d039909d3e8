"""What all queries of a table share."""

from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar

from halfnoise.checks import check_column, check_literals, is_name, refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.values import KW_ONLY, dataclass
from halfnoise.workload.conditions import Coded, Literal, Where
from halfnoise.workload.grid import Grain
from halfnoise.workload.sets import AtMost, ContributionSet, OneOf

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True, slots=True)
class ColumnQuery(Coded):
    """What all queries share: ``column`` is its name, or an expression, which needs a ``name``.

    ``name``: what it is called in the result, if not like the column. ``where``: only people who
    meet this condition count, the others contribute nothing. ``missing``: codes for no answer.
    """

    column: "str | nw.Expr"
    _: KW_ONLY
    name: str | None = None
    where: Where | None = None
    missing: Literal | Collection[Literal] = ()
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        if not type(self.column).__module__.startswith("narwhals"):  # no expression
            check_column(self.column)
        elif not self.name:
            raise InvalidParameterError("a query on an expression needs a name=...")
        if self.name is not None and not is_name(self.name):
            raise refuse("name", "text", self.name)
        if self.where is not None and not isinstance(self.where, Where):
            raise refuse("where", "a Where", self.where, 'for example Where("age", at_least=18)')
        object.__setattr__(self, "missing", check_literals("missing", self.missing))

    @property
    def label(self) -> str:
        """What it is called."""
        return self.name or str(self.column)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return (self.label,)

    @property
    def shape(self) -> ContributionSet:
        """What one person may contribute: here, to one category; to none where left out."""
        size = len(self.names)
        return OneOf(size) if self.where is None else AtMost(size, 1, Grain.PEOPLE)

    @property
    def meaning(self) -> str:
        """What it reads from the table, and how.

        >>> from halfnoise import Sum
        >>> Sum("visits", bounds=(0, 20), missing="-99").meaning
        'visits, kept in 0 to 20 for each person, no answer: -99'
        """
        only = "" if self.where is None else f", only people with {self.where}"
        codes = ", ".join(map(str, self.codes))
        return self._reads + only + (f", no answer: {codes}" if codes else "")

    @property
    def _reads(self) -> str:
        return self._shown

    @property
    def _shown(self) -> str:
        shown = ", ".join(name.removeprefix(f"{self.label}=") for name in self.names[:10])
        return f"{self.column}: {shown}" + (", ..." if len(self.names) > 10 else "")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        own = (self.column,) if isinstance(self.column, str) else ()
        return own if self.where is None else (*own, self.where.column)
