"""How far our closed forms are from the least error of any Gaussian noise, where they are not it.

The documentation states these numbers; the tests hold them to a convex solver. Run it to print the
table: ``PYTHONPATH=tests python -m support.gaps``.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from halfnoise import Choice, Count, Counts, Items, Mean, Neighbors, Sum, Workload
from halfnoise.workload.queries import Query
from support.convex import (
    error_of,
    least_error_at_known_size,
    least_error_in_groups,
    least_error_of,
    least_error_of_change,
)


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A workload, a design, and by how much its total error is above the least, rounded up."""

    words: str
    workload: Workload
    percent: float
    design: str = "correlated-gaussian"
    least: Callable[[Workload], float] = field(default=least_error_of)

    def measure(self) -> float:
        """Return the gap in per cent."""
        return 100 * (error_of(self.workload, self.design) / self.least(self.workload) - 1)


def _known(words: str, workload: Workload, percent: float) -> Gap:
    least = least_error_at_known_size
    design = "known-size-gaussian"
    return Gap(words=words, workload=workload, percent=percent, design=design, least=least)


def _changed(words: str, workload: Workload, percent: float) -> Gap:
    design = "correlated-gaussian" if workload.grouped else "standard-gaussian"
    least = least_error_of_change
    return Gap(words=words, workload=workload, percent=percent, design=design, least=least)


def _several(words: str, groups: int, most: int, percent: float, *queries: Query) -> Gap:
    workload = Workload(queries, groups=groups, max_groups=most)
    least = least_error_in_groups
    design = "two-level-gaussian"
    return Gap(words=words, workload=workload, percent=percent, design=design, least=least)


def _counts(d: int, most: int | None = None, interest: float = 0.0) -> Workload:
    return Workload((Counts(d),), at_most=most, size_importance=interest)


_REPLACE = Neighbors.REPLACE
_A_TO_D = Items("i", ("a", "b", "c", "d"), at_most=2)
_C, _X = Choice("c", ("a", "b")), Sum("x", bounds=(0, 1))
_M, _L = Mean("m", bounds=(0, 1)), Mean("l", bounds=(-3, 1))

GAPS = [
    Gap(words="2 counts", workload=_counts(2), percent=9.29),
    Gap(words="3 counts", workload=_counts(3), percent=3.67),
    Gap(words="5 counts", workload=_counts(5), percent=1.82),
    Gap(words="6 counts", workload=_counts(6), percent=0.47),
    Gap(words="7 counts", workload=_counts(7), percent=0.23),
    Gap(words="2 counts, w0 = 0.25", workload=_counts(2, interest=0.25), percent=0.39),
    Gap(
        words="2 counts, importance 1 and 4",
        workload=Workload((Count("a"), Count("b")), importance={"b": 4}),
        percent=4.46,
    ),
    Gap(
        words="5 counts, importance 1, 2, 4, 0.5, 9",
        workload=Workload(
            tuple(map(Count, "abcde")), importance={"b": 2, "c": 4, "d": 0.5, "e": 9}
        ),
        percent=1.69,
    ),
    Gap(
        words="3 counts, importance 0.01, 5, 4",
        workload=Workload(tuple(map(Count, "abc")), importance={"a": 0.01, "b": 5, "c": 4}),
        percent=8.46,
    ),
    Gap(
        words="sums in [0, 1] and [5, 6]",
        workload=Workload((_X, Sum("y", bounds=(5, 6)))),
        percent=0.06,
    ),
    Gap(
        words="sums in [0.1, 0.9] and [0.8, 8.7]",
        workload=Workload((Sum("x", bounds=(0.1, 0.9)), Sum("y", bounds=(0.8, 8.7)))),
        percent=9.05,
    ),
    Gap(words="count and mean", workload=Workload((Count("a"), _M)), percent=5.96),
    Gap(words="two means", workload=Workload((_M, _L)), percent=6.06),
    Gap(words="5 counts and a mean", workload=Workload((Counts(5), _M)), percent=0.40),
    Gap(words="count, choice of 3, sum", workload=Workload((Count("a"), _C, _X)), percent=0.09),
    Gap(
        words="count, choice of 3, sum in [10, 20]",
        workload=Workload((Count("a"), _C, Sum("x", bounds=(10, 20)))),
        percent=0.40,
    ),
    Gap(
        words="count, choice of 3, sum, mean",
        workload=Workload((Count("a"), _C, _X, _M)),
        percent=0.07,
    ),
    Gap(words="at most 2 of 4, and a sum", workload=Workload((_A_TO_D, _X)), percent=5.13),
    Gap(words="at most 2 of 4, choice of 3", workload=Workload((_A_TO_D, _C)), percent=2.76),
    Gap(words="at most 1 of 2, w0 = 0.5", workload=_counts(2, 1, 0.5), percent=13.01),
    Gap(words="at most 2 of 5, w0 = 0.5", workload=_counts(5, 2, 0.5), percent=5.02),
    _known("at most 1 of 3, size known", _counts(3, 1), 23.77),
    _known("at most 2 of 5, size known", _counts(5, 2), 8.94),
    _changed("choice of 2, replaced", Workload((Choice("c", ("a",)),), neighbors=_REPLACE), 0.0),
    _changed(
        "at most 2 of 5, replaced",
        Workload((Counts(5),), at_most=2, neighbors=_REPLACE),
        16.67,
    ),
    _changed("mean in [0, 1], replaced", Workload((_M,), neighbors=_REPLACE), 0.0),
    _changed(
        "mean in [-50, -40], replaced",
        Workload((Mean("m", bounds=(-50, -40)),), neighbors=_REPLACE),
        0.0,
    ),
    _changed(
        "3 counts in groups, replaced",
        Workload((Counts(3),), neighbors=_REPLACE, groups=2),
        3.04,
    ),
    _changed(
        "at most 3 of 6 in groups, replaced",
        Workload((Counts(6),), at_most=3, neighbors=_REPLACE, groups=2),
        6.37,
    ),
    _several("count in 3 groups, up to 2", 3, 2, 6.16, Count("a")),
    _several("count in 3 groups, up to 3", 3, 3, 33.31, Count("a")),
    _several("2 counts in 3 groups, up to 2", 3, 2, 11.13, Counts(2)),
    _several("2 counts in 2 groups, up to 2", 2, 2, 14.29, Counts(2)),
    _several("mean in 2 groups, up to 2", 2, 2, 20.79, _M),
]


def main() -> None:
    """Print the table."""
    for gap in GAPS:
        sys.stdout.write(f"{gap.words:40} {gap.design:22} {gap.measure():8.3f} %\n")


if __name__ == "__main__":
    main()
