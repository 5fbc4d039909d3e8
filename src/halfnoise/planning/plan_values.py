"""A plan as plain values, ready for JSON."""

from dataclasses import asdict, is_dataclass
from typing import Any

from halfnoise.design.design import Design
from halfnoise.noise.law import Noise
from halfnoise.planning.plan import Plan, margins_of
from halfnoise.planning.spending import Discovery
from halfnoise.privacy.definitions import DiscoveryDP, Guarantee, Privacy
from halfnoise.privacy.words import definition


def to_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain values; where groups are discovered, no mu stands alone."""
    grouping = plan.workload.grouping
    found = plan.discovery
    privacy = _privacy(plan.privacy) | {"releases": plan.releases}
    if found is not None:
        privacy.pop("mu")
        privacy |= {"best_guess": plan.best_guess, "discover_delta": found.delta * plan.releases}
    return {
        "privacy": privacy,
        "neighbors": plan.workload.neighbors.value,
        "groups": None if grouping is None else grouping.number,
        "max_groups": None if grouping is None else grouping.most,
        "discovery": None if found is None else asdict(found),
        "level": plan.level,
        "chosen": plan.chosen.name,
        "why": plan.why,
        "designs": [_design(design, plan.level, found) for design in plan.designs],
    }


def _privacy(privacy: Privacy) -> dict[str, Any]:
    fields: dict[str, Any] = (
        asdict(privacy) if is_dataclass(privacy) and not isinstance(privacy, type) else {}
    )
    own = {"definition": definition(privacy), **fields}
    return own | {"mu": privacy.mu, "best_guess": privacy.best_guess}


def _design(design: Design, level: float, found: Discovery | None) -> dict[str, Any]:
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
    if found is not None:
        shown = {"discover_delta": found.delta}
        promised = DiscoveryDP(kept=design.guarantee, delta=found.delta)
    return {
        "name": design.name,
        "blocks": blocks,
        "size_std": design.size_std,
        **everyone,
        loss: design.loss(),
        **shown,
        "best_guess": promised.best_guess,
    }
