"""The main job: charge the ledger, centre the sums, add the noise, come back.

Here the public side, the design, meets the private side, the totals. No arrow leads back from
the totals to the design.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.data.sources import Source
from halfnoise.data.totals import prepared
from halfnoise.design.design import Measurement, Recovered
from halfnoise.errors import NotSupportedError
from halfnoise.ledger.booking import Booking
from halfnoise.ledger.terms import Bill
from halfnoise.noise.law import Noise
from halfnoise.planning.choice import WORTH
from halfnoise.planning.outlook import Terms, plan
from halfnoise.planning.plan import Plan
from halfnoise.privacy import words
from halfnoise.privacy.definitions import Privacy
from halfnoise.request import Request
from halfnoise.results import document
from halfnoise.results.inference import Errors, Estimate
from halfnoise.results.release import GroupedRelease, Release
from halfnoise.results.sampled import NO_EFFECTIVE, NO_SIZE
from halfnoise.versions import VERSION
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.groups import Grouping
from halfnoise.workload.listing import Key, Keys
from halfnoise.workload.nested import Nested
from halfnoise.workload.question import SIZE
from halfnoise.workload.tables import Table
from halfnoise.workload.totals import Totals
from halfnoise.workload.workload import Workload

_log = logging.getLogger("halfnoise")
Step = Callable[[str], AbstractContextManager[object]]  # told which step of the work begins


def carry_out(
    source: Source,
    request: Request,
    *,
    booking: Booking | None = None,
    about: Sequence[object] = (),
    step: Step = nullcontext,
) -> Release | GroupedRelease:
    """Do what was asked: plan, charge, add up, add noise, come back, and keep the result.

    ``about``: what the table is, beside the request, that makes it the same one again.
    """
    request.check(counted=source.counted)
    booking = booking or Booking(None)
    asked = booking.asked(request.fingerprint, about)
    stored = booking.stored(asked)
    if stored is not None:
        return read_back(stored, request)
    request, times = shared(request, booking)
    terms: Terms = {"level": request.level, "noise": request.noise, "i_know": request.i_know}
    terms |= {"known_size": request.known_size is not None, "releases": times}
    terms["limit"] = None if booking.charge else booking.limit
    with _timed("planning"):
        planned = plan(request.workload, privacy=request.budget, **terms)
        workload, ready = planned.workload, planned.measurement
    if request.sampling is not None:
        _check_sample(ready, request)
    with _timed("looking at columns"):
        add_up = prepared(source, workload, ready.blocks, request.unit)
    bill = Bill(
        guarantee=ready.guarantee,
        request=asked,
        what=request.what,
        unit=request.unit,
        neighbors=workload.neighbors,
        name=booking.name,
        times=times,
        terms={
            "privacy": words.to_dict(request.budget),
            "noise": ready.design.noise.value,
            "discover_delta": workload.discover_delta,
        },
    )
    if booking.ledger is not None:
        with _timed("charging the budget"):
            booking.make(bill)
    try:
        with step("adding up"), _timed("adding up"):
            totals = add_up()
        with step("adding noise"), _timed("adding noise"):
            release = noisy(planned, ready, totals, request)
        if booking.charge is None:
            return release.with_sampling(request.sampling)
        with _timed("keeping the result"):
            drawn = document.to_keep(release)
            kept = booking.keep(drawn)
    except BaseException as error:
        booking.tell(error)
        raise
    return release.with_sampling(request.sampling) if kept == drawn else read_back(kept, request)


def read_back(kept: bytes, request: Request) -> Release | GroupedRelease:
    """Return a result that was kept, with intervals that cover what is asked now."""
    return document.from_json(kept.decode()).with_sampling(request.sampling)


def _check_sample(ready: Measurement, request: Request) -> None:
    """Refuse, before anything is spent, where the size of a sample would not be known."""
    design, workload = ready.design, request.workload
    known = request.known_size is not None or workload.size_is_public or design.size_is_given
    if not known and design.size_scale is None:
        raise NotSupportedError(NO_SIZE)
    if workload.weight is not None and not workload.effective_size:
        raise NotSupportedError(NO_EFFECTIVE)


def shared(request: Request, booking: Booking) -> tuple[Request, int]:
    """Return a request with its part of the ledger's limit, and of how many it is one.

    Whoever goes on with a charge that stands draws what was charged then.
    """
    workload, standing, noise = request.workload, booking.charge, request.noise
    limit, delta = request.privacy, workload.discover_delta
    if standing is not None:
        limit, noise, delta = standing.agreed
        times = standing.times
    elif request.one_of is None:
        return request, 1
    else:
        times = request.one_of
        agreed = "gaussian" if workload.gaussian_only else noise
        parts = booking.parts(times, agreed, discovers=workload.discovers)
        limit, kept = _better(workload, parts, times)
        delta = kept if workload.discovers and delta is None else delta
    if delta != workload.discover_delta:
        workload = replace(workload, discover_delta=delta)
    given: dict[str, Any] = {"workload": workload, "privacy": limit, "noise": noise}
    return replace(request, **given, one_of=None), times


def _better(
    workload: Workload, parts: Sequence[tuple[Privacy, float | None]], times: int
) -> tuple[Privacy, float | None]:
    """Return the part of a limit that brings less error: each has a place of its own there."""
    if len(parts) == 1:
        return parts[0]
    errors = []
    for privacy, kept in parts:
        own = replace(workload, discover_delta=kept) if workload.discovers else workload
        chosen = plan(own, privacy=privacy, releases=times, i_know=True).chosen
        worth = WORTH if chosen.noise is Noise.GAUSSIAN else 1.0
        errors.append(worth * chosen.error(workload) ** 0.5)
    return parts[errors.index(min(errors))]


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
    noise, shapes = measurement.design.noise, measurement.shapes(len(totals.people))
    # Drawn first: whatever stops that, no traceback with locals shows what is exact.
    wanted = zip(measurement.scales, shapes, strict=True)
    drawn = [noise.draw(np.broadcast_to(scales, shape)) for scales, shape in wanted]
    exact = measurement.measure(totals)
    fits = [ring.shape for ring in exact] == shapes
    rings = [ring + each.view(np.uint64) for ring, each in zip(exact, drawn, strict=True) if fits]
    del drawn, exact  # as large as all groups
    if not fits:  # several numbers would have had one noise
        raise AssertionError
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
    template: Release,
    grouping: Grouping,
    ready: Measurement,
    rings: list[Ring],
    found: Sequence[Key] | None,
) -> GroupedRelease:
    """Come back to the groups that are listed, or to those found that pass the threshold."""
    if found is None:
        keys = grouping.released
    else:
        keys, places = _passed(grouping, found, ready.passed(rings))
        rings = [ring[places] for ring in rings]
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
        between=design.between,
        people=people,
        most=grouping.most,
        discovered=grouping.discovers,
    )


def _passed(
    grouping: Grouping, found: Sequence[Key], passed: Sequence[int]
) -> tuple[Keys, NDArray[np.intp]]:
    """Return the keys that passed the threshold, in order, and where each was found."""
    kept = Keys.of(found, len(grouping.by)).at(passed)
    order = grouping.in_order(kept)
    return grouping.shown(kept.at(order)), np.array(passed, dtype=np.intp)[order]


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
            **plan.certified,
            "noise": design.noise.value,
            "neighbors": workload.neighbors.value,
            "grid": measurement.facts,
        },
        "unit": list(request.unit) or "row",
        "version": VERSION,
    }
    asked = [query for query in workload.queries if isinstance(query, ColumnQuery)]
    conditions = {query.label: str(query.where) for query in asked if query.where is not None}
    if (weight := workload.weight) is not None:
        facts["weight"] = {"column": weight.column, "bounds": [*weight.bounds]}
    facts |= {"where": [*map(str, workload.who)]} if workload.who else {}
    facts |= {"only": conditions} if conditions else {}
    tables = (query for query in workload.queries if isinstance(query, Table))
    in_tables = [attribute for table in tables for attribute in table.own]
    places = (each for each in (*workload.queries, *in_tables) if isinstance(each, Nested))
    levels = [level for nested in places for level in nested.choices]
    facts["meaning"] = {
        query.label: query.meaning
        for query in (
            *asked,
            *levels,
            *(each for each in in_tables if not isinstance(each, Nested)),
        )
        if isinstance(query.column, str)  # an expression has no words of its own
    }
    facts |= {"spec": request.spec} if request.spec else {}
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
