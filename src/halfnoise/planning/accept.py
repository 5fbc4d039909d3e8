"""Which budget to choose, in people's terms: how far off what readers see may be."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, Self

from halfnoise.checks import fraction, positive, refuse
from halfnoise.design.design import Design
from halfnoise.errors import InvalidParameterError
from halfnoise.noise.law import Noise
from halfnoise.planning.plan import Plan
from halfnoise.planning.readers import POINTS, Read, in_points, read
from halfnoise.planning.search import smallest
from halfnoise.planning.tables import by_line, crosses
from halfnoise.privacy.account import Account
from halfnoise.privacy.allowance import still_fits, taken
from halfnoise.privacy.definitions import ApproxDP
from halfnoise.text import at_most, percent, short, text_table
from halfnoise.values import dataclass
from halfnoise.views import Grid, Viewed
from halfnoise.workload.workload import Workload

CEILING = 3.0  # an epsilon above which a budget is not named without a warning
NEEDED = "how many people there may be is needed: --people 4400 (people=4400)"
SIZED = (
    "Shares need the number of people, which is measured for them: --size-importance 1"
    " (size_importance=1)"
)
MOST_COLUMNS = 6  # of a table with a row for each budget


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Target:
    """What is accepted: margins of shares, and of means relative to their range, of so much.

    ``ceiling``: the epsilon above which there is a warning; ``allowed``: that above which none is
    named at all, if there is one.
    """

    people: float
    accept: float
    ceiling: float = CEILING
    allowed: float | None = None

    @classmethod
    def of(cls, people: float | None, accept: float, ceiling: float | None, most: float) -> Self:
        """Check what was said; ``most``: the largest epsilon that protects anybody."""
        if people is None:
            raise InvalidParameterError(NEEDED)
        fraction(accept=accept)
        own = CEILING if ceiling is None else positive(ceiling=ceiling)
        if own > most:
            raise refuse("ceiling", f"at most {most:g}", own, "say i_know (--i-know) for more")
        return cls(people=positive(people=people), accept=accept, ceiling=own, allowed=most)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Acceptance(Viewed):
    """What readers will see at several budgets, and the smallest that is good enough; ``print`` it.

    ``needed``: the plan at that budget; None where no budget will do. ``known_size``: the number of
    people will be given. ``sized``: it is measured because shares need it, which nobody asked for.

    >>> from halfnoise import Count, plan
    >>> plan([Count("insured")], people=4400, accept=0.02).budget
    ApproxDP(epsilon=0.0520..., delta=1e-06)
    """

    workload: Workload
    target: Target
    delta: float
    plans: tuple[Plan, ...]
    needed: Plan | None
    known_size: bool = False
    sized: bool = False

    @classmethod
    def of(
        cls,
        target: Target,
        plans: tuple[Plan, ...],
        at: Callable[[float], Plan],
        noise: Noise | None,
        *,
        delta: float,
        known_size: bool,
    ) -> Self:
        """Look for the smallest budget that will do; ``at``: the plan at an epsilon."""
        one = plans[0]
        workload, within = one.workload, one.in_one_group or target.people

        def widest(design: Design) -> float:
            return max(e.relative for e in read(design, one.level, within) if e.line.asked)

        needed = smallest(
            workload,
            widest,
            target.accept,
            at,
            noise=noise,
            delta=delta,
            releases=one.releases,
            known_size=known_size,
        )
        about: dict[str, Any] = {"delta": delta, "known_size": known_size}
        return cls(workload=workload, target=target, plans=plans, needed=needed, **about)

    @property
    def lacks_people(self) -> bool:
        """Whether there are shares to be read, but no number of people that they are shares of."""
        plans = (*self.plans, *(() if self.needed is None else (self.needed,)))
        public = self.known_size or self.workload.size_is_public
        return self._shares and not (public or all(each.chosen.gives_size for each in plans))

    @property
    def _shares(self) -> bool:
        """Whether anything is divided by the number of people."""
        return any(line.asked and line.kind != "mean" for line in self.workload.lines)

    @property
    def is_named(self) -> bool:
        """Whether there is such a budget, and it is one that protects anybody."""
        allowed = self.target.allowed
        return self.needed is not None and (allowed is None or _epsilon(self.needed) <= allowed)

    @property
    def budget(self) -> ApproxDP | None:
        """The smallest budget with which all margins are accepted; None where there is none."""
        if self.needed is None or not self.is_named:
            return None
        return ApproxDP(epsilon=_epsilon(self.needed), delta=self.delta)

    @property
    def shown(self) -> tuple[Plan, ...]:
        """The plans that are compared, in order, the smallest that will do among them."""
        found = (self.needed,) if self.needed is not None and self.is_named else ()
        return tuple(sorted((*self.plans, *found), key=_epsilon))

    def read(self, plan: Plan) -> list[Read]:
        """Return what a reader sees of each line at one budget."""
        return read(plan.chosen, plan.level, plan.in_one_group or self.target.people)

    def table(self) -> str:
        """Return its table as text."""
        return text_table(*self.grid())

    def grid(self) -> Grid:
        """Return budgets, what each is worth, and margins as readers see them."""
        plans = self.shown
        names = [f"{_up(_epsilon(each))}{'*' * (each is self.needed)}" for each in plans]
        guesses = [at_most(each.best_guess) for each in plans]
        cells = [[*map(str, self.read(each))] for each in plans]
        if crosses(self.workload) or len(self.workload.lines) > MOST_COLUMNS:
            rows = [[*each] for each in zip(*cells, strict=True)]
            last = ["best guess", *guesses]
            return by_line(self.workload.blocks, ["epsilon", *names], rows, last)
        titles = [line.heading for line in self.workload.lines]
        rows = [[n, g, *row] for n, g, row in zip(names, guesses, cells, strict=True)]
        return ["epsilon", "best guess", *titles], rows

    def __repr__(self) -> str:
        one, target = self.plans[0], self.target
        split = "" if one.releases == 1 else f", split over {one.releases} equal releases,"
        groups = "" if self.workload.grouping is None else " in an average group"
        at = f"at delta {self.delta:g}{split} in {percent(one.level)} of cases"
        within = one.in_one_group or target.people
        lines = [
            self.workload.words,
            f"How far off what readers see is at most, with {self._many(within)}{groups}, {at}.",
            f"Best guess: how often the best guess {self.workload.protected} is right at most;",
            f"a coin flip is right in 50% of cases.\n\n{self.table()}\n",
            *self.sentences(),
        ]
        return "\n".join(lines)

    def _many(self, within: float) -> str:
        weighted = self.workload.weight is not None
        return f"weights that add up to {short(within)}" if weighted else f"{short(within)} people"

    def sentences(self) -> list[str]:
        """Say which budget will do, what that means, and what it does not cover."""
        said = [self._verdict(), *self._warnings(), self._example(), self._sampled()]
        if self.sized:
            given = "" if self.workload.grouped else "; if it is public, give it: --known-size"
            said.insert(1, f"{SIZED}{given}.")
        return [*(each for each in said if each), *self.plans[0].notes()]

    def _goal(self) -> str:
        points = short(POINTS * self.target.accept)
        kinds = {each.is_mean for each in self.read(self.plans[0]) if each.line.asked}
        shares = f"every share within {in_points(self.target.accept)}"
        means = f"every mean within {points}% of its range"
        return " and ".join([shares] * (False in kinds) + [means] * (True in kinds))

    def _verdict(self) -> str:
        if self.budget is not None:
            epsilon = f"--epsilon {_up(self.budget.epsilon)} --delta {self.delta:g}"
            return f"* The smallest budget for {self._goal()}: {epsilon}{self._with_people()}."
        last = self.plans[-1]
        worst = max((e for e in self.read(last) if e.line.asked), key=lambda each: each.relative)
        said = f"No budget that protects anybody keeps {self._goal()}: at epsilon"
        said += f" {_epsilon(last):g}, {worst.line.heading} is off by up to {worst.off}."
        if self.needed is not None:
            said += f" It would take epsilon {short(_epsilon(self.needed))}."
        return f"{said} Accept more, ask fewer questions or in fewer groups, or ask more people."

    def _with_people(self) -> str:
        """Say what gives the number of people, which shares need."""
        if self.sized:
            return " --size-importance 1"
        given = self.known_size or (self._shares and self.workload.size_is_public)
        return f" --known-size {self.target.people:.10g}" if given else ""

    def _warnings(self) -> list[str]:
        if self.needed is None or (budget := self.budget) is None:
            return []
        said, one = list[str](), self.needed
        if budget.epsilon > self.target.ceiling:
            said.append(
                f"Warning: that is above epsilon {self.target.ceiling:g}. The best guess"
                f" {self.workload.protected} would be right in up to {at_most(one.best_guess)} of"
                " cases; accept more, or ask for less."
            )
        cost = Account.of(one.measurement.guarantee)
        limit = one.limit
        if limit is not None and (taken(limit, cost) > 1 or not still_fits(limit, cost)):
            said.append("Warning: the ledger has no place left for it.")
        return said

    def _example(self) -> str:
        """Say what a reader may see: which share it will be, nobody knows yet."""
        plan = self.needed if self.needed is not None and self.is_named else self.plans[-1]
        asked = [each for each in self.read(plan) if each.line.asked]
        said = "As no share or mean is known yet, margins are the widest there can be"
        shares = [each for each in asked if not each.is_mean]
        if shares and not shares[0].says_nothing:
            margin = str(shares[0]).replace("±", "± ")
            said += f"; a reader may see, for example, {shares[0].line.label}: 78% {margin}"
        sums = any(line.kind == "sum" for line in self.workload.lines)
        per_person = " Sums are shown as means over all people." if sums else ""
        return f"{said}.{per_person}"

    def _sampled(self) -> str:
        if self.workload.weight is not None:  # how many people that are, weights do not tell
            return ""
        level = self.plans[0].level
        within = self.plans[0].in_one_group or self.target.people
        margin = min(1.0, NormalDist().inv_cdf((1 + level) / 2) / 2 / math.sqrt(within))
        return (
            f"For comparison: who was asked moves a share by up to ±{in_points(margin)}, if that"
            " was a simple random sample."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        budget = self.budget
        return {
            "people": self.target.people,
            "accept": self.target.accept,
            "ceiling": self.target.ceiling,
            "delta": self.delta,
            "size_importance": self.workload.size_importance,
            "epsilon": None if budget is None else budget.epsilon,
            "above_ceiling": budget is not None and budget.epsilon > self.target.ceiling,
            "says": self.sentences(),
            "plans": [each.to_dict() | {"read": self._lines(each)} for each in self.shown],
        }

    def _lines(self, plan: Plan) -> list[dict[str, Any]]:
        return [
            {
                "kind": "mean" if each.is_mean else "share",
                "label": each.line.label,
                "asked": each.line.asked,
                "margin": each.margin,
                "relative": each.relative,
            }
            for each in self.read(plan)
        ]


def _epsilon(plan: Plan) -> float:
    return plan.privacy.epsilon if isinstance(plan.privacy, ApproxDP) else math.nan


def _up(epsilon: float) -> str:
    """Write an epsilon with three digits that count, rounded up so that what is shown will do.

    >>> _up(0.034012), _up(1.0), _up(12.341)
    ('0.0341', '1', '12.4')
    """
    near = float(f"{epsilon:.3g}")
    step = 10.0 ** (math.floor(math.log10(epsilon)) - 2)
    return f"{near if near >= epsilon else near + step:.3g}"
