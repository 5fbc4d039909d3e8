"""What comes out of a release: noisy values, their joint error and the guarantee. No true total."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from halfnoise.checks import level_of, refuse, unknown
from halfnoise.design.covariance import Shared
from halfnoise.results import spread
from halfnoise.results.estimates import Estimates
from halfnoise.results.inference import Columns, Errors, Estimate, Floats
from halfnoise.results.published import Published
from halfnoise.results.sampled import estimate_of
from halfnoise.results.sampling import Sampling
from halfnoise.results.together import shared_out, simultaneous_level
from halfnoise.text import free, named
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.by import By
from halfnoise.workload.listing import Key, Keys

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Release(Estimates):
    """The noisy values of one release, with everything that may be concluded from them.

    **Guarantee.** It holds the released values and public facts alone, so whatever is computed
    from it is post-processing.
    """

    @classmethod
    def from_json(cls, text: str) -> "Release | GroupedRelease":
        """Read a release, with groups or without, from its JSON."""
        release: Released = cls._views().document.from_json(text)
        return release


class _Same(Generic[T]):
    """An attribute of the template of a release by group, which all groups share."""

    def __init__(self, read: Callable[[Release], T]) -> None:
        self.read = read

    def __get__(self, grouped: "GroupedRelease", kind: type) -> T:
        return self.read(grouped.template)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class GroupedRelease(Published):
    """The noisy values of every group, each group a ``Release`` under its key.

    ``template`` is what all groups share, and its own values mean nothing: ``questions``,
    ``errors``, ``guarantee``, ``privacy``, ``level`` and ``facts`` can be read here as there.
    ``values`` has one row for each of ``group_keys``, its number of people last where measured.
    The noises of different groups are independent, but for a variance of ``common`` that all
    numbers of people share, or for what is ``between`` the estimates of any two groups.

    **Guarantee.** It holds the released values and public facts alone, so whatever is computed
    from it is post-processing.
    """

    template: Release
    by: tuple[By, ...]
    group_keys: Sequence[Key]
    values: Floats
    common: float = 0.0
    between: tuple[Shared, ...] = ()
    people: Estimate | None = None  # all people, each counted once, where measured beside groups
    most: int = 1  # in how many groups a person may be
    discovered: bool = False  # whether the groups were found in the data
    _places: dict[object, int] | None = field(init=False, default=None)

    from_json = staticmethod(Release.from_json)
    names = _Same(lambda release: release.names)
    questions = _Same(lambda release: release.questions)
    errors = _Same(lambda release: release.errors)
    guarantee = _Same(lambda release: release.guarantee)
    privacy = _Same(lambda release: release.privacy)
    level = _Same(lambda release: release.level)
    facts = _Same(lambda release: release.facts)
    rounded_values = _Same(lambda release: release.rounded_values)
    sampling = _Same(lambda release: release.sampling)

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def __len__(self) -> int:
        return len(self.group_keys)

    def __iter__(self) -> Iterator[Any]:
        return (key if len(self.by) > 1 else key[0] for key in self.group_keys)

    def keys(self) -> list[Any]:
        """Return the keys: single values for one column, tuples for several."""
        return list(self)

    def __contains__(self, key: object) -> bool:
        return self._find(key) is not None

    def __getitem__(self, key: object) -> Release:
        return self._group(self._place(key))

    def items(self) -> Iterator[tuple[Any, Release]]:
        """Go through the groups: key and release."""
        return ((key, self._group(place)) for place, key in enumerate(self))

    @property
    def size(self) -> Estimate | None:
        """The number of all people, each counted once; None where it was not measured.

        What the groups' own numbers of people add up to is ``total().size``.
        """
        if self.people is None:
            return None
        x, std, noise = self.people.estimate, self.people.std, self.errors.noise
        margin = noise.margin([std / noise.std([1.0])], self.level)
        size = replace(self.people, low=x - margin, high=x + margin)
        return size.as_count() if self.rounded_values else size

    def difference(self, name: str, a: object, b: object, *, share: bool = False) -> Estimate:
        """Return an estimate in group a minus that in group b; noise they share cancels.

        A count, a sum, a mean or, with ``share``, the share of all people in a group.
        """
        one, other = self._place(a), self._place(b)
        title = f"{name}, {self.title(one)} - {self.title(other)}"
        if share or name in self.template.means:
            pair, (least, most) = self.template.fraction_of(name, share=share)
            if one == other:
                return Estimate(name=title, estimate=0.0, std=0.0, low=0.0, high=0.0)
            two = (self.values[[one]], self.values[[other]])
            ends, shared = (least, most), self._shared
            own = spread.groups_apart(self.template, two, pair, ends, shared, over=self.most > 1)
            return estimate_of(title, own[:, 0]).within(least - most, most - least)
        values = self.values[one] - self.values[other]
        noisy = replace(self.template, values=values, sampling=None)
        both = replace(noisy, errors=self._errors(2, together=0.0))
        found = both.linear({name: float(one != other)}, name=title)
        if one == other:
            return found
        rows = (self.values[one], self.values[other])
        return spread.between(self.template, found, name, rows, overlap=self.most > 1)

    def table(self, *labels: str, of: str | None = None) -> str:
        """Return the values as text; tables by their labels are those of a group, or of a total."""
        if not labels and of is None:
            return str(self._views().render.table(self))
        said = [*map(repr, labels), *([] if of is None else [f"of={of!r}"])]
        asked = f".table({', '.join(said)})"
        ways = [f"release[{key!r}]{asked}" for key in self.keys()[:1]] + [f"release.total(){asked}"]
        rule = "that of one group, or of all of them together"
        raise refuse("a table by labels", rule, labels, f"say {' or '.join(ways)}")

    def total(self, groups: Iterable[object] | None = None) -> Release:
        """Return the sum over groups, over all of them unless some are named.

        Their own noises add up as independent ones do, and what they have in common as one does.
        """
        if isinstance(groups, str) or not isinstance(groups, Iterable | None):
            raise refuse("groups", "a list of groups", groups)
        named = None if groups is None else list(groups)
        places = range(len(self)) if named is None else [self._place(key) for key in named]
        if not places or (named is not None and len(set(places)) < len(places)):
            raise refuse("groups", "at least one group, each named once", named or [])
        errors = self._errors(len(places), together=len(places))
        remarks = self._views().render.remarks(self, total=True)
        values = (self.values if named is None else self.values[places]).sum(axis=0)
        how = self.sampling
        if how is not None:  # who is in several groups counts so often, with the same answers
            times = min(self.most, len(places))
            how = replace(how, design_effect=how.design_effect * times)
        total = replace(self.template, values=values, errors=errors, remarks=remarks)
        return replace(total, sampling=how)

    def intervals(self, *, level: float, simultaneous: bool = False) -> "GroupedRelease":
        """Return the same with intervals at another level, or for all groups at once.

        At once: whether those of one group hold does not depend on another group, so that of m
        groups each has to hold with probability level^(1/m). With noise in common, which is
        Gaussian, they hold together at least as often (Royen 2014).
        """
        each = level_of(level)
        queries, means = self.template.counted
        if simultaneous and len(self) and self.sampling is not None:
            intervals = (queries + means + self.template.has_size) * len(self)
            each = shared_out(level, intervals + (self.people is not None))
        elif simultaneous and len(self):
            alone = level ** (1 / (len(self) + (self.people is not None)))
            each = simultaneous_level(self.errors, queries, means + self.template.has_size, alone)
        return replace(self, template=replace(self.template, level=each))

    def with_sampling(
        self, method: str | Sampling | None, *, design_effect: float | None = None
    ) -> "GroupedRelease":
        """Return the same with intervals that cover who was asked, as ``Release`` does.

        Each group is a sample of its own people.
        """
        template = self.template.with_sampling(method, design_effect=design_effect)
        return replace(self, template=template)

    def rounded(self) -> "GroupedRelease":
        """Return the same with counts shown as whole numbers, as ``Release.rounded`` does."""
        return replace(self, template=self.template.rounded())

    def flagged(self, *flags: float, suppress: float | None = None) -> "GroupedRelease":
        """Return the same with marks on what is not reliable, as ``Release.flagged`` does."""
        return replace(self, template=self.template.flagged(*flags, suppress=suppress))

    def columns(self, *, tables: bool = True) -> Columns:
        """Return the table by column: the keys of a group, then as for one release.

        A column of keys with the title of another column gets " (group)" behind its title.
        """
        listed, shown = self.template.listed(tables=tables), self._views().table
        table: Columns = shown.columns(self.template, self.values, listed)
        return self.keyed(table, self.group_keys)

    def keyed(self, table: Columns, groups: Sequence[Key]) -> Columns:
        """Return a table by column, group by group, with the keys of its groups in front."""
        rows = len(next(iter(table.values()))) // max(1, len(groups))
        own = Keys.of(groups, len(self.by))
        keys: Columns = {}
        for place, by in enumerate(self.by):
            others = (*table, *keys, *(each.column for each in self.by[place + 1 :]))
            title = free(by.column, others, "group")
            keys[title] = np.repeat(np.fromiter(own.columns[place], object, len(own)), rows)
        return keys | table

    def _group(self, place: int) -> Release:
        remarks = self._views().render.remarks(self, total=False)
        return replace(self.template, values=self.values[place], remarks=remarks)

    def _find(self, key: object) -> int | None:
        """Return where a group stands: its key is this, type and all, or alone equal to it."""
        wanted = key if isinstance(key, tuple) else (key,) * len(self.by)  # one value for all
        try:
            place = self._by_key().get(typed(wanted))
        except TypeError:  # a list or the like, which is no key
            return None
        if place is not None:
            return place
        alike = [place for place, each in enumerate(self.group_keys) if each == wanted]
        return alike[0] if len(alike) == 1 else None

    def _by_key(self) -> dict[object, int]:
        """Return where each group stands; most releases are never asked."""
        if self._places is None:
            places = {typed(key): place for place, key in enumerate(self.group_keys)}
            object.__setattr__(self, "_places", places)
            return places
        return self._places

    def _place(self, key: object) -> int:
        if (place := self._find(key)) is None:
            raise unknown("group", key, self.keys())
        return place

    def title(self, place: int) -> str:
        """Return what the group at some place is called."""
        key = self.group_keys[place]
        return " · ".join(map(named, key))

    def _errors(self, copies: int, *, together: float) -> Errors:
        # Of the noise that all numbers of people share, a sum of k groups holds k times one, and a
        # difference of two groups none.
        covariance = self.errors.covariance
        if self.common:
            covariance = covariance.with_last(more=(together - 1) * self.common)
        if self.between:
            covariance = covariance.more(self.between, together - 1)
        return replace(self.errors, covariance=covariance, copies=copies)

    @property
    def _shared(self) -> tuple[Shared, ...]:
        """What two groups share."""
        if not self.common:
            return self.between
        last = self.errors.covariance.shared[-1]
        return (*self.between, replace(last, weight=self.common))


def typed(key: Iterable[object]) -> object:
    """Return what tells a key from others, its types too."""
    # True, 1 and 1.0 are equal, but name different groups.
    return tuple((type(value), value) for value in key)


Released: TypeAlias = Release | GroupedRelease  # what comes out of a release, by group or not


def template_of(release: Released) -> Release:
    """Return what all groups of a release share; without groups it is the release itself."""
    return release.template if isinstance(release, GroupedRelease) else release
