"""What to expect of a budget, of several budgets, and which budget a margin needs."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, Unpack, overload

from halfnoise.checks import fraction, known_keywords, level_of, positive, refuse, whole, yes_or_no
from halfnoise.design.candidates import designs
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.planning.accept import Acceptance, Target
from halfnoise.planning.kinds import noise_of
from halfnoise.planning.plan import Plan
from halfnoise.planning.readers import mean_margins
from halfnoise.planning.search import LEAST, MOST, smallest
from halfnoise.planning.spending import Spending
from halfnoise.planning.tables import by_line, crosses, widest
from halfnoise.privacy.allowance import Allowance
from halfnoise.privacy.definitions import ApproxDP, Privacy
from halfnoise.privacy.reason import KNOW, MOST_EPSILON, check_reason
from halfnoise.text import at_most, percent, short
from halfnoise.values import asdict, dataclass, replace
from halfnoise.views import Grid, Planned
from halfnoise.workload.listing import Columns
from halfnoise.workload.queries import Asked
from halfnoise.workload.rules import Rules
from halfnoise.workload.workload import Workload

Queries: TypeAlias = Workload | Sequence[Asked]
EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)  # what a plan without a budget compares
DELTA = 1e-6  # where none is stated
OF_MEANS = "that of a mean is the one of its sum over all people"


class Terms(Rules, total=False):
    """The terms of a plan as keywords; ``plan`` says what each of them means."""

    releases: int
    known_size: bool
    level: float
    noise: str | None
    i_know: bool
    limit: Privacy | Allowance | None
    by: Columns


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outlook(Planned):
    """What each of several budgets would bring: the answer to "which epsilon?"; ``print`` it.

    >>> from halfnoise import Counts, Workload, plan
    >>> print(plan(Workload([Counts(100)])).table().splitlines()[3])
    1             54.8%       ±45.5
    """

    workload: Workload
    delta: float
    plans: tuple[Plan, ...]

    def grid(self) -> Grid:
        """Return budgets, what each is worth, and margins of error."""
        if crosses(self.workload):
            header = ["epsilon", *(f"{epsilon:g}" for epsilon in EPSILONS)]
            margins = zip(*map(_margins, self.plans), strict=True)
            cells = [[f"±{short(margin)}" for margin in each] for each in margins]
            last = ["best guess", *(at_most(p.best_guess) for p in self.plans)]
            return by_line(self.workload.blocks, header, cells, last)
        header = ["epsilon", "best guess", *(line.heading for line in self.workload.lines)]
        rows = [
            [f"{epsilon:g}", at_most(p.best_guess), *(f"±{short(each)}" for each in _margins(p))]
            for epsilon, p in zip(EPSILONS, self.plans, strict=True)
        ]
        return header, rows

    def __repr__(self) -> str:
        one = self.plans[0]
        split = "" if one.releases == 1 else f" split over {one.releases} equal releases"
        at = f"at delta {self.delta:g}, with margins at {percent(one.level)}"
        lines = [
            f"{self.workload.words}\nWhat a budget{split} buys {at}.",
            f"Best guess: how often the best guess {self.workload.protected} is right at most;",
            f"a coin flip is right in 50% of cases.\n\n{self.table()}\n",
        ]
        return "\n".join([*lines, *one.notes()])

    def to_dict(self) -> dict[str, Any]:
        """Return the outlook as plain values, ready for JSON."""
        return {"delta": self.delta, "plans": [each.to_dict() for each in self.plans]}


def _margins(plan: Plan) -> tuple[float, ...]:
    return mean_margins(plan.chosen, plan.level, plan.in_one_group)


@overload
def plan(
    workload: Queries, *, privacy: Privacy, people: float | None = None, **terms: Unpack[Terms]
) -> Plan: ...
@overload
def plan(
    workload: Queries,
    *,
    privacy: None = None,
    delta: float = DELTA,
    people: float | None = None,
    accept: None = None,
    **terms: Unpack[Terms],
) -> Outlook: ...
@overload
def plan(
    workload: Queries,
    *,
    delta: float = DELTA,
    people: float,
    accept: float,
    ceiling: float | None = None,
    **terms: Unpack[Terms],
) -> Acceptance: ...
@known_keywords
def plan(  # noqa: PLR0913  # the face of the library
    workload: Queries,
    *,
    privacy: Privacy | None = None,
    delta: float = DELTA,
    releases: int = 1,
    known_size: bool = False,
    level: float = 0.95,
    noise: str | None = None,
    i_know: bool = False,
    limit: Privacy | Allowance | None = None,
    people: float | None = None,
    accept: float | None = None,
    ceiling: float | None = None,
    by: Columns = None,
    **rules: Unpack[Rules],
) -> Plan | Outlook | Acceptance:
    """Return every design that applies with its error, and the best one for the stated importance.

    Without ``privacy``: what a range of budgets would bring, at a stated ``delta``. ``releases``:
    the budget is split over so many equal releases. ``known_size``: the number of people is public
    and will be given, not computed from the table. ``noise``: "gaussian" or "laplace"; unless
    given, Laplace noise is taken for pure epsilon, and beside a delta where it has a fifth less
    standard error than Gaussian noise, at least. ``i_know``: allow budgets that protect hardly
    anybody. ``limit``: that of the ledger which will be charged; both kinds of noise are then
    compared at equal cost there. ``people``: how many there may be, with weights their
    sum, to see margins of means as means, and which tables would be mostly noise. ``accept``: with
    ``people`` and without ``privacy``, how far shares may be off, and means relative to their
    range: what readers will see at several budgets, and the smallest that will do, above epsilon
    ``ceiling`` (3) with a warning; where shares need it, with a ``size_importance`` of 1.
    ``by`` and ``rules``: those of ``Workload``, where the queries are a list.

    **Guarantee.** A plan sees no data. Every design in it is proved to cost at most the budget.

    >>> from halfnoise import ApproxDP, Count, Counts, plan
    >>> best = plan([Count("smoker")], privacy=ApproxDP(epsilon=1, delta=1e-6))
    >>> best.chosen.name, round(best.chosen.query_std[0], 3)
    ('standard-laplace', 1.414)
    >>> plan([Counts(9)], privacy=ApproxDP(epsilon=1, delta=1e-6)).chosen.name
    'correlated-gaussian'
    """
    workload = Workload.of(workload, by, **rules)
    if known_size and workload.grouped:
        raise NotSupportedError(
            "known_size is the size of a whole table; with groups leave it out, and use"
            " release[key].with_known_size afterwards"
        )
    _check_definitions(privacy, limit, accept, ceiling)
    if privacy is None:
        shared: Terms = {"releases": releases, "known_size": known_size, "level": level}
        shared |= {"noise": noise, "i_know": i_know, "limit": limit}
        budgets = [ApproxDP(epsilon=epsilon, delta=delta) for epsilon in EPSILONS]
        plans = tuple(plan(workload, privacy=each, people=people, **shared) for each in budgets)
        if accept is None:
            return Outlook(workload=workload, delta=delta, plans=plans)
        most = MOST if yes_or_no(i_know=i_know) else MOST_EPSILON
        shared["i_know"] = True  # what protects nobody is not named

        def at(epsilon: float) -> Plan:
            budget = ApproxDP(epsilon=epsilon, delta=delta)
            return plan(workload, privacy=budget, people=people, **shared)

        target, kind = Target.of(people, accept, ceiling, most), noise_of(noise, workload)
        few = Acceptance.of(target, plans, at, kind, delta=delta, known_size=known_size)
        if not few.lacks_people or workload.size_importance:
            return few
        shared["i_know"], sized = i_know, replace(workload, size_importance=1.0)
        people = target.people
        again = plan(sized, delta=delta, people=people, accept=accept, ceiling=ceiling, **shared)
        return replace(again, sized=True)
    budget, discover = Spending.of(privacy, workload.grouping, whole(releases=releases))
    kind = noise_of(noise, workload, budget)
    if not yes_or_no(i_know=i_know):
        check_reason(privacy, None if discover is None else discover * releases)
    rule = f"between {LEAST:g} and {MOST:g} for each release"
    for name, amount in asdict(budget).items():
        # What is asked for as a decimal may be a last digit less.
        if amount is not None and not math.nextafter(LEAST, 0) <= amount <= MOST:
            raise refuse(name, rule, amount, "check the budget")
    level, offered = level_of(level), tuple(designs(workload, budget, known_size=known_size))
    found = Plan(
        workload=workload,
        privacy=privacy,
        releases=releases,
        level=level,
        designs=offered,
        noise=kind,
        limit=limit,
        people=None if people is None else positive(people=people),
    )
    _ = found.measurement  # what has no grid is refused here, not after it was charged
    return found


@known_keywords
def budget_for(
    workload: Queries,
    *,
    margin: float,
    delta: float = DELTA,
    releases: int = 1,
    known_size: bool = False,
    level: float = 0.95,
    noise: str | None = None,
    i_know: bool = False,
    limit: Privacy | Allowance | None = None,
    by: Columns = None,
    **rules: Unpack[Rules],
) -> ApproxDP:
    """Return the smallest budget with which no query's margin of error is above ``margin``.

    Margins of tables that nobody asked for may have more.
    The margin is in people for counts and in units for sums; for a mean it is the margin times the
    number who answered. The noise is the one that ``plan`` takes, ``limit`` included. ``by`` and
    ``rules`` are those of ``Workload``, where queries are a list.

    >>> from halfnoise import Counts, budget_for
    >>> budget_for([Counts(100)], margin=25, delta=1e-6)
    ApproxDP(epsilon=1.916..., delta=1e-06)
    """
    workload, target = Workload.of(workload, by, **rules), positive(margin=margin)
    level, delta, releases = level_of(level), fraction(delta=delta), whole(releases=releases)
    shared: Terms = {"releases": releases, "known_size": known_size, "level": level}
    shared |= {"noise": noise, "i_know": True, "limit": limit}  # the reason is looked at below
    needed = smallest(
        workload,
        lambda design: widest(design, level),
        target,
        lambda epsilon: plan(workload, privacy=ApproxDP(epsilon=epsilon, delta=delta), **shared),
        noise=noise_of(noise, workload),
        delta=delta,
        releases=releases,
        known_size=known_size,
    )
    if needed is None or not isinstance(found := needed.privacy, ApproxDP):
        raise refuse("margin", "larger: no budget that protects anybody gives it", target, OF_MEANS)
    if not yes_or_no(i_know=i_know):
        _affordable(found, target)
    return found


def _check_definitions(
    privacy: object, limit: object, accept: float | None, ceiling: float | None
) -> None:
    if privacy is not None and not hasattr(privacy, "budget"):
        raise refuse("privacy", "a privacy definition", privacy, "for example GaussianDP(mu=1)")
    if not (limit is None or isinstance(limit, Allowance) or hasattr(limit, "budget")):
        raise refuse("limit", "a privacy definition", limit, "for example GaussianDP(mu=1)")
    if privacy is not None and accept is not None:
        raise InvalidParameterError("give a budget or accept, not both: one tells the other")
    if ceiling is not None and accept is None:
        raise refuse("ceiling", "given together with accept", ceiling)


def _affordable(budget: ApproxDP, margin: float) -> None:
    try:
        check_reason(budget)
    except InvalidParameterError:
        if budget.epsilon <= MOST_EPSILON:
            raise  # for the delta, which was given
        raise InvalidParameterError(
            f"a margin of {short(margin)} is too small: epsilon {short(budget.epsilon)}, which it"
            f" needs, protects hardly anybody; allow a larger margin ({OF_MEANS}), {KNOW}"
        ) from None
