"""Workloads, budgets and choices in words that need no training in statistics."""

from collections.abc import Sequence

from halfnoise.design.design import Design
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import ApproxDP, GaussianDP, Privacy
from halfnoise.text import percent
from halfnoise.workload.groups import Grouping
from halfnoise.workload.workload import Workload


def reason(
    design: Design, others: Sequence[Design], workload: Workload, privacy: Privacy, releases: int
) -> str:
    """Say in a sentence or two why a design was chosen."""
    errors = {d.name: d.total_error(workload.size_importance) ** 0.5 for d in others}
    plain = next(other.name for other in others if other.noise is design.noise)
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
    words += design.remark(errors)
    if design.noise is Noise.LAPLACE and isinstance(privacy, ApproxDP):
        share = privacy.budget(releases).mu or 0.0
        odds, other = design.guarantee.best_guess, GaussianDP(mu=share).best_guess
        free = "no delta but that of discovering" if workload.discovers else "no delta"
        words += (
            f" Laplace noise beats Gaussian noise here and needs {free}, but the best guess is"
            f" right in {percent(odds)} of cases, with Gaussian noise in {percent(other)}."
        )
    return words


def notes(workload: Workload, designs: Sequence[Design]) -> list[str]:
    """Say what a reader of the table has to know beside it."""
    said = []
    if any("mean" in parts for parts in designs[0].parts()):
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
