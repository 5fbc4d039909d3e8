"""The main job: charge the ledger, centre the sums, add the noise, come back.

Here the public side, the design, meets the private side, the totals. No arrow leads back from
the totals to the design.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from halfnoise.checks import positive, refuse
from halfnoise.data.sources import TextFormat, open_source
from halfnoise.data.totals import Totals, prepared
from halfnoise.design import Noise
from halfnoise.design.grid import OnGrid, on_grid
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.flags import nameless
from halfnoise.inference import Errors
from halfnoise.noise import rounded_gaussian, rounded_laplace
from halfnoise.planning import Plan, plan, size_is_public
from halfnoise.privacy import GaussianDP, Privacy, PureDP
from halfnoise.queries import Choice, Counts, Query
from halfnoise.result import Question, Release
from halfnoise.shapes import Answered, Box
from halfnoise.spec import Request, Words, read_spec, request
from halfnoise.workload import Workload


class Ledger(Protocol):
    """Where a release is charged before any row is read."""

    def charge(self, guarantee: GaussianDP | PureDP) -> None:
        """Take the amount from the budget, or refuse."""


Step = Callable[[str], AbstractContextManager[object]]
"""Told which step of the work begins."""


def release(  # noqa: PLR0913
    data: object,
    queries: Sequence[Query] | Workload | None = None,
    *,
    privacy: Privacy | None = None,
    unit: str | Sequence[str] | None = None,
    row_is_person: bool = False,
    known_size: float | None = None,
    level: float | None = None,
    ledger: Ledger | None = None,
    text: TextFormat | None = None,
    spec: str | Path | None = None,
    parameters: Mapping[str, str] | None = None,
    step: Step = nullcontext,
    **rules: Any,  # noqa: ANN401
) -> Release:
    """Release a private table of counts, sums and means.

    ``data``: a path to CSV, TSV, JSON lines or Parquet, several of them, or a pandas, Polars,
    PyArrow, DuckDB, PySpark or Ibis table. ``unit``: the column, or columns, that say whom a row is
    about; or ``row_is_person=True``. ``known_size``: the number of people, if it is public.
    ``text``: what text files look like. ``rules``: those of ``Workload`` (``neighbors``,
    ``at_most``, ``importance``, ...). ``spec``: a TOML file that says all of this, with
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
    """
    asked = None if spec is None else ask(read_spec(spec, parameters or {}), data, text)
    if asked is not None:
        queries = asked.workload if queries is None else queries
        privacy = privacy or asked.privacy
        unit = unit or asked.unit or None
        row_is_person = row_is_person or (asked.row_is_person and unit is None)
        known_size = asked.known_size if known_size is None else known_size
        level = asked.level if level is None else level
        text = text or asked.text
    if queries is None:
        raise InvalidParameterError("queries must be given, here or in a spec; got none")
    if rules and isinstance(queries, Workload):
        raise InvalidParameterError(
            f"{min(rules)} is a rule of the workload, which is given whole; say it there"
        )
    wanted = Request(
        workload=queries if isinstance(queries, Workload) else Workload(queries, **rules),
        privacy=privacy,
        unit=(unit,) if isinstance(unit, str) else tuple(unit or ()),
        row_is_person=row_is_person,
        known_size=known_size,
        level=0.95 if level is None else level,
        text=text or TextFormat(),
    )
    return carry_out(data, wanted, ledger=ledger, step=step)


def ask(words: Words, data: object, text: TextFormat | None = None) -> Request:
    """Read what was said of a table: what it names must be in the header; no row is read."""
    asked = request(words)
    with open_source(data, text=text or asked.text, columns=["any"]) as source:
        # Without a header any column may be there, and a pattern matches none.
        asked = request(words, [] if source.headless else list(source.dtypes))
        if not source.headless:
            named = [query for query in asked.workload.queries if not nameless(query)]
            source.check([*(name for query in named for name in query.columns), *asked.unit])
    return asked


def carry_out(
    data: object, asked: Request, *, ledger: Ledger | None = None, step: Step = nullcontext
) -> Release:
    """Do what was asked: plan, charge, add up, add noise, come back."""
    workload = asked.workload
    if workload.grouped:
        raise NotSupportedError("groups can be planned but not released yet; leave groups out")
    check_people(asked)
    found = plan(
        workload,
        privacy=_budget(asked),
        known_size=asked.known_size is not None,
        level=asked.level,
    )
    grid = grid_for(found)
    columns = [*(c for query in workload.queries for c in query.columns), *asked.unit]
    with open_source(data, text=asked.text, columns=columns) as source:
        source.check(columns)
        read = prepared(source, workload, grid, asked.unit)
        if ledger is not None:
            ledger.charge(grid.design.guarantee)
        with step("adding up"):
            exact = read()
    with step("adding noise"):
        return noisy(found, grid, exact, asked)


def grid_for(found: Plan) -> OnGrid:
    """Return the chosen design of a plan on its grid."""
    budget = found.privacy.budget(found.releases)
    gaussian = found.chosen.noise is Noise.GAUSSIAN
    amount = budget.mu if gaussian else budget.epsilon
    assert amount is not None  # noqa: S101
    return on_grid(found.workload, found.chosen, amount)


def noisy(found: Plan, grid: OnGrid, exact: Totals, asked: Request) -> Release:
    """Add the noise and come back: the one place where totals turn into a release."""
    draw = rounded_gaussian if grid.design.noise is Noise.GAUSSIAN else rounded_laplace
    measured = grid.measure(exact.sums, exact.people)
    noise = draw(np.broadcast_to(grid.scales, measured.shape))
    known = asked.known_size
    if size_is_public(found.workload):
        known = float(exact.people[0])
    estimates, size = grid.recover(measured + np.asarray(noise).view(np.uint64), known)
    values = estimates[0] if size is None else np.append(estimates[0], size[0])
    public = size_is_public(found.workload) or grid.design.name == "known-size-gaussian"
    made = Release(
        questions=tuple(_questions(found.workload)),
        values=values,
        errors=Errors(grid.design.noise, grid.design.covariance),
        guarantee=grid.design.guarantee,
        privacy=found.privacy,
        level=found.level,
        known_size=known if public else None,
        facts=_facts(found, grid, asked.unit),
    )
    if known is None or public:
        return made
    # A design that does not use a known number of people may still have measured it.
    return made.with_known_size(known) if size is not None else replace(made, known_size=known)


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
    }


def check_people(asked: Request) -> None:
    """Refuse a request that does not say who is one person, or that counts who somebody is."""
    queries, unit = asked.workload.queries, asked.unit
    for query in queries:
        if isinstance(query, Counts):
            raise InvalidParameterError(
                f"{query.label!r} is for planning alone; to release, name columns: Count('smoker')"
            )
    if asked.row_is_person and unit:
        raise InvalidParameterError("give unit or row_is_person, not both: they exclude each other")
    if not asked.row_is_person and not unit:
        raise InvalidParameterError(
            "who is one person is never guessed: name the column that says whom a row is about"
            " (--unit person_id, unit='person_id'), or say that each row is another person"
            " (--row-is-person, row_is_person=True)"
        )
    for column in unit:
        if not isinstance(column, str) or not column:
            raise refuse("unit", "a column's name, or several", column)
        if any(column in query.columns for query in queries):
            raise InvalidParameterError(
                f"{column!r} is the unit and a query's column at once; a name or number that says"
                " who somebody is cannot be counted"
            )
    if asked.known_size is not None:
        positive(known_size=asked.known_size)


def _budget(asked: Request) -> Privacy:
    if asked.privacy is None:
        raise InvalidParameterError(
            "the budget is missing; say how much may be spent: --epsilon 1 --delta 1e-6, or"
            " privacy=ApproxDP(epsilon=1, delta=1e-6) (a plan shows what each budget brings)"
        )
    return asked.privacy
