"""What is asked of a table, and what is refused before any row of it is read."""

import secrets
from collections.abc import Iterator

from halfnoise.checks import is_name, positive, refuse, whole, yes_or_no
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.identity import digest
from halfnoise.privacy.definitions import Privacy
from halfnoise.results.sampling import Sampling
from halfnoise.values import dataclass, fields
from halfnoise.workload.groups import Grouping
from halfnoise.workload.numbers import Counts
from halfnoise.workload.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked: to be planned as it is, or to be released once it is checked.

    ``unit``: the columns that say whom a row is about; none where ``row_is_person``. ``delta``:
    that of a plan without a budget. ``one_of``: the budget is that part of a ledger's limit.
    ``sampling``: how people came into the table, where intervals are to cover that.
    ``spec``: how it was said, for whoever reads what comes out.
    """

    workload: Workload
    privacy: Privacy | None = None
    delta: float | None = None
    unit: tuple[str, ...] = ()
    row_is_person: bool = False
    known_size: float | None = None
    level: float = 0.95
    noise: str | None = None
    i_know: bool = False
    one_of: int | None = None
    sampling: Sampling | None = None
    spec: str = ""

    def __post_init__(self) -> None:
        """Refuse a number of people that is none; nobody who is one row has several items."""
        if len(set(self.unit)) < len(self.unit):
            raise refuse("unit", "columns that are each named once", self.unit)
        if self.one_of is not None:
            whole(one_of=self.one_of)
            if self.privacy is not None:
                both = "give a budget or one_of (--one-of), which is a part of the ledger's limit"
                raise InvalidParameterError(f"{both}; not both")
        if self.known_size is not None:
            object.__setattr__(self, "known_size", positive(known_size=self.known_size))
        if yes_or_no(row_is_person=self.row_is_person):
            object.__setattr__(self, "workload", self.workload.of_rows())

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the request says so: nothing is counted for it."""
        plain = self.row_is_person and self.workload.weight is None and not self.workload.who
        return round(self.known_size) if plain and self.known_size is not None else None

    @property
    def columns(self) -> list[str]:
        """All columns that it names."""
        named = [column for query in self.workload.queries for column in query.columns]
        named += [condition.column for condition in self.workload.who]
        named += [] if self.workload.weight is None else [self.workload.weight.column]
        return [*named, *self.unit, *self.workload.group_columns]

    @property
    def what(self) -> str:
        """What is asked, in a few words."""
        asked = ", ".join(block.words for block in self.workload.blocks)
        by = ", ".join(self.workload.group_columns)
        return f"{asked} by {by}" if by else asked

    def fingerprint(self, *about: object, named: bool = True) -> str:
        """Return a hash of all that was asked, and ``about`` what: the same for the same alone.

        What cannot be told from others is refused, or, unless it is ``named``, like nothing else.
        """
        apart = ("i_know", "delta", "sampling", "spec")  # what does not change what is drawn
        asked = [getattr(self, each.name) for each in fields(self) if each.name not in apart]
        try:
            return digest(asked, about)
        except NotSupportedError:
            if named:
                raise
            return secrets.token_hex(32)

    @property
    def budget(self) -> Privacy:
        """The budget that was stated; there is none by default."""
        if self.privacy is None:
            raise InvalidParameterError(
                "the budget is missing; say how much may be spent: --epsilon 1 --delta 1e-6, or"
                " privacy=ApproxDP(epsilon=1, delta=1e-6) (a plan shows what each budget brings)"
            )
        return self.privacy

    def check(self, *, counted: bool = True) -> None:
        """Refuse what does not say who is one person, or counts who somebody is.

        ``counted``: no row's content can change how many rows there are.
        """
        for fault in self.faults(counted=counted):
            raise fault

    def faults(self, *, counted: bool = True) -> Iterator[InvalidParameterError]:
        """Yield all for which it is refused.

        >>> from halfnoise import Count
        >>> for fault in Request(workload=Workload([Count("id")]), unit=("id",)).faults():
        ...     print(fault)
        'id' is the unit and a query's column at once; a name or number that says who somebody is \
cannot be counted
        """
        for query in self.workload.queries:
            if isinstance(query, Counts):
                remedy = "to release, name columns: Count('smoker')"
                yield InvalidParameterError(f"{query.label!r} is for planning alone; {remedy}")
        if self.row_is_person and self.unit:
            said = "give unit or row_is_person, not both: they exclude each other"
            yield InvalidParameterError(said)
        if not self.row_is_person and not self.unit:
            yield InvalidParameterError(
                "who is one person is never guessed: name the column that says whom a row is about"
                " (--unit person_id, unit='person_id'), or say that each row is another person"
                " (--row-is-person, row_is_person=True)"
            )
        yield from self._of_unit()
        if self.workload.grouping is not None:
            yield from self._of_groups(self.workload.grouping)
        if self.workload.size_is_public and self.known_size is None:
            yield from self._of_size(counted=counted)

    def _of_unit(self) -> Iterator[InvalidParameterError]:
        """Refuse to count, or to choose people by, the column that says who somebody is."""
        for column in self.unit:
            if not is_name(column):
                yield refuse("unit", "a column's name, or several", column)
            if any(column == condition.column for condition in self.workload.who):
                both = f"{column!r} is the unit and says who is in the table at once"
                yield InvalidParameterError(f"{both}; name another column in where")
            if self.workload.weight is not None and column == self.workload.weight.column:
                both = f"{column!r} is the unit and the weight at once"
                yield InvalidParameterError(f"{both}; name another column as the weight")
            if any(column in query.columns for query in self.workload.queries):
                both = f"{column!r} is the unit and a query's column at once"
                why = "a name or number that says who somebody is cannot be counted"
                yield InvalidParameterError(f"{both}; {why}")

    def _of_size(self, *, counted: bool) -> Iterator[InvalidParameterError]:
        """Refuse to publish a number of people that one person could change."""
        if self.row_is_person and counted:
            return
        why = "an open quote joins rows, a last line without a line break (.gz: any) may be blank"
        if self.unit:
            why = "a person without an id is nobody"
        yield InvalidParameterError(
            "where people can only be replaced the number of people is public, but here one person"
            f" could change it ({why}): give it (--known-size 200000, known_size=200_000), or hide"
            " who is in the data too (--neighbors add-remove)"
        )

    def _of_groups(self, grouping: Grouping) -> Iterator[InvalidParameterError]:
        if not grouping.by:
            remedy = "name the column that says it (--by region, by='region'), or leave groups out"
            yield InvalidParameterError(f"which group a row is in is never guessed: {remedy}")
        if grouping.keys is None and not grouping.discovers:
            how = "a number alone says how many for a plan; as a key it needs a list: --groups 20,"
            yield refuse("groups", "listed to release, or 'discover'", grouping.number, how)
        if grouping.most > 1 and not self.unit:
            remedy = "a row is in one group, so leave it out, or name the unit"
            yield refuse("max_groups", "1 where each row is a person", grouping.most, remedy)
        for by in grouping.by:
            if by.column in self.unit:
                why = "a group of one person has no privacy, so group by another column"
                both = f"{by.column!r} is the unit and names groups at once"
                yield InvalidParameterError(f"{both}; {why}")
