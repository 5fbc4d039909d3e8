"""The main job: charge the ledger, centre the sums, add the noise, come back.

Here the public side, the design, meets the private side, the totals. No arrow leads back from
the totals to the design.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from halfnoise.checks import known_keywords
from halfnoise.data.sources import Source, open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import Totals, prepared
from halfnoise.design.measurement import Floats, OnGrid, Recovered, Ring
from halfnoise.errors import InvalidParameterError
from halfnoise.ledger.protocol import Ledger
from halfnoise.noise import rounded_gaussian, rounded_laplace
from halfnoise.noise.law import Noise
from halfnoise.planning.gridded import grid_for
from halfnoise.planning.plan import Plan, plan, size_is_public
from halfnoise.privacy.definitions import Privacy
from halfnoise.request import Request
from halfnoise.results.grouped import GroupedRelease
from halfnoise.results.inference import Errors, Estimate
from halfnoise.results.release import Release
from halfnoise.results.table import SIZE, Question
from halfnoise.spec.toml import read_spec
from halfnoise.spec.words import read, text_format
from halfnoise.workload.categories import Choice
from halfnoise.workload.groups import By, Columns, Grouping, Key, in_order
from halfnoise.workload.queries import Query
from halfnoise.workload.sets import Answered, Box
from halfnoise.workload.workload import Rules, Workload

Step = Callable[[str], AbstractContextManager[object]]
"""Told which step of the work begins."""


class Options(TypedDict, total=False):
    """What ``release`` takes beside queries and the rules for them."""

    privacy: Privacy | None
    unit: str | Sequence[str] | None
    row_is_person: bool
    known_size: float | None
    level: float | None
    ledger: Ledger | None
    text: TextFormat | None
    spec: str | Path | None
    parameters: Mapping[str, str] | None
    step: Step


class OptionsAndRules(Options, Rules, total=False):
    """The same where the queries are a list."""


@overload
def release(
    data: object, queries: Sequence[Query], *, by: None = None, **options: Unpack[OptionsAndRules]
) -> Release: ...
@overload
def release(
    data: object,
    queries: Sequence[Query],
    *,
    by: str | By | Sequence[str | By],
    **options: Unpack[OptionsAndRules],
) -> GroupedRelease: ...
@overload
def release(
    data: object, queries: Workload | None = None, **options: Unpack[Options]
) -> Release | GroupedRelease: ...
@known_keywords
def release(  # noqa: PLR0913
    data: object,
    queries: Sequence[Query] | Workload | None = None,
    *,
    privacy: Privacy | None = None,
    unit: str | Sequence[str] | None = None,
    row_is_person: bool = False,
    by: Columns = None,
    known_size: float | None = None,
    level: float | None = None,
    ledger: Ledger | None = None,
    text: TextFormat | None = None,
    spec: str | Path | None = None,
    parameters: Mapping[str, str] | None = None,
    step: Step = nullcontext,
    **rules: Unpack[Rules],
) -> Release | GroupedRelease:
    """Release a private table of counts, sums and means.

    ``data``: a path to CSV, TSV, JSON lines or Parquet, several of them, or a pandas, Polars,
    PyArrow, DuckDB, PySpark or Ibis table. ``unit``: the column, or columns, that say whom a row is
    about; or ``row_is_person=True``. ``by``: the column, or columns, that say which group a row is
    in, with ``groups`` to list the groups; the result then has a release for each of them.
    ``known_size``: the number of people, if it is public. ``text``: what text files look like.
    ``rules``: those of ``Workload`` (``neighbors``, ``groups``, ``max_groups``, ``at_most``,
    ``importance``, ...). ``spec``: a TOML file that says all of this, with
    ``parameters`` to fill; what is said here too wins over it.

    **Guarantee.** The result satisfies ``result.guarantee`` with respect to adding or removing (or
    replacing) all rows of one unit: the centred design of lem:release-of-injection, its loss proved
    for the grid, on exact integers, with noise that is exactly the rounded Gaussian or Laplace
    given ideal random bits. Rows cannot raise errors, and the design depends on none.

    >>> import polars as pl, halfnoise as hn
    >>> survey = pl.DataFrame({"smoker": [True, False, True] * 1000})
    >>> table = hn.release(survey, [hn.Count("smoker")], row_is_person=True,
    ...                    privacy=hn.GaussianDP(mu=1))
    >>> 1900 < table["smoker"].estimate < 2100
    True
    >>> table = hn.release(survey, [hn.Count("smoker")], row_is_person=True,
    ...                    by="smoker", groups=[True, False], privacy=hn.GaussianDP(mu=1))
    >>> list(table), 1900 < table[True]["smoker"].estimate < 2100
    ([True, False, 'other'], True)
    """
    words = {} if spec is None else read_spec(spec, parameters or {})
    given: dict[str, Any] = {"privacy": privacy, "known_size": known_size, "level": level}
    given = {name: value for name, value in given.items() if value is not None}
    if unit or row_is_person:
        given["unit"] = (unit,) if isinstance(unit, str) else tuple(unit or ())
        given["row_is_person"] = row_is_person
    with open_source(data, text=text or text_format(words)) as source:
        stored = None if spec is None else read(words, source.columns)
        if queries is None:
            if stored is None:
                raise InvalidParameterError("queries must be given, here or in a spec; got none")
            queries = stored.workload
        given["workload"] = Workload.of(queries, by, **rules)
        request = Request(**given) if stored is None else replace(stored, **given)
        return carry_out(source, request, ledger=ledger, step=step)


def carry_out(
    source: Source, request: Request, *, ledger: Ledger | None = None, step: Step = nullcontext
) -> Release | GroupedRelease:
    """Do what was asked: plan, charge, add up, add noise, come back."""
    request.check()
    planned = plan(
        request.workload,
        privacy=request.budget,
        known_size=request.known_size is not None,
        level=request.level,
    )
    grid = grid_for(planned)
    add_up = prepared(source.of(request.columns), request.workload, grid, request.unit)
    if ledger is not None:
        ledger.charge(grid.guarantee)
    with step("adding up"):
        exact = add_up()
    with step("adding noise"):
        return noisy(planned, grid, exact, request)


def noisy(found: Plan, grid: OnGrid, exact: Totals, asked: Request) -> Release | GroupedRelease:
    """Add the noise and come back: the one place where totals turn into a release."""
    draw = rounded_gaussian if grid.design.noise is Noise.GAUSSIAN else rounded_laplace
    measured = grid.measure(exact.sums, exact.people, exact.everyone)
    rings = [
        ring + np.asarray(draw(np.broadcast_to(scales, ring.shape))).view(np.uint64)
        for ring, scales in zip(measured, grid.scales, strict=True)
    ]
    if found.workload.grouping is not None:
        return _in_groups(found, grid, rings, exact.keys, asked)
    public = size_is_public(found.workload)
    known = float(exact.people[0]) if public else asked.known_size
    back = grid.recover(rings, known)
    given = public or grid.design.size_is_given
    made = Release(
        values=_with_sizes(back)[0].copy(),
        known_size=known if given else None,
        **_public(found, grid, asked),
    )
    if known is None or given:
        return made
    # A design that does not use a known number of people may still have measured it.
    return (
        made.with_known_size(known) if back.sizes is not None else replace(made, known_size=known)
    )


def _in_groups(
    found: Plan,
    grid: OnGrid,
    rings: list[Ring],
    keys: tuple[Key, ...] | None,
    asked: Request,
) -> GroupedRelease:
    """Come back to the groups that are listed, or to those of all that pass the threshold."""
    grouping = found.workload.grouping
    assert grouping is not None  # noqa: S101
    if keys is None:
        keys = grouping.released
    else:
        assert grid.threshold is not None  # noqa: S101
        passed = [(keys[place], place) for place in grid.threshold.passed(rings[0][:, -1])]
        passed.sort(key=lambda each: in_order(each[0]))
        keys = tuple(key for key, _ in passed)
        rings = [rings[0][np.array([place for _, place in passed], dtype=np.intp)]]
    back = grid.recover(rings)
    people = None
    if back.people is not None and grid.design.people_std is not None:
        x, std = back.people, grid.design.people_std
        margin = grid.design.noise.margin([std], found.level)
        people = Estimate(name=SIZE, estimate=x, std=std, low=x - margin, high=x + margin)
    return GroupedRelease(
        by=grouping.by,
        group_keys=keys,
        values=_with_sizes(back),
        common=grid.design.common,
        people=people,
        most=grouping.most,
        discovered=grouping.discovers,
        **_public(found, grid, asked),
    )


def _with_sizes(back: Recovered) -> Floats:
    """Return a row of estimates for each group, the number of people last where it was measured."""
    sizes = [] if back.sizes is None else [back.sizes]
    return np.column_stack([back.estimates, *sizes])


def _public(found: Plan, grid: OnGrid, asked: Request) -> dict[str, Any]:
    """Return what a release says beside its values."""
    return {
        "questions": tuple(_questions(found.workload)),
        "errors": Errors(grid.design.noise, grid.design.covariance),
        "guarantee": grid.guarantee,
        "privacy": found.privacy,
        "level": found.level,
        "facts": _facts(found, grid, asked.unit),
    }


def _questions(workload: Workload) -> list[Question]:
    """Return the queries in the order of their estimates."""
    found = []
    start = 0
    for block in workload.blocks:
        for query in block.asked:
            names = query.names
            shape = query.shape
            bounds = (shape.low, shape.high) if isinstance(shape, Box | Answered) else None
            other = query.categories.index(query.other) if isinstance(query, Choice) else None
            found.append(
                Question(
                    name=query.label,
                    kind=block.kind,
                    start=start,
                    names=names,
                    bounds=bounds,
                    other=other,
                )
            )
            start += len(names)
    return found


def _facts(found: Plan, grid: OnGrid, units: Sequence[str]) -> Mapping[str, Any]:
    """Return what else is public and worth keeping."""
    steps = [str(step) for block in grid.blocks for step in block.steps]
    grouping = found.workload.grouping
    return {
        "design": {
            "name": grid.design.name,
            "why": found.why,
            "noise": grid.design.noise.value,
            "neighbors": found.workload.neighbors.value,
            "grid": {
                "units": [str(block.unit) for block in grid.blocks],
                "steps": steps,
                "people": None if grid.root_step is None else str(grid.root_step),
            },
        },
        "unit": list(units) or "row",
        "version": version("halfnoise"),
        **({} if grouping is None else {"grouping": _rules(grouping, grid)}),
    }


def _rules(grouping: Grouping, grid: OnGrid) -> dict[str, Any]:
    """Return by which rules people are in groups."""
    return {
        "other": grouping.other,
        "max_groups": grouping.most,
        "threshold": None if grid.threshold is None else grid.threshold.size,
    }
