"""What a plan says of weights."""

from halfnoise.design.design import Design
from halfnoise.text import short
from halfnoise.workload.workload import Workload


def remarks(workload: Workload, design: Design) -> list[str]:
    """Say what weights mean for the margins, and what the number of people comes with."""
    if workload.weight is None:
        return []
    high = workload.weight.bounds[1]
    said = [f"All numbers are weighted: noise grows with the highest weight, {high:g}."]
    if workload.unweighted_size and design.seen_scale is not None:
        std = f"a standard error of {short(design.noise.std([design.seen_scale]))}"
        said.append(f"The unweighted number of people comes with {std}, at no cost to others.")
    return said
