"""How reliable a number is: its standard error relative to it, marks, and what is left out.

By noisy values alone, so it is post-processing and costs nothing; and for readers alone: nobody is
protected by it, and JSON, Parquet and frames keep every number.

A count at or below zero is nothing but noise, and so is anything at zero: its relative standard
error is infinite. What may be below zero, such as a sum or a mean, is measured by its size.
"""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import positive, refuse
from halfnoise.results.inference import NUMBERS, Columns, Floats
from halfnoise.results.shown import PEOPLE
from halfnoise.text import free
from halfnoise.values import dataclass

FACT = "reliability"  # where a release keeps the rule
LEFT_OUT = ".."
MARKS = tuple(f"({letter})" for letter in "abcdefghijklmnopqrstuvwxyz")
NOT_BELOW_ZERO = (*PEOPLE, "share")
RELATIVE, FLAG = "relative_std", "flag"


def relative(x: Floats, std: Floats, *, counts: NDArray[np.bool_] | bool) -> Floats:
    """Return relative standard errors; ``counts``: which numbers cannot be below zero.

    >>> relative(np.array([50.0, -50.0, 0.0]), np.array([5.0, 5.0, 0.0]), counts=True).tolist()
    [0.1, inf, 0.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(counts & (x < 0), math.inf, std / np.abs(x))
    return np.asarray(np.where(std == 0, 0.0, found))


def said(share: float) -> str:
    """Write a relative standard error: in per cent, to two digits, while it is below all of it.

    >>> said(0.01234), said(0.456), said(3.0), said(math.inf)
    ('1.2%', '46%', 'over 100%', 'over 100%')
    """
    return f"{100 * share:.2g}%" if share < 0.995 else "over 100%"


def spread(errors: Floats) -> str:
    """Write relative standard errors from the least to the largest."""
    least, most = said(float(errors.min())), said(float(errors.max()))
    return least if least == most else f"{least} to {most}"


@dataclass(frozen=True, slots=True)
class Reliability:
    """From which relative standard errors on numbers are marked, and from which on left out.

    >>> rule = Reliability((0.2, 0.33), suppress=0.5)
    >>> rule.marks(np.array([0.1, 0.2, 0.4, 0.5])).tolist()
    ['', '(a)', '(b)', '..']
    """

    flags: tuple[float, ...] = ()
    suppress: float | None = None

    def __post_init__(self) -> None:
        """Refuse thresholds that are none, or do not rise."""
        flags = tuple(positive("such as 0.2 for 20%", flag=each) for each in self.flags)
        if len(flags) > len(MARKS) or [*flags] != sorted({*flags}):
            raise refuse("flags", "rising, each once, as many as there are letters", self.flags)
        if self.suppress is not None:
            least = positive("such as 0.5 for 50%", suppress=self.suppress)
            if flags and least <= flags[-1]:
                raise refuse("suppress", f"above the last flag, {flags[-1]:g}", self.suppress)
            object.__setattr__(self, "suppress", least)
        object.__setattr__(self, "flags", flags)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Self:
        """Return the rule that a release keeps among its facts; an empty one if there is none."""
        stored = facts.get(FACT, {})
        return cls(tuple(stored.get("flags", ())), stored.get("suppress"))

    def __bool__(self) -> bool:
        return bool(self.flags) or self.suppress is not None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"flags": [*self.flags], "suppress": self.suppress}

    @property
    def steps(self) -> list[tuple[str, float]]:
        """The marks, each with the relative standard error from which on it stands."""
        steps = [*zip(MARKS, self.flags, strict=False)]
        return steps if self.suppress is None else [*steps, (LEFT_OUT, self.suppress)]

    def marks(self, errors: Floats) -> NDArray[Any]:
        """Return the mark of each relative standard error: none, (a), (b), or left out."""
        steps = self.steps
        found = np.searchsorted([least for _, least in steps], errors, side="right")
        return np.array(["", *(mark for mark, _ in steps)], dtype=object)[found]

    def told(self) -> list[str]:
        """Say the rule, wherever its marks are."""
        if not self:
            return []
        steps = [f"{mark} from {100 * least:g}% on" for mark, least in self.steps]
        last = "; what is left out is mostly noise" if self.suppress is not None else ""
        why = "They follow from the noisy numbers alone, and protect nobody."
        return [f"Marks by relative standard error: {', '.join(steps)}{last}. {why}"]

    def meaning(self, mark: str) -> str:
        """Say what a mark means, so that a file holds the rule."""
        return f"{mark} {100 * dict(self.steps)[mark]:g}% or more" if mark else ""


NO_RULE = Reliability()


def beside(columns: Columns, rule: Reliability) -> Columns:
    """Return a table by column with relative standard errors behind the standard errors.

    Where there is a rule, a last column says what is marked, and what is left out is nothing.
    """
    errors = _errors(columns)
    found = _behind(columns, RELATIVE, errors)
    if not rule:
        return found
    marks = rule.marks(errors)
    found[free(FLAG, found, "noise")] = np.array(
        [rule.meaning(mark) for mark in marks], dtype=object
    )
    gone = marks == LEFT_OUT
    for title in NUMBERS if gone.any() else ():
        found[title] = columns[title].astype(object)
        found[title][gone] = None
    return found


def for_eyes(texts: Columns, columns: Columns, rule: Reliability) -> Columns:
    """Return numbers in texts with relative standard errors beside them, marked by a rule."""
    errors = _errors(columns)
    found = _behind(texts, "relative", np.array([*map(said, errors.tolist())], dtype=object))
    if rule:
        marks = rule.marks(errors)
        pairs = zip(texts["estimate"].tolist(), marks, strict=True)
        found["estimate"] = np.array([marked(*pair) for pair in pairs], dtype=object)
        for title in NUMBERS[1:]:
            found[title] = np.where(marks == LEFT_OUT, LEFT_OUT, texts[title])
    return found


def marked(text: str, mark: str) -> str:
    """Return a number as readers see it."""
    return LEFT_OUT if mark == LEFT_OUT else f"{text} {mark}".rstrip()


def _behind(columns: Columns, title: str, more: NDArray[Any]) -> Columns:
    """Return a table by column with one more behind the standard errors."""
    at = [*columns].index("std") + 1
    first, last = [*columns.items()][:at], [*columns.items()][at:]
    return dict([*first, (free(title, columns, "noise"), more), *last])


def _errors(columns: Columns) -> Floats:
    kinds, known = columns["kind"].tolist(), frozenset(NOT_BELOW_ZERO)
    counts = np.fromiter(map(known.__contains__, kinds), bool, len(kinds))
    return relative(columns["estimate"], columns["std"], counts=counts)
