"""What comes out of a release by group: one table of noisy values for each of many groups."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from halfnoise.checks import fraction, refuse
from halfnoise.results import render as rendering
from halfnoise.results.inference import Errors, Estimate, apart, simultaneous_level
from halfnoise.results.published import Published
from halfnoise.results.release import Release
from halfnoise.results.table import COLUMNS, NUMBERS, SIZE, Columns, Sheet, in_range, spelled
from halfnoise.text import meaningful, percent, short
from halfnoise.workload.groups import By, Key

DISCOVERED = (
    "Groups were found in the data: only those that passed a threshold are here, and small groups"
    " that pass are biased upward."
)
FOUND = (
    "This group was found in the data and passed a threshold; small groups that pass are biased"
    " upward."
)
SELECTED = (
    "Only groups that passed a threshold are in this total, and small groups that pass are biased"
    " upward."
)

MOST = 0.5
"""The share of people elsewhere from which it is worth a note."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class GroupedRelease(Published):
    """The noisy values of every group, each group a ``Release`` under its key.

    ``values`` has one row for each of ``group_keys``, its number of people last where measured.
    ``errors`` are those of one group: every group has the same. The noises of different groups are
    independent, but for a variance of ``common`` that all numbers of people share. ``people`` is
    the number of all people, each counted once, where it was measured beside the groups. ``most``:
    in how many groups a person may be. ``discovered``: whether the groups were found in the data.

    **Guarantee.** It holds the released values and public facts alone, so whatever is computed
    from it is post-processing.
    """

    by: tuple[By, ...]
    group_keys: tuple[Key, ...]
    common: float = 0.0
    people: Estimate | None = None
    most: int = 1
    discovered: bool = False
    _places: dict[object, int] = field(init=False)

    def __post_init__(self) -> None:
        """Make the values read-only, and note where each group stands."""
        self.values.flags.writeable = False
        places = {_reading(key): place for place, key in enumerate(self.group_keys)}
        object.__setattr__(self, "_places", places)

    def __len__(self) -> int:
        """Return how many groups there are."""
        return len(self.group_keys)

    def __iter__(self) -> Iterator[Any]:
        """Go through the keys: single values for one column, tuples for several."""
        return (key if len(self.by) > 1 else key[0] for key in self.group_keys)

    def keys(self) -> list[Any]:
        """Return the keys: single values for one column, tuples for several."""
        return list(self)

    def __contains__(self, key: object) -> bool:
        """Whether there is a group under this key."""
        return self._find(key) is not None

    def __getitem__(self, key: object) -> Release:
        """Return the release of one group."""
        return self._release(self._place(key))

    def items(self) -> Iterator[tuple[Any, Release]]:
        """Go through the groups: key and release."""
        return ((key, self._release(place)) for place, key in enumerate(self))

    @property
    def size(self) -> Estimate | None:
        """The number of all people, each counted once; None where it was not measured.

        What the groups' own numbers of people add up to is ``total().size``.
        """
        if self.people is None:
            return None
        x, std = self.people.estimate, self.people.std
        noise = self.errors.noise
        margin = noise.margin([std / noise.std([1.0])], self.level)
        numbers = np.array([x, std, x - margin, x + margin])
        shown = in_range(numbers, np.inf) if self.rounded_values else numbers
        return Estimate(name=SIZE, **dict(zip(NUMBERS, shown.tolist(), strict=True)))

    def difference(self, name: str, a: object, b: object, *, share: bool = False) -> Estimate:
        """Return an estimate in group a minus that in group b; noise they share cancels.

        A count, a sum, a mean or, with ``share``, the share of all people in a group.
        """
        one, other = self._place(a), self._place(b)
        title = f"{name}, {_title(self.group_keys[one])} - {_title(self.group_keys[other])}"
        means = [question.name for question in self.questions if question.kind == "mean"]
        if share or (name in means and name not in self.names):
            parts = [self._release(place) for place in (one, other)]
            two = [part.share(name) if share else part.mean(name) for part in parts]
            difference = apart(title, *two)
            nothing = Estimate(name=title, estimate=0.0, std=0.0, low=0.0, high=0.0)
            return difference if one != other else nothing
        values = self.values[one] - self.values[other]
        both = self._release(one, values=values, errors=self._errors(2, together=0.0))
        return both.linear({name: float(one != other)}, name=title)

    def total(self, groups: Iterable[object] | None = None) -> Release:
        """Return the sum over groups, over all of them unless some are named.

        Their own noises add up as independent ones do, and what they have in common as one does.
        """
        if isinstance(groups, str) or not isinstance(groups, Iterable | None):
            raise refuse("groups", "a list of groups", groups)
        named = None if groups is None else list(groups)
        places = range(len(self)) if named is None else [self._place(key) for key in named]
        if not places or len(set(places)) < len(places):
            raise refuse("groups", "at least one group, each named once", named or [])
        return self._release(
            values=self.values[places].sum(axis=0),
            errors=self._errors(len(places), together=len(places)),
            remarks=(*([SELECTED] if self.discovered else []), *self._overlap),
        )

    def intervals(self, *, level: float, simultaneous: bool = False) -> "GroupedRelease":
        """Return the same with intervals at another level, or for all groups at once.

        At once: whether those of one group hold does not depend on another group, so that of m
        groups each has to hold with probability level^(1/m). With noise in common, which is
        Gaussian, they hold together at least as often (Royen 2014).
        """
        each = fraction(level=level)
        if simultaneous and len(self):
            queries = len(self.names)
            others = sum(question.kind == "mean" for question in self.questions)
            others += self.values.shape[1] > queries
            alone = level ** (1 / (len(self) + (self.people is not None)))
            each = simultaneous_level(self.errors, queries, others, alone)
        return replace(self, level=each)

    def notes(self) -> list[str]:
        """Say what goes with the values, and what they themselves suggest to check."""
        said = [DISCOVERED] if self.discovered else []
        said += [*self._threshold, *self._overlap]
        if self.size is not None:
            std = self.size.std
            x, low, high = (
                meaningful(each, std)
                for each in (self.size.estimate, self.size.low, self.size.high)
            )
            said.append(
                f"All people, each counted once: {x}, standard error {short(std)},"
                f" {percent(self.level)} interval {low} to {high}."
            )
        said += self._elsewhere
        return said + rendering.spelling(self.questions, self.values.sum(axis=0))

    def columns(self) -> Columns:
        """Return the table by column: the keys of a group, then as for one release.

        A column of keys with the title of another column gets " (group)" behind its title.
        """
        found = Sheet(
            questions=self.questions,
            values=self.values,
            errors=self.errors,
            level=self.level,
            rounded=self.rounded_values,
        ).columns()
        rows = len(found["name"]) // max(1, len(self))
        keys: Columns = {}
        for place, each in enumerate(self.by):
            others = (*COLUMNS, *keys, *(by.column for by in self.by[place + 1 :]))
            title, taken = each.column, {other.casefold() for other in others}
            while title.casefold() in taken:
                title += " (group)"
            column = np.empty(len(self), dtype=object)
            column[:] = [key[place] for key in self.group_keys]
            keys[title] = np.repeat(column, rows)
        return keys | found

    @property
    def _overlap(self) -> list[str]:
        if self.most > 1:
            some = f"A person may be in up to {self.most} groups, and counts once in each of them."
            return [some]
        which = "with the smallest key" if self.discovered else "that is first in the list"
        one = f"Who is in several groups counts in one of them alone: the one {which}."
        return [one] if _has_units(self.facts) else []

    @property
    def _threshold(self) -> list[str]:
        limit = self.facts.get("grouping", {}).get("threshold")
        none = "" if len(self) else " No group reached it."
        said = f"The threshold: {short(limit or 0)} people, with their noise.{none}"
        return [] if limit is None else [said]

    @property
    def _elsewhere(self) -> list[str]:
        """Say if most people are in no listed group, which may be a matter of spelling."""
        other = self.facts.get("grouping", {}).get("other")
        place = None if other is None else self._find(other)
        if place is None or self.values.shape[1] == len(self.names):
            return []
        part, whole = float(self.values[place, -1]), float(self.values[:, -1].sum())
        if not part > MOST * whole > 0:
            return []
        share = f"{min(part / whole, 1):.0%}"
        return [f"{other} is {share} of all people: check the spelling of the groups"]

    def _errors(self, copies: int, *, together: float) -> Errors:
        """Return the errors of groups added up, or subtracted where ``together`` is 0.

        Of the noise that all numbers of people share, a sum of k groups holds k times one, and a
        difference of two groups none.
        """
        covariance = self.errors.covariance
        if self.common:
            covariance = covariance.with_last(more=(together - 1) * self.common)
        return replace(self.errors, covariance=covariance, copies=copies)

    def _release(self, place: int = 0, **other: Any) -> Release:  # noqa: ANN401
        """Return the release of one group, or of what is said instead."""
        same = {
            name: getattr(self, name)
            for name in ("questions", "errors", "guarantee", "privacy", "level", "facts")
        }
        remarks = (FOUND,) if self.discovered else ()
        values = other.pop("values") if "values" in other else self.values[place]
        rounded = self.rounded_values
        return Release(
            **same | {"values": values, "remarks": remarks, "rounded_values": rounded} | other
        )

    def _place(self, key: object) -> int:
        place = self._find(key)
        if place is None:
            near = get_close_matches(str(key), map(str, self), n=1)
            known = ", ".join(repr(each) for each, _ in zip(self, range(10), strict=False))
            known += f" and {len(self) - 10:,} more" if len(self) > 10 else ""
            rule = f"one of {known}" if known else "found first: there is none"
            raise refuse("group", rule, key, f"did you mean {near[0]!r}?" if near else "")
        return place

    def _find(self, key: object) -> int | None:
        """Return where a group stands: its key is that, type and all, or the only one equal to it.

        One value alone stands for all columns.
        """
        wanted = key if isinstance(key, tuple) else (key,) * len(self.by)
        try:
            place = self._places.get(_reading(wanted))
        except TypeError:  # a list or the like, which is no key
            return None
        if place is not None:
            return place
        alike = [place for place, each in enumerate(self.group_keys) if each == wanted]
        return alike[0] if len(alike) == 1 else None


def _has_units(facts: Mapping[str, Any]) -> bool:
    """Whether a person may have several rows."""
    return isinstance(facts.get("unit"), list)


def _reading(key: tuple[Any, ...]) -> object:
    # True, 1 and 1.0 are equal, but name different groups.
    return tuple((type(value), value) for value in key)


def _title(key: Key) -> str:
    return " · ".join("(none)" if value is None else spelled(value) for value in key)
