"""Every design that there is: a new one is a file and a line here."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from halfnoise.design.centered import Centered
from halfnoise.design.certificate import fairly, least_error
from halfnoise.design.design import Design, Setting
from halfnoise.design.fitted import Fitted
from halfnoise.design.fitted_groups import FittedGroups
from halfnoise.design.goals import NEAR, Fair
from halfnoise.design.largest import least_largest
from halfnoise.design.optimum import OptimalWithoutSize
from halfnoise.design.two_level import TwoLevel
from halfnoise.errors import InvalidParameterError
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget
from halfnoise.values import replace
from halfnoise.workload.workload import Workload

Offered: TypeAlias = tuple[type[Design], int, Design]  # of a kind, in which way
BEATEN = 1.01  # times its largest error, and who has more is not chosen
ENOUGH = 1.003  # of the least error: in which other ways to measure it is not asked
PAYS = 1.001  # a fitted design has this much less squared error than closed forms, or is none

# The plainest first: others are compared with it, and it wins ties.
CANDIDATES: tuple[type[Design], ...] = (Centered, TwoLevel, OptimalWithoutSize)
FITTED: tuple[type[Design], ...] = (Fitted, FittedGroups)


def designs(workload: Workload, budget: Budget, *, known_size: bool = False) -> Iterator[Design]:
    """List every design that applies to a workload, each at the whole budget.

    >>> from halfnoise.workload.numbers import Counts
    >>> [design.name for design in designs(Workload([Counts(9)]), Budget(mu=1.0))]
    ['standard-gaussian', 'correlated-gaussian', 'optimal-gaussian-without-size']
    """
    for noise in Noise:
        pays = noise is Noise.GAUSSIAN or not workload.gaussian_only
        if pays and (amount := noise.amount(budget)) is not None:
            setting = Setting(workload=workload, noise=noise, budget=amount, known_size=known_size)
            yield from _gaussian(setting) if noise is Noise.GAUSSIAN else _closed(setting)


def _gaussian(setting: Setting) -> Iterator[Design]:
    """List closed forms, and fitted designs where these have less error than all of them.

    Fitted ones are not looked for where the bound says that no design has so much less. Where the
    largest error is to be least, the bound also says how goals weigh then. If closed forms of such
    weights are far from it, fitted designs come first; where one has a smaller largest error than
    the mean of theirs, which is less than their largest, those may be rough.
    """
    workload, known, fitted = setting.workload, setting.known_size, list[Design]()
    largest = workload.objective == "largest"
    fair = fairly(workload, setting.budget, known_size=known) if largest else None
    fairly_asked = replace(setting, workload=fair.workload, largest=workload) if fair else setting
    offered = list[Offered]()
    if fair:
        offered = [*_offered(fairly_asked)]
        mean = min((fair.mean(design) for *_, design in offered), default=math.inf)
        enough = ENOUGH * fair.error
        fitted = [*_fitted(fairly_asked, enough)] if mean > NEAR * fair.error else []
        fair = replace(fair, rough=any(design.error(workload) <= mean for design in fitted))
    closed = [*_closed(setting, fair, offered if fair and fair.rough else ())]
    yield from closed
    fit = [design for design in closed if design.gives_size or not workload.needs_sizes]
    best = min(fit, key=lambda design: design.error(workload), default=None)
    least, bound = math.inf if best is None else best.error(workload), None
    if best is not None and not fitted:
        bound = least_error(workload, setting.budget, known_size=known, lines=best.lines)
        if bound is not None and least <= bound * PAYS:
            return
    if largest and fair is None:
        return
    enough = 0.0 if bound is None or largest else ENOUGH * bound
    for design in fitted or _fitted(fairly_asked, enough):
        if design.error(workload) * PAYS < least:
            yield design


def _fitted(setting: Setting, enough: float) -> Iterator[Design]:
    """List fitted designs for which there is a grid."""
    if setting.workload.weight is None:
        offered = itertools.chain(*(_varied(each, setting, enough) for each in FITTED))
        yield from (design for _, design in offered if _fits(design, setting))


def _varied(
    kind: type[Design], setting: Setting, enough: float = 0.0
) -> Iterator[tuple[int, Design]]:
    """List designs of a kind, each measured in the way that is best and has a grid, and which.

    Of which one has as little error as is ``enough``, other ways are not tried.
    """
    found = dict[str, list[tuple[int, Design]]]()
    for way in range(max(block.shape.ways for block in setting.workload.blocks)):
        for design in kind.offers(_in_way(setting, way)):
            found.setdefault(design.name, []).append((way, design))
        every = (design for each in found.values() for _, design in each)
        if any(each.error(setting.workload) <= enough and _fits(each, setting) for each in every):
            break
    for each in found.values():
        first, *more = sorted(each, key=lambda own: own[1].error(setting.workload))
        fit = (own for own in (first, *more) if _fits(own[1], setting))
        yield next(fit, first) if more else first


def _in_way(setting: Setting, way: int) -> Setting:
    """Return the same where the set that may be measured in several ways, if any, is in one."""
    blocks = (replace(b, shape=b.shape.in_way(way)) for b in setting.workload.blocks)
    return replace(setting, varied=tuple(blocks)) if way else setting


def _fits(design: Design, setting: Setting) -> bool:
    """Whether there is a grid for what is measured: rows may need a finer one than closed forms."""
    try:
        design.on_grid(setting.workload, setting.budget)
    except InvalidParameterError:
        return False
    return True


def _closed(
    setting: Setting, fair: Fair | None = None, offered: Sequence[Offered] = ()
) -> Iterator[Design]:
    """List closed forms, each for the objective of the workload.

    Where that is the largest error, those come first that have a small one at once; and what is
    ``offered`` is of fair weights, and may do.
    """
    workload, found = setting.workload, dict[int, Design]()
    offered = offered or [*_offered(setting)]
    if workload.objective == "total":
        return (design for *_, design in offered)
    beaten, ways = math.inf, max(block.shape.ways for block in workload.blocks)
    for at in sorted(range(len(offered)), key=lambda at: offered[at][2].error(workload)):
        candidate, first, design = offered[at]
        for way in (first, 1 - first)[:ways]:  # for other weights there may be a grid in one alone

            def again(
                own: Workload, of: type[Design] = candidate, way: int = way, name: str = design.name
            ) -> Any:
                listed = of.offers(_in_way(replace(setting, workload=own), way))
                return next((each for each in listed if each.name == name), None)

            found[at] = least_largest(design, again, workload, fair, beaten)
            if (fair and fair.rough) or _fits(found[at], setting):
                break
        if found[at].gives_size or not workload.needs_sizes:
            beaten = min(beaten, BEATEN * found[at].error(workload))
    return (found[at] for at in range(len(offered)))


def _offered(setting: Setting) -> Iterator[Offered]:
    weighted = setting.workload.weight is not None
    kinds = (each for each in CANDIDATES if each.takes_weights or not weighted)
    return ((each, *found) for each in kinds for found in _varied(each, setting))
