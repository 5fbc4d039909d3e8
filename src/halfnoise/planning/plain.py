"""A design as plain values, as plans write it into JSON."""

from typing import Any

from halfnoise.design.design import Design
from halfnoise.noise.law import Noise
from halfnoise.planning import tables
from halfnoise.planning.readers import mean_margins
from halfnoise.planning.spending import Discovery
from halfnoise.privacy.definitions import DiscoveryDP


def plain(
    design: Design, level: float, people: float | None, discovery: Discovery | None
) -> dict[str, Any]:
    """Return the errors of a design, line by line, and what it costs, ready for JSON.

    ``people``: how many there may be in a group, where that is said.
    """
    noise, margins, blocks = design.noise, design.margins(level), []
    means = mean_margins(design, level, people)
    lines = zip(tables.entries(design.blocks), design.parts(), margins, means, strict=True)
    for each, parts, margin, mean in lines:
        line = each.line
        entry = {"kind": line.kind, "label": line.label, "queries": line.queries}
        entry |= {"std": noise.std(parts["sum"]), "margin": margin}
        entry |= {f"{name}_std": noise.std(ps) for name, ps in parts.items() if name != "sum"}
        entry |= {"mean_margin": mean} if mean != margin else {}
        blocks.append(entry | each.facts(margin, people))
    shown: dict[str, Any] = {"name": design.name, "noise": noise.value, "blocks": blocks}
    shown["size_std"] = design.size_std
    if design.people_std is not None:
        shown["people_std"] = design.people_std
    shown["loss_mu" if noise is Noise.GAUSSIAN else "loss_epsilon"] = design.loss()
    if discovery is None:
        return shown | {"best_guess": design.guarantee.best_guess}
    promised = DiscoveryDP(kept=design.guarantee, delta=discovery.delta)
    return shown | {"discover_delta": discovery.delta, "best_guess": promised.best_guess}
