"""Plans: which design, how much error, and what a larger budget would bring. No data needed."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from functools import cached_property
from typing import Any, Unpack, overload

from halfnoise.checks import fraction, known_keywords, refuse, whole
from halfnoise.design.candidates import designs
from halfnoise.design.design import Design, Measurement
from halfnoise.errors import NotSupportedError
from halfnoise.noise.law import Noise
from halfnoise.planning.spending import Discovery, spendable
from halfnoise.planning.words import describe, notes, reason, secret
from halfnoise.privacy.definitions import ApproxDP, DiscoveryDP, Guarantee, Privacy, PureDP, compose
from halfnoise.privacy.words import definition, spending
from halfnoise.text import percent, short, text_table
from halfnoise.workload.groups import Columns
from halfnoise.workload.queries import Query
from halfnoise.workload.workload import Rules, Workload

EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""The budgets that a plan without one compares."""

DELTA = 1e-6
"""The delta where none is stated."""

LEAST, MOST = 1e-9, 1e9
"""The smallest and the largest mu or epsilon that a plan can be asked for."""

AS_GOOD = 1.01
"""Errors within one per cent count as equal; then the design that also gives the size wins."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan:
    """Every design that applies, the one chosen, and why; ``print`` it.

    >>> from halfnoise import Counts, GaussianDP, Workload, plan
    >>> plan(Workload([Counts(100)]), privacy=GaussianDP(mu=1)).chosen.name
    'correlated-gaussian'
    """

    workload: Workload
    privacy: Privacy
    releases: int
    level: float
    designs: tuple[Design, ...]

    @cached_property
    def chosen(self) -> Design:
        """The design with the least error for the stated importance."""
        return best_design(self.designs, self.workload)

    @property
    def why(self) -> str:
        """Why it was chosen, in a sentence or two."""
        return reason(self.chosen, self.designs, self.workload, self.privacy, self.releases)

    @property
    def margins(self) -> tuple[float, ...]:
        """The margin of error of each block in the chosen design."""
        return margins_of(self.chosen, self.level)

    @property
    def best_guess(self) -> float:
        """How often the best guess is right after all releases of the chosen design."""
        guarantee = self.chosen.guarantee
        together = (
            PureDP(epsilon=guarantee.epsilon * self.releases)
            if isinstance(guarantee, PureDP)
            else compose(*[guarantee] * self.releases)
        )
        if self.discovery is None:
            return together.best_guess
        return DiscoveryDP(kept=together, delta=self.discovery.delta * self.releases).best_guess

    @property
    def discovery(self) -> Discovery | None:
        """What a group must have to be discovered; None where groups are listed."""
        return Discovery.of(self.measurement) if self.workload.discovers else None

    @cached_property
    def measurement(self) -> Measurement:
        """The chosen design, ready to be carried out, with what groups found must reach."""
        grouping, chosen = self.workload.grouping, self.chosen
        budget, delta = spendable(self.privacy, grouping, self.releases)
        amount = chosen.noise.amount(budget)
        if amount is None:
            raise AssertionError(chosen.name)
        ready = chosen.on_grid(self.workload, amount)
        return (
            ready if delta is None or grouping is None else ready.discovering(grouping.most, delta)
        )

    def table(self) -> str:
        """Return the designs and their margins of error as text."""
        header = [f"margin of error ({percent(self.level)})"]
        header += [*(block.heading for block in self.workload.blocks), "people"]
        everyone = any(design.people_std is not None for design in self.designs)
        header += ["all people"] if everyone else []
        chosen = self.chosen
        rows = []
        for design in self.designs:
            mark = "* " if design is chosen else "  "
            margins = [f"±{short(margin)}" for margin in margins_of(design, self.level)]
            rows.append([mark + design.name, *margins, _size_margin(design, self)])
            rows[-1] += [_people_margin(design, self)] if everyone else []
        return text_table(header, rows)

    def __repr__(self) -> str:
        """Return the whole plan in words."""
        chosen = self.chosen
        odds = percent(self.best_guess)
        lines = [
            describe(self.workload),
            spending(self.privacy, self.releases),
            f"Odds: the best guess {secret(self.workload)} is right in {odds} of cases;",
            "a coin flip, in 50%.",
            "",
            self.table(),
            "",
            f"Chosen (*): {chosen.name}. {self.why}",
        ]
        if self.discovery is not None:
            lines.append(str(self.discovery))
        return "\n".join(lines + notes(self.workload, self.designs))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON."""
        grouping, discovery = self.workload.grouping, self.discovery
        privacy = _definition(self.privacy) | {"releases": self.releases}
        if discovery is not None:  # then no mu stands alone
            privacy.pop("mu")
            privacy |= {"best_guess": self.best_guess}
            privacy |= {"discover_delta": discovery.delta * self.releases}
        return {
            "privacy": privacy,
            "neighbors": self.workload.neighbors.value,
            "groups": None if grouping is None else grouping.number,
            "max_groups": None if grouping is None else grouping.most,
            "discovery": None if discovery is None else asdict(discovery),
            "level": self.level,
            "chosen": self.chosen.name,
            "why": self.why,
            "designs": [_design(design, self.level, discovery) for design in self.designs],
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outlook:
    """What each of several budgets would bring: the answer to "which epsilon?"; ``print`` it.

    >>> from halfnoise import Counts, Workload, plan
    >>> print(plan(Workload([Counts(100)])).table().splitlines()[3])
    1             54.7%       ±45.5
    """

    workload: Workload
    delta: float
    plans: tuple[Plan, ...]

    def table(self) -> str:
        """Return budgets, odds and margins of error as text."""
        header = ["epsilon", "best guess", *(block.heading for block in self.workload.blocks)]
        rows = []
        for epsilon, each in zip(EPSILONS, self.plans, strict=True):
            margins = [f"±{short(margin)}" for margin in each.margins]
            rows.append([f"{epsilon:g}", percent(each.best_guess), *margins])
        return text_table(header, rows)

    def __repr__(self) -> str:
        """Return the whole outlook in words."""
        level, releases = self.plans[0].level, self.plans[0].releases
        split = "" if releases == 1 else f" split over {releases} equal releases"
        lines = [
            describe(self.workload),
            f"What a budget{split} buys at delta {self.delta:g}, with margins at {percent(level)}.",
            f"Best guess: how often the best guess {secret(self.workload)} is right;",
            "a coin flip is right in 50% of cases.",
            "",
            self.table(),
            "",
        ]
        return "\n".join(lines + notes(self.workload, self.plans[0].designs))

    def to_dict(self) -> dict[str, Any]:
        """Return the outlook as plain values, ready for JSON."""
        return {"delta": self.delta, "plans": [each.to_dict() for each in self.plans]}


@overload
def plan(
    workload: Workload | Sequence[Query],
    *,
    privacy: Privacy,
    releases: int = 1,
    known_size: bool = False,
    level: float = 0.95,
    by: Columns = None,
    **rules: Unpack[Rules],
) -> Plan: ...
@overload
def plan(
    workload: Workload | Sequence[Query],
    *,
    privacy: None = None,
    releases: int = 1,
    known_size: bool = False,
    level: float = 0.95,
    delta: float = DELTA,
    by: Columns = None,
    **rules: Unpack[Rules],
) -> Outlook: ...
@known_keywords
def plan(
    workload: Workload | Sequence[Query],
    *,
    privacy: Privacy | None = None,
    releases: int = 1,
    known_size: bool = False,
    level: float = 0.95,
    delta: float = DELTA,
    by: Columns = None,
    **rules: Unpack[Rules],
) -> Plan | Outlook:
    """Return every design that applies with its error, and the best one for the stated importance.

    Without ``privacy``: what a range of budgets would bring, at a stated ``delta``. ``releases``:
    the budget is split over so many equal releases. ``known_size``: the number of people is public
    and will be given, not computed from the table. ``by`` and ``rules``: those of ``Workload``,
    where the queries are a list.

    **Guarantee.** A plan sees no data. Every design in it is proved to cost at most the budget.

    >>> from halfnoise import ApproxDP, Count, plan
    >>> best = plan([Count("smoker")], privacy=ApproxDP(epsilon=1, delta=1e-6))
    >>> best.chosen.name, round(best.chosen.query_std[0], 3)
    ('standard-laplace', 1.414)
    """
    workload = Workload.of(workload, by, **rules)
    if known_size and workload.grouped:
        raise NotSupportedError(
            "known_size is the size of a whole table; with groups leave it out, and use"
            " release[key].with_known_size afterwards"
        )
    if privacy is None:
        plans = tuple(
            plan(
                workload,
                privacy=ApproxDP(epsilon=epsilon, delta=delta),
                releases=releases,
                known_size=known_size,
                level=level,
            )
            for epsilon in EPSILONS
        )
        return Outlook(workload=workload, delta=delta, plans=plans)
    if not hasattr(privacy, "budget"):
        raise refuse("privacy", "a privacy definition", privacy, "for example GaussianDP(mu=1)")
    budget, _ = spendable(privacy, workload.grouping, whole(releases=releases))
    for name, amount in asdict(budget).items():
        if amount is not None and not LEAST <= amount <= MOST:
            rule = f"between {LEAST:g} and {MOST:g} for each release"
            raise refuse(name, rule, amount, "check the budget")
    return Plan(
        workload=workload,
        privacy=privacy,
        releases=releases,
        level=fraction(level=level),
        designs=tuple(designs(workload, budget, known_size=known_size)),
    )


def best_design(found: Iterable[Design], workload: Workload) -> Design:
    """Return the design with the least error, or one as good that also gives the size.

    Groups come with their sizes, unless these are not wanted.
    """
    interest = workload.size_importance
    errors = {design: design.total_error(interest) ** 0.5 for design in found}
    if workload.needs_sizes:
        errors = {d: e for d, e in errors.items() if d.size_scale or d.size_is_given}
    limit = min(errors.values()) * AS_GOOD
    good = [design for design, error in errors.items() if error <= limit]
    # Ties, to a tenth of a per cent, go to the plainer design, which comes first.
    return min(good, key=lambda d: (d.size_scale is None, round(errors[d] / limit, 3)))


def _size_margin(design: Design, plan: Plan) -> str:
    if design.size_scale is not None:
        return f"±{short(design.noise.margin([design.size_scale], plan.level))}"
    public = design.size_is_given or plan.workload.size_is_public
    return "known" if public else "not given"


def _people_margin(design: Design, plan: Plan) -> str:
    if design.people_std is None:
        return "not given"
    return f"±{short(design.noise.margin([design.people_std], plan.level))}"


def margins_of(design: Design, level: float) -> tuple[float, ...]:
    """Return the margin of error of each block; of a mean, times the number who answered."""
    return tuple(
        design.noise.margin(parts.get("mean", parts["sum"]), level) for parts in design.parts()
    )


def _definition(privacy: Privacy) -> dict[str, Any]:
    fields: dict[str, Any] = (
        asdict(privacy) if is_dataclass(privacy) and not isinstance(privacy, type) else {}
    )
    own = {"definition": definition(privacy), **fields}
    return own | {"mu": privacy.mu, "best_guess": privacy.best_guess}


def _design(design: Design, level: float, discovery: Discovery | None) -> dict[str, Any]:
    noise = design.noise
    blocks = []
    for block, parts, margin in zip(
        design.blocks, design.parts(), margins_of(design, level), strict=True
    ):
        entry = {"kind": block.kind, "label": block.label, "queries": block.queries}
        entry |= {"std": noise.std(parts["sum"]), "margin": margin}
        entry |= {f"{name}_std": noise.std(ps) for name, ps in parts.items() if name != "sum"}
        blocks.append(entry)
    loss = "loss_mu" if noise is Noise.GAUSSIAN else "loss_epsilon"
    everyone = {} if design.people_std is None else {"people_std": design.people_std}
    promised: Guarantee = design.guarantee
    shown = {}
    if discovery is not None:
        shown = {"discover_delta": discovery.delta}
        promised = DiscoveryDP(kept=design.guarantee, delta=discovery.delta)
    return {
        "name": design.name,
        "blocks": blocks,
        "size_std": design.size_std,
        **everyone,
        loss: design.loss(),
        **shown,
        "best_guess": promised.best_guess,
    }
