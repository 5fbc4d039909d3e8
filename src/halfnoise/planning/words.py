"""Workloads, budgets and choices in words that need no training in statistics."""

from collections.abc import Sequence

from halfnoise.design.design import Design
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import ApproxDP, GaussianDP, Neighbors, Privacy
from halfnoise.text import percent
from halfnoise.workload.groups import Grouping
from halfnoise.workload.numbers import Count, Counts, Mean, Sum
from halfnoise.workload.queries import Query
from halfnoise.workload.sets import Answered, AtMost
from halfnoise.workload.workload import Block, Workload


def heading(block: Block) -> str:
    """Name a block above its column."""
    if block.kind in ("choice", "bins", "items"):
        return f"{block.label} ({block.queries})"
    return f"{block.kind} of {block.label}" if block.kind in ("sum", "mean") else block.label


def describe(workload: Workload) -> str:
    """Say what each person is asked, and which two tables must look alike."""
    asked = ", ".join(_describe_block(block) for block in workload.blocks)
    return f"Asked of each person: {asked}.\nProtected: {secret(workload)}."


def meaning(query: Query) -> str:
    """Say what a query reads from the table, and how.

    >>> from halfnoise import Count, Sum, Where
    >>> meaning(Count("age", at_least=65, name="old", where=Where("sex", equals="F")))
    'age at least 65, only people with sex is F'
    >>> meaning(Sum("visits", bounds=(0, 20), missing="-99"))
    'visits, kept in 0 to 20 for each person, no answer: -99'
    """
    if isinstance(query, Counts):
        return query.label
    if isinstance(query, Count):
        codes = ", ".join(map(str, query.true)) or "yes"
        said = str(query.condition or f"{query.column} says {codes}")
    elif isinstance(query, Sum | Mean):
        low, high = query.bounds
        said = f"{query.column}, kept in {low:g} to {high:g} for each person"
    else:
        shown = ", ".join(name.removeprefix(f"{query.label}=") for name in query.names[:10])
        said = f"{query.column}: {shown}" + (", ..." if len(query.names) > 10 else "")
    only = "" if query.where is None else f", only people with {query.where}"
    codes = ", ".join(map(str, query.codes))
    return said + only + (f", no answer: {codes}" if codes else "")


def listing(grouping: Grouping) -> str:
    """Say which groups there are, as they were read.

    >>> from halfnoise.workload.groups import grouping
    >>> print(listing(grouping("region", ["north", "south"], "other", 1, None)))
    Groups by region: 'north', 'south'; everybody else is in 'other'.
    """
    columns = ", ".join(map(str, grouping.by))
    if grouping.discovers:
        return f"Groups by {columns}: those in the data that are large enough."
    keys = [repr(key[0] if len(key) == 1 else key) for key in grouping.keys or ()]
    more = f" and {len(keys) - 20:,} more" if len(keys) > 20 else ""
    left = "left out" if grouping.other is None else f"in {grouping.other!r}"
    return f"Groups by {columns}: {', '.join(keys[:20])}{more}; everybody else is {left}."


def secret(workload: Workload) -> str:
    """Say what nobody may find out."""
    return {
        Neighbors.ADD_REMOVE: "whether somebody is in the data",
        Neighbors.REPLACE: "what somebody in the data answered",
    }[workload.neighbors]


def spending(privacy: Privacy, releases: int) -> str:
    """Say what the budget is."""
    names = [
        name for name in ("epsilon", "delta", "mu", "rho", "alpha") if _is_field(privacy, name)
    ]
    amounts = ", ".join(f"{name} {getattr(privacy, name):g}" for name in names)
    split = "" if releases == 1 else f", split over {releases} equal releases; below, one of them"
    return f"Budget: {amounts}{split}."


def reason(
    design: Design, others: Sequence[Design], workload: Workload, privacy: Privacy, releases: int
) -> str:
    """Say in a sentence or two why a design was chosen."""
    errors = {d.name: d.total_error(workload.size_importance) ** 0.5 for d in others}
    plain = f"standard-{design.noise.value}"
    saved = 1 - errors[design.name] / errors[plain]
    if len(errors) == 1:
        words = "It is the only design that applies here."
    elif saved < 0.005 and workload.needs_sizes:
        words = "It has the least standard error of those that give the size of each group."
    elif saved < 0.005:
        words = f"Nothing else has less standard error here than {plain}"
        words += "; this one also gives the number of people." if design.size_scale else "."
    else:
        words = f"It has {percent(saved)} less standard error than {plain}"
        words += ", and gives the number of people too." if design.size_scale else "."
    if design.people_std is not None and workload.grouping is not None:
        fewer = 1 - errors[design.name] / errors["correlated-gaussian"]
        words += (
            f" Scaling noise for {workload.grouping.most} groups, as correlated-gaussian does, has"
            f" {percent(fewer / (1 - fewer))} more standard error."
        )
    if design.name == "optimal-gaussian-without-size":
        words += " It does not give the number of people, which has no importance here."
    if design.noise is Noise.LAPLACE and isinstance(privacy, ApproxDP):
        share = privacy.budget(releases).mu or 0.0
        odds, other = design.guarantee.best_guess, GaussianDP(mu=share).best_guess
        discovers = workload.grouping is not None and workload.grouping.discovers
        free = "no delta but that of discovering" if discovers else "no delta"
        words += (
            f" Laplace noise beats Gaussian noise here and needs {free}, but the best guess is"
            f" right in {percent(odds)} of cases, with Gaussian noise in {percent(other)}."
        )
    return words


def notes(workload: Workload, designs: Sequence[Design]) -> list[str]:
    """Say what a reader of the table has to know beside it."""
    said = []
    if any(isinstance(block.shape, Answered) for block in workload.blocks):
        said.append("Divide the margin of a mean by the number of people who answered.")
    if workload.grouping is not None:
        said += _groups(workload.grouping, designs)
    said.append(
        "Margins cover the noise that protects people, not who was asked or how they answered."
    )
    return said


def _groups(grouping: Grouping, designs: Sequence[Design]) -> list[str]:
    """Say how many groups there are, and what it costs that a person may be in several."""
    each = "each group that is found" if grouping.discovers else f"each of {grouping.number} groups"
    said = [f"The same holds in {each if grouping.number != 1 else 'the one group'}."]
    if grouping.most > 1:
        growth = {
            Noise.GAUSSIAN: f"noise grows with sqrt({grouping.most}) = {grouping.most**0.5:.3g}",
            Noise.LAPLACE: f"Laplace noise grows with {grouping.most}",
        }
        noises = {design.noise for design in designs}
        grows = ", ".join(words for noise, words in growth.items() if noise in noises)
        said.append(f"Each person may be in up to {grouping.most} groups: {grows}.")
    if any(design.people_std is not None for design in designs):
        said.append(
            "With two-level-gaussian it grows less: that measures the number of all people too,"
            " those in no group included, and the sizes of groups lean on it."
        )
    return said


def definition(privacy: Privacy) -> str:
    """Name a privacy definition in files."""
    return {"PureDP": "pure", "ApproxDP": "approximate", "GaussianDP": "gaussian"}.get(
        type(privacy).__name__, type(privacy).__name__.removesuffix("DP").lower()
    )


def _describe_block(block: Block) -> str:
    shape = block.shape
    most = f", at most {shape.most} of them" if isinstance(shape, AtMost) else ""
    if block.kind in ("sum", "mean"):
        low, high = (shape.low, shape.high)  # type: ignore[attr-defined]
        return f"{block.kind} of {block.label} ({low:g} to {high:g})"
    if block.kind == "count":
        return f"{block.label}{most}" if block.queries > 1 else f"count of {block.label}"
    things = "items" if block.kind == "items" else "categories"
    return f"{block.label} ({block.queries} {things}{most})"


def _is_field(privacy: Privacy, name: str) -> bool:
    return name in getattr(privacy, "__dataclass_fields__", {})
