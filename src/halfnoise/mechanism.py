"""The main job: charge the ledger, centre the sums, add the noise, come back.

Here the public side, the design, meets the private side, the totals. No arrow leads back from
the totals to the design.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from halfnoise.checks import known_keywords, refuse
from halfnoise.data.sources import Source, open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.design.design import Measurement, Recovered
from halfnoise.errors import InvalidParameterError
from halfnoise.files import paths_in
from halfnoise.ledger.protocol import Ledger
from halfnoise.planning.outlook import Terms, plan
from halfnoise.planning.plan import Plan
from halfnoise.privacy.definitions import Privacy
from halfnoise.request import Request
from halfnoise.results.inference import Errors, Estimate
from halfnoise.results.release import GroupedRelease, Release
from halfnoise.spec.header import Header
from halfnoise.spec.toml import beside, read_spec, said_in_python
from halfnoise.spec.words import read, text_format
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.groups import By, Columns, Grouping, Key, in_order
from halfnoise.workload.queries import Query
from halfnoise.workload.question import SIZE
from halfnoise.workload.totals import Totals
from halfnoise.workload.workload import Rules, Workload

_log = logging.getLogger("halfnoise")
Step = Callable[[str], AbstractContextManager[object]]  # told which step of the work begins
Keys = tuple[Key, ...] | None  # of the groups that were found
Named = str | By | Sequence[str | By]  # the columns that name groups


class Options(TypedDict, total=False):
    """What ``release`` takes beside queries and the rules for them."""

    privacy: Privacy | None
    unit: str | Sequence[str] | None
    row_is_person: bool
    known_size: float | None
    level: float | None
    noise: str | None
    i_know: bool
    ledger: Ledger | None
    text: TextFormat | None
    parameters: Mapping[str, str] | None
    step: Step


class OptionsAndRules(Options, Rules, total=False):
    """The same where the queries are a list."""


@overload
def release(
    data: object,
    queries: Sequence[Query],
    *,
    spec: None = None,
    by: None = None,
    **options: Unpack[OptionsAndRules],
) -> Release: ...
@overload
def release(
    data: object,
    queries: Sequence[Query],
    *,
    spec: str | Path | None = None,
    by: Named,
    **options: Unpack[OptionsAndRules],
) -> GroupedRelease: ...
@overload
def release(
    data: object, queries: Workload, *, spec: str | Path | None = None, **options: Unpack[Options]
) -> Release | GroupedRelease: ...
@overload
def release(
    data: object,
    queries: Sequence[Query] | None = None,
    *,
    spec: str | Path,  # where groups may stand
    by: Columns = None,
    **options: Unpack[OptionsAndRules],
) -> Release | GroupedRelease: ...
@known_keywords
def release(  # noqa: PLR0913  # the face of the library
    data: object,
    queries: Sequence[Query] | Workload | None = None,
    *,
    privacy: Privacy | None = None,
    unit: str | Sequence[str] | None = None,
    row_is_person: bool = False,
    by: Columns = None,
    known_size: float | None = None,
    level: float | None = None,
    noise: str | None = None,
    i_know: bool = False,
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
    ``known_size``: the number of people in the table, if it is public. ``noise``: "gaussian" or
    "laplace"; ``i_know``: allow a budget that protects hardly anybody. ``text``: what text files
    look like. ``rules``: those of ``Workload`` (``where``, ``neighbors``, ``groups``,
    ``max_groups``, ``at_most``, ``importance``, ...). ``spec``: a TOML file with all this, and
    ``parameters`` to fill; what is said here too wins over it, and its other rules stay.

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
    if not isinstance(text, TextFormat | None):
        raise refuse("text", "a TextFormat", text, "for example TextFormat(encoding='latin-1')")
    if ledger is not None and not hasattr(ledger, "charge"):
        raise refuse("ledger", "something that can be charged, or None", ledger)
    files = paths_in(data)
    words = {} if spec is None else read_spec(spec, parameters or {}, files)
    given: dict[str, Any] = {"privacy": privacy, "known_size": known_size, "level": level}
    given |= {"noise": noise, "i_know": None if i_know is False else i_know}
    given = {name: value for name, value in given.items() if value is not None}
    if unit or row_is_person:
        given["unit"] = (unit,) if isinstance(unit, str) else tuple(unit or ())
        given["row_is_person"] = row_is_person
    own: dict[str, Any] = {**rules} if by is None else {"by": by, **rules}
    with open_source(data, text=text or text_format(words)) as source:
        if spec is not None:
            left = beside(words, said_in_python([*given, *own], queries=queries is not None))
            stored = read(left, Header.of(source), files, asked=queries, rules=own)
            request = replace(stored, **given)
            if words.get("known-size") == "" and request.known_size is None:
                raise InvalidParameterError("known-size of the spec needs the number of people")
        elif queries is not None:
            request = Request(workload=Workload.of(queries, **own), **given)
        else:
            raise InvalidParameterError("queries must be given, here or in a spec; got none")
        return carry_out(source, request, ledger=ledger, step=step)


def carry_out(
    source: Source, request: Request, *, ledger: Ledger | None = None, step: Step = nullcontext
) -> Release | GroupedRelease:
    """Do what was asked: plan, charge, add up, add noise, come back."""
    request.check(counted=source.counted)
    workload = request.workload
    terms: Terms = {"level": request.level, "noise": request.noise, "i_know": request.i_know}
    terms["known_size"] = request.known_size is not None
    with _timed("planning"):
        planned = plan(workload, privacy=request.budget, **terms)
        ready = planned.measurement
    with _timed("looking at columns"):
        add_up = prepared(source, workload, ready.blocks, request.unit)
    if ledger is not None:
        with _timed("charging the budget"):
            ledger.charge(ready.guarantee)
    with step("adding up"), _timed("adding up"):
        totals = add_up()
    with step("adding noise"), _timed("adding noise"):
        return noisy(planned, ready, totals, request)


@contextmanager
def _timed(step: str) -> Iterator[None]:
    """Log a step and how long it took; nothing that depends on data otherwise."""
    began, done = time.perf_counter(), "failed"
    try:
        yield
        done = "done"
    finally:
        _log.info("%s: %s after %.3f s", step, done, time.perf_counter() - began)


def noisy(
    plan: Plan, measurement: Measurement, totals: Totals, request: Request
) -> Release | GroupedRelease:
    """Add the noise and come back: the one place where totals turn into a release."""
    noise, shapes = measurement.design.noise, [ring.shape for ring in measurement.measure(totals)]
    # Drawn first: whatever stops that, no traceback with locals shows what is exact.
    wanted = zip(measurement.scales, shapes, strict=True)
    drawn = [noise.draw(np.broadcast_to(scales, shape)) for scales, shape in wanted]
    exact = zip(measurement.measure(totals), drawn, strict=True)
    rings = [ring + each.view(np.uint64) for ring, each in exact]
    template = _template(plan, measurement, request)
    grouping = plan.workload.grouping
    if grouping is not None:
        return _in_groups(template, grouping, measurement, rings, totals.keys)
    public = plan.workload.size_is_public
    # A number that is given is never computed; where none needs to be, no row can change it.
    given_size = request.known_size
    known = float(totals.people[0]) if public and given_size is None else given_size
    back = measurement.recover(rings, known)
    values, given = _with_sizes(back)[0].copy(), public or measurement.design.size_is_given
    release = replace(template, values=values, known_size=known if given else None)
    if known is None or given:
        return release
    # A design that does not use a known number of people may still have measured it.
    measured = back.sizes is not None
    return release.with_known_size(known) if measured else replace(release, known_size=known)


def _in_groups(
    template: Release, grouping: Grouping, ready: Measurement, rings: list[Ring], found: Keys
) -> GroupedRelease:
    """Come back to the groups that are listed, or to those found that pass the threshold."""
    keys = grouping.released
    if found is not None:
        passed = sorted(ready.passed(rings), key=lambda place: in_order(found[place]))
        keys = tuple(found[place] for place in passed)
        rings = [ring[np.array(passed, dtype=np.intp)] for ring in rings]
    back, design = ready.recover(rings), ready.drawn
    people = None
    if back.people is not None and design.people_std is not None:
        x, std = back.people, design.people_std
        margin = design.noise.margin([std], template.level)
        people = Estimate(name=SIZE, estimate=x, std=std, low=x - margin, high=x + margin)
    return GroupedRelease(
        template=template,
        by=grouping.by,
        group_keys=keys,
        values=_with_sizes(back),
        common=design.common,
        people=people,
        most=grouping.most,
        discovered=grouping.discovers,
    )


def _with_sizes(back: Recovered) -> Floats:
    """Return a row of estimates for each group, the number of people last where it was measured."""
    return np.column_stack([back.estimates, *([] if back.sizes is None else [back.sizes])])


def _template(plan: Plan, measurement: Measurement, request: Request) -> Release:
    """Return a release that says all it has to say beside its values, which are still zero."""
    design, workload, groups = measurement.drawn, plan.workload, plan.workload.grouping
    facts: dict[str, Any] = {
        "design": {
            "name": design.name,
            "why": plan.why,
            "noise": design.noise.value,
            "neighbors": workload.neighbors.value,
            "grid": measurement.facts,
        },
        "unit": list(request.unit) or "row",
        "version": version("halfnoise"),
    }
    asked = [query for query in workload.queries if isinstance(query, ColumnQuery)]
    conditions = {query.label: str(query.where) for query in asked if query.where is not None}
    facts |= {"where": [*map(str, workload.who)]} if workload.who else {}
    facts |= {"only": conditions} if conditions else {}
    if groups is not None:
        size = None if measurement.threshold is None else measurement.threshold.size
        facts["grouping"] = {"other": groups.other, "max_groups": groups.most, "threshold": size}
    return Release(
        questions=workload.questions,
        values=np.zeros(design.covariance.size),
        errors=Errors(design.noise, design.covariance),
        guarantee=measurement.guarantee,
        privacy=plan.privacy,
        level=plan.level,
        facts=facts,
    )
