"""A workload: all that is asked of each person, and so the set K of what one may contribute."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

from halfnoise.checks import known_keywords, refuse, yes_or_no
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.privacy.definitions import Neighbors
from halfnoise.values import KW_ONLY, dataclass, field, fields, replace
from halfnoise.workload.block import Block, Line
from halfnoise.workload.categories import Items
from halfnoise.workload.conditions import Where
from halfnoise.workload.crossing import used
from halfnoise.workload.gathering import as_choices, blocks_of, weighed
from halfnoise.workload.group_axes import by_axes
from halfnoise.workload.groups import Grouping
from halfnoise.workload.importance import COMES_ALONG, check_importance, dialled
from halfnoise.workload.listing import OTHER, Columns, Groups
from halfnoise.workload.nested import Nested
from halfnoise.workload.numbers import Mean, Squares
from halfnoise.workload.queries import Asked, check_queries
from halfnoise.workload.question import Question, only_rows
from halfnoise.workload.rules import Rules, check_weight, check_where
from halfnoise.workload.weights import HEADS, Weight


@known_keywords
@dataclass(frozen=True, slots=True)
class Workload:
    """The queries of one release, and the rules under which it is made.

    ``where``: who is in the table: rows that do not meet all of these conditions are not there, so
    sizes, groups and shares are of the people whom the others are about.
    ``neighbors``: which two tables must look alike. ``weight``: how often a person counts, where
    not once; ``unweighted_size``: whether the number of people comes out, too; ``effective_size``:
    whether the sum of squared weights does. ``by``: the column, or columns, that say which group a
    row is in. ``groups``: the groups, by key, for several columns as one list for each or
    as tuples; ``"discover"`` where they are not known, or for the columns where they are not; or,
    in a plan, how many. ``other``: the group of people elsewhere, None to leave them out.
    ``missing_group``: what the group of rows without a key is called, if they are to have one.
    ``max_groups``: in how many groups a person may be. ``discover_delta``: how likely discovering
    may show somebody's own key (default: a tenth of delta). ``group_sizes``: whether the number of
    people in each group is released, also where that costs accuracy. ``at_most``: how many of the
    counts one person may have.
    ``importance``: by query name, how much a squared error counts (default 1/width^2, so that
    errors count relative to a query's own range). ``size_importance``: the same for the number of
    people (default 0: a by-product); ``size_dial``, C >= d^(1/4), says it the paper's way.
    ``objective``: "total" makes the sum of all squared errors least, each times its importance,
    "largest" the largest of them, where a table has one: the error of its cells.

    >>> from halfnoise.workload.numbers import Count, Sum
    >>> workload = Workload([Count("smoker"), Count("over_65"), Sum("visits", bounds=(0, 20))])
    >>> [(block.kind, block.queries) for block in workload.blocks]
    [('count', 2), ('sum', 1)]
    """

    queries: Sequence[Asked]
    _: KW_ONLY
    where: Where | Sequence[Where] = ()
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    weight: Weight | None = None
    unweighted_size: bool = False
    effective_size: bool = False
    by: Columns = None
    groups: Groups = None
    other: str | None = OTHER
    max_groups: int = 1
    discover_delta: float | None = None
    missing_group: str | None = None
    group_sizes: bool = True
    at_most: int | None = None
    importance: Mapping[str, float] = field(default_factory=dict)
    size_importance: float = 0.0
    size_dial: float | None = None
    objective: str = "total"
    grouping: Grouping | None = field(init=False, repr=False)
    blocks: tuple[Block, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        queries = self.queries
        if not isinstance(queries, Sequence | Iterator) or isinstance(queries, str):
            raise refuse("queries", "a list of queries", queries, 'for example [Count("smoker")]')
        _set(self, queries=tuple(queries))
        if not isinstance(self.neighbors, Neighbors):
            raise refuse("neighbors", "Neighbors.ADD_REMOVE or Neighbors.REPLACE", self.neighbors)
        _set(self, where=check_where(self.where, self.neighbors))
        flags = ("unweighted_size", "effective_size", "group_sizes")
        sizes = any([yes_or_no(**{name: getattr(self, name)}) for name in flags][:2])
        varies = any(isinstance(query, Mean) and query.variance for query in self.queries)
        check_weight(self.weight, self.neighbors, sizes=sizes, varies=varies)
        check_queries(self.asked)
        _set(self, **by_axes(self.queries, self.by, self.groups, self.other, self.importance))
        _set(self, **as_choices(self.queries, self.importance, largest=self.objective == "largest"))
        check_queries(self.asked)
        named = {query.label for query in self.asked if not isinstance(query, Nested)}
        known = {*named, *used([], [], self.asked)}
        weights, size = check_importance(
            self.importance, self.size_importance, self.objective, known
        )
        _set(self, grouping=_check_groups(self), importance=weights, size_importance=size)
        most, public = self.at_most, self.size_is_public
        found = blocks_of(self.asked, self.importance, most, public=public)
        _set(self, blocks=weighed(found, self.weight))
        if self.grouped and any(getattr(b, "nested", None) for b in self.blocks):
            rule = "places inside places do not go with groups (by)"
            remedy = "make the groups a Choice and an axis of tables"
            raise NotSupportedError(f"{rule}, whose numbers would not add up; {remedy}")
        if self.size_dial is not None:
            _set(self, size_importance=dialled(self.size_importance, self.blocks, self.size_dial))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy what was said; the rest is worked out again."""
        said = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        said["importance"] = dict(self.importance)
        if self.size_dial is not None:
            said["size_importance"] = 0.0
        return partial(Workload, **said), ()

    @classmethod
    def of(
        cls, queries: "Sequence[Asked] | Workload", by: Columns = None, **rules: Unpack[Rules]
    ) -> "Workload":
        """Return a workload of queries and rules, or one that is given whole."""
        if not isinstance(queries, Workload):
            return cls(queries, by=by, **rules)
        if by is not None or rules:
            rule = min([*rules, *(() if by is None else ("by",))])
            remedy = "which is given whole; say it there"
            raise InvalidParameterError(f"{rule} is a rule of the workload, {remedy}")
        return queries

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The queries, and what is asked of weights."""
        squares = [Squares.of(self.weight)] if self.effective_size and self.weight else []
        return (*self.queries, *squares)

    @property
    def protected(self) -> str:
        """What nobody may find out."""
        added = self.neighbors is Neighbors.ADD_REMOVE
        return "whether somebody is in the data" if added else "what somebody in the data answered"

    @property
    def words(self) -> str:
        """What each person is asked, who is in the table, and which two must look alike."""
        asked = ", ".join(block.words for block in self.blocks)
        who = f"\n{only_rows(list(map(str, self.who)))}" if self.who else ""
        own = "" if self.weight is None else f"\nEach counts as often as {self.weight.meaning}."
        return f"Asked of each person: {asked}.{who}{own}\nProtected: {self.protected}."

    @property
    def who(self) -> tuple[Where, ...]:
        """What a row must meet to be in the table."""
        return Where.several(self.where)

    @property
    def grouped(self) -> bool:
        """Whether people are in groups."""
        return self.grouping is not None

    @property
    def discovers(self) -> bool:
        """Whether groups come from the data, beyond a threshold."""
        return self.grouping is not None and self.grouping.discovers

    @property
    def size_is_public(self) -> bool:
        """Whether the number of people is public: nobody is added or removed, or changes group."""
        return not self.touched

    @property
    def needs_sizes(self) -> bool:
        """Whether only designs that give the number of people will do."""
        wanted = bool(self.size_importance) or (self.grouped and self.group_sizes)
        return (wanted and self.touched > 0) or self.measures_size

    @property
    def measures_size(self) -> bool:
        """Whether the size is measured even where nothing leans on it."""
        return self.discovers or self.unweighted_size or self.effective_size

    @property
    def size_weight(self) -> float:
        """What a squared error in the size weighs; of groups, where nothing is said, a little.

        Where it is asked for, or discovers groups, it weighs as much as a query.
        """
        if self.size_importance or not self.needs_sizes:
            return self.size_importance
        goals = self.objective == "largest"
        seen = ((x.goal if goals else x.importance) * x.width**2 for x in self.lines)
        query = max(seen)
        return query if self.measures_size else COMES_ALONG * query

    @property
    def gaussian_only(self) -> bool:
        """Whether there are tables, or sizes of two kinds, for which Laplace noise does not pay."""
        return self.unweighted_size or any(block.shape.gaussian_only for block in self.blocks)

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that name groups."""
        return () if self.grouping is None else tuple(by.column for by in self.grouping.by)

    @property
    def touched(self) -> int:
        """In how many groups one person can change what is measured.

        Added or removed, up to ``max_groups``; the whole table counts as one. Replaced, the one
        that is left and the one that is entered, if there is another; none without groups.
        """
        groups = self.grouping
        if self.neighbors is Neighbors.ADD_REMOVE:
            return 1 if groups is None else groups.most
        return 0 if groups is None else 1 if groups.number == 1 else 2

    @property
    def lines(self) -> tuple[Line, ...]:
        """What a plan has to say an error of."""
        return tuple(line for block in self.blocks for line in block.lines)

    @property
    def size(self) -> int:
        """The number of sums d, in each group where there are groups."""
        return sum(block.shape.size for block in self.blocks)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The queries as results need them, in the order of their estimates."""
        questions, start = list[Question](), 0
        for block in self.blocks:
            questions += block.questions(start)
            start += block.shape.size
        if self.unweighted_size:
            questions.append(Question(name=HEADS, kind="sum", start=start, names=(HEADS,)))
        return tuple(questions)

    def of_rows(self) -> "Workload":
        """Return the same where each row is a person, who has no more items than one row can.

        >>> Workload([Items("drug", ["a", "b", "c"])]).of_rows().queries[0].at_most
        1
        """
        few = [q.of_rows() if isinstance(q, Items) else q for q in self.queries]
        return replace(self, queries=few) if any(isinstance(q, Items) for q in few) else self

    def weighed(self, weights: Sequence[float], size: float) -> "Workload":
        """Return the same where squared errors weigh so much, by line, and of the size.

        >>> from halfnoise.workload.numbers import Count, Sum
        >>> workload = Workload([Count("a"), Sum("b", bounds=(0, 1))]).weighed([1.0, 2.0], 0.0)
        >>> [block.importance for block in workload.blocks]
        [1.0, 2.0]
        """
        found, rest = object.__new__(Workload), iter(weights)
        _set(found, **{each.name: getattr(self, each.name) for each in fields(self)})
        blocks = (b.weighed([*itertools.islice(rest, len(b.lines))]) for b in self.blocks)
        _set(found, blocks=tuple(blocks), size_importance=size)
        return found


def _set(workload: Workload, **fields: object) -> None:
    for name, value in fields.items():
        object.__setattr__(workload, name, value)


def _check_groups(workload: Workload) -> Grouping | None:
    groups = workload.groups
    if isinstance(groups, Iterable) and not isinstance(groups, str | Mapping | set | frozenset):
        _set(workload, groups=tuple(groups))
    found = Grouping.of(
        workload.by,
        workload.groups,
        other=workload.other,
        max_groups=workload.max_groups,
        discover_delta=workload.discover_delta,
        missing_group=workload.missing_group,
    )
    if found and found.most > 1 and workload.neighbors is Neighbors.REPLACE:
        raise NotSupportedError(
            f"max_groups must be 1 where people are replaced, got {workload.max_groups}; under"
            " replacement each person is in one group, so keep one, or use add-remove"
        )
    return found
