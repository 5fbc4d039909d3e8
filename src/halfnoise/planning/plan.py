"""A plan: which design, and how much error. No data needed."""

import contextlib
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from halfnoise.design import certificate
from halfnoise.design.design import Design, Measurement
from halfnoise.errors import InvalidParameterError
from halfnoise.noise.law import Noise
from halfnoise.planning import tables, weighted
from halfnoise.planning.choice import AS_GOOD, best, compared, in_words, there
from halfnoise.planning.plain import plain
from halfnoise.planning.readers import AS_MEANS, DIVIDE, mean_margins
from halfnoise.planning.spending import Discovery, Spending
from halfnoise.privacy.account import BEYOND, Account
from halfnoise.privacy.allowance import Allowance, still_fits, taken
from halfnoise.privacy.composition import compose
from halfnoise.privacy.definitions import ApproxDP, Guarantee, Privacy, PureDP
from halfnoise.privacy.words import amounts, definition, spending
from halfnoise.text import at_most, percent, short
from halfnoise.values import asdict, dataclass
from halfnoise.views import Grid, Planned
from halfnoise.workload.workload import Workload


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Planned):
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
    noise: Noise | None = None  # the one that was asked for
    limit: Privacy | Allowance | None = None  # that of the ledger which will be charged
    people: float | None = None  # how many there may be, to tell what is mostly noise

    @cached_property
    def chosen(self) -> Design:
        """The design with the least error for the stated importance."""
        return best(self.designs, self.workload, self.noise, self.shares)

    @cached_property
    def shares(self) -> dict[Noise, Fraction]:
        """Which part of the ledger's limit noise of each kind takes; none where that is no choice.

        What has no place there takes ``BEYOND``.
        """
        if self.limit is None or self.noise is not None or len(self._kinds) == 1:
            return {}
        found = Spending.of(self.privacy, self.workload.grouping, self.releases).delta
        discovering, shares = Account(delta=Fraction(found or 0)), {}
        costs = {kind: Account.of(d.guarantee) + discovering for kind, d in self._best.items()}
        fit = [kind for kind, cost in costs.items() if still_fits(self.limit, cost)]
        for kind, cost in costs.items():  # what will be refused is no choice where another is
            shares[kind] = taken(self.limit, cost) if kind in fit or not fit else BEYOND
        return shares if min(shares.values()) < BEYOND else {}

    @property
    def why(self) -> str:
        """Why it was chosen, in a sentence or two."""
        design, workload = self.chosen, self.workload
        errors = {d.name: d.error(workload) ** 0.5 for d in self.designs}
        plain = next(other.name for other in self.designs if other.noise is design.noise)
        saved = 1 - errors[design.name] / errors[plain]
        if len(errors) == 1:
            words = "It is the only design that applies here."
        elif saved < AS_GOOD - 1 and workload.needs_sizes:
            words = "It has the least standard error of those that give the number of people."
        elif saved < AS_GOOD - 1:
            words = f"Nothing else has less standard error here than {plain}"
            words += "; this one also gives the number of people." if design.size_scale else "."
        else:
            words = f"It has {percent(saved)} less standard error than {plain}"
            words += ", and gives the number of people too." if design.size_scale else "."
        return words + design.remark(errors) + self._against(errors)

    @cached_property
    def tables(self) -> dict[str, float]:
        """The standard error of a cell of the tables, ``std``, and ``one_by_one_std``.

        Empty where there are not several tables.
        """
        found = tables.crosses(self.workload)
        return tables.one_by_one(self.chosen, self.workload) if found else {}

    @cached_property
    def least_error_bound(self) -> float | None:
        """What the error of no Gaussian noise is below, in squares; None where nothing is known."""
        mu = Spending.of(self.privacy, self.workload.grouping, self.releases).budget.mu
        given, made = any(d.size_is_given for d in self.designs), self.chosen.lines
        bound, none = certificate.least_error, self.chosen.noise is not Noise.GAUSSIAN
        return bound(self.workload, mu, known_size=given, lines=made) if mu and not none else None

    @property
    def certified(self) -> dict[str, Any]:
        """The ``error`` of Gaussian noise, its bound, and the ``objective`` if not the total."""
        error, goal = self.chosen.error(self.workload), self.workload.objective
        both = {"error": error, "least_error_bound": self.least_error_bound}
        more = {"objective": goal} if goal != "total" else {}
        return {**both, **more} if self.chosen.noise is Noise.GAUSSIAN else {}

    def _against(self, errors: Mapping[str, float]) -> str:
        """Say how the other kind of noise compares, where both can keep the promise."""
        if len(self._kinds) == 1:
            return ""
        one, other = (errors[self._best[kind].name] for kind in (Noise.LAPLACE, Noise.GAUSSIAN))
        less = compared(one, other)
        if chosen := self.chosen.noise is Noise.LAPLACE:
            free = "no delta but that of discovering" if self.workload.discovers else "no delta"
            said = f" Laplace noise has {less} than Gaussian noise and needs {free}."
        else:
            worth = one < other and self.noise is None and not self.shares
            said = f" Laplace noise would have {less}{', which is not worth it' * worth}."
        return said + (there(self.shares, one, other, chosen=chosen) if self.shares else "")

    @property
    def _kinds(self) -> list[Noise]:
        return [kind for kind in Noise if any(each.noise is kind for each in self.designs)]

    @cached_property
    def _best(self) -> dict[Noise, Design]:
        return {kind: best(self.designs, self.workload, kind) for kind in self._kinds}

    @cached_property
    def _promises(self) -> dict[str, Guarantee]:
        """What the best design of each kind of noise promises, with what discovering costs."""
        return {kind.value: self._measured(design).guarantee for kind, design in self._best.items()}

    @property
    def ten_releases(self) -> dict[str, float]:
        """The epsilon of ten such releases together, by kind of noise; none without a delta.

        Nor where discovering groups costs ten times more than that delta.
        """
        if len(self._kinds) == 1 or not isinstance(asked := self.privacy, ApproxDP):
            return {}
        found = {}
        for name, promise in self._promises.items():
            ten = compose(*[promise] * 10)
            with contextlib.suppress(InvalidParameterError):  # no epsilon goes with that delta
                found[name] = ten.epsilon if isinstance(ten, PureDP) else ten.epsilon(asked.delta)
        return found

    def _adding_up(self) -> list[str]:
        ten = [f"{short(e)} with {name.title()} noise" for name, e in self.ten_releases.items()]
        if len(ten) < 2 or not isinstance(self.privacy, ApproxDP):
            return []
        one, other = (at_most(promise.best_guess) for promise in self._promises.values())
        said = f"Ten such releases add up to epsilon {' and '.join(ten)}, at delta"
        said += f" {self.privacy.delta:g}; after one, the best guess is right in at most"
        return [f"{said} {one} and {other}."]

    def notes(self) -> list[str]:
        """Say what a reader of the table has to know beside it."""
        grouping, said = self.workload.grouping, weighted.remarks(self.workload, self.chosen)
        if any("mean" in parts for parts in self.designs[0].parts()):
            said.append(DIVIDE if self.people is None else AS_MEANS)
        if grouping is not None:
            many = f"each of {grouping.number} groups" if grouping.number != 1 else "the one group"
            here = "each group that is found" if grouping.discovers else many
            said.append(f"The same holds in {here}.")
        if grouping is not None and grouping.most > 1:
            g, noises = grouping.most, {design.noise for design in self.designs}
            grows = [f"noise grows with sqrt({g}) = {g**0.5:.3g}"] * (Noise.GAUSSIAN in noises)
            grows += [f"Laplace noise grows with {g}"] * (Noise.LAPLACE in noises)
            said.append(f"Each person may be in up to {g} groups: {', '.join(grows)}.")
        if any(design.people_std is not None for design in self.designs):
            said.append(
                "With two-level-gaussian it grows less: that measures the number of all people too,"
                " those in no group included, and the sizes of groups lean on it."
            )
        said.append(
            "Margins cover the noise that protects people, not who was asked or how they answered."
        )
        return said

    @property
    def margins(self) -> tuple[float, ...]:
        """The margin of error of each block in the chosen design."""
        return self.chosen.margins(self.level)

    @property
    def in_one_group(self) -> float | None:
        """How many people there may be in an average group, or in all where there is none."""
        grouping = self.workload.grouping
        groups = 1 if grouping is None else grouping.number or 1
        return None if self.people is None else self.people / groups

    @property
    def best_guess(self) -> float:
        """How often the best guess is right after all releases of the chosen design."""
        return compose(*[self.measurement.guarantee] * self.releases).best_guess

    @property
    def discovery(self) -> Discovery | None:
        """What a group must have to be discovered; None where groups are listed."""
        return Discovery.of(self.measurement) if self.workload.discovers else None

    @cached_property
    def measurement(self) -> Measurement:
        """The chosen design, ready to be carried out, with what groups found must reach."""
        return self._measured(self.chosen)

    def _measured(self, design: Design) -> Measurement:
        grouping = self.workload.grouping
        budget, delta = Spending.of(self.privacy, grouping, self.releases)
        amount = design.noise.amount(budget)
        if amount is None:
            raise AssertionError(design.name)
        ready = design.on_grid(self.workload, amount)
        if delta is None or grouping is None:
            return ready
        return ready.discovering(grouping.most, delta)

    def grid(self) -> Grid:
        """Return the designs and their margins of error; of tables, that of the chosen one."""
        if tables.crosses(self.workload):
            people = self._size_margin(self.chosen, self.chosen.size_std)
            return tables.shown(self.chosen, self.level, people, self.in_one_group)
        header = [f"margin of error ({percent(self.level)})"]
        header += [*(line.heading for line in self.workload.lines), "people"]
        rows = [
            [
                ("* " if design is self.chosen else "  ") + design.name,
                *(f"±{short(m)}" for m in mean_margins(design, self.level, self.in_one_group)),
                self._size_margin(design, design.size_std),
            ]
            for design in self.designs
        ]
        if any(design.people_std is not None for design in self.designs):
            header.append("all people")
            for design, row in zip(self.designs, rows, strict=True):
                row.append(self._size_margin(design, design.people_std, everyone=True))
        return header, rows

    def _size_margin(self, design: Design, std: float | None, *, everyone: bool = False) -> str:
        if std is not None:
            scale = std / design.noise.std([1.0])
            return f"±{short(design.noise.margin([scale], self.level))}"
        public = design.size_is_given or self.workload.size_is_public
        return "known" if public and not everyone else "not given"

    def __repr__(self) -> str:
        bound, error = self.least_error_bound, self.chosen.error(self.workload)
        right = f"is right in at most {at_most(self.best_guess)} of cases"
        lines = [
            self.workload.words,
            spending(self.privacy, self.releases),
            f"The best guess {self.workload.protected} {right};\na coin flip, in 50%.",
            f"\n{self.table()}\n",
            f"Chosen (*): {self.chosen.name}. {self.why}",
            *([certificate.words(error, bound, self.workload.objective)] if self.certified else []),
            *self._adding_up(),
            *([] if self.discovery is None else [str(self.discovery)]),
            *tables.compared(self.tables),
            *tables.noisy(self.chosen, self.level, self.in_one_group),
        ]
        return "\n".join([*lines, *self.notes()])

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON."""
        grouping, discovery = self.workload.grouping, self.discovery
        asked, times = self.privacy, self.releases
        privacy = {"definition": definition(asked), **amounts(asked), "mu": asked.mu}
        privacy |= {"best_guess": asked.best_guess, "releases": times}
        one = self.chosen.guarantee
        if isinstance(one, PureDP) and isinstance(asked, ApproxDP):
            # The guarantee is spent, not what Gaussian noise would have cost.
            spent = compose(*[one] * times)
            privacy |= {"mu": spent.mu, "best_guess": spent.best_guess}
        if discovery is not None:  # then no mu stands alone
            privacy.pop("mu")
            privacy |= {"best_guess": self.best_guess, "discover_delta": discovery.delta * times}
        return {
            "privacy": privacy,
            "neighbors": self.workload.neighbors.value,
            "groups": None if grouping is None else grouping.number,
            "max_groups": None if grouping is None else grouping.most,
            **({} if (own := self.workload.weight) is None else {"weight": asdict(own)}),
            "discovery": None if discovery is None else asdict(discovery),
            "level": self.level,
            "chosen": self.chosen.name,
            "why": self.why,
            **self.certified,
            "noise": {"chosen": self.chosen.noise.value, "ten_releases": self.ten_releases}
            | ({"share_of_limit": in_words(self.shares)} if self.shares else {}),
            "designs": [
                plain(design, self.level, self.in_one_group, discovery) for design in self.designs
            ],
        } | ({"tables": self.tables} if self.tables else {})
