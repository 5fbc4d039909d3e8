"""Designs made ready for data, as tests look into them."""

from dataclasses import replace
from typing import Any

from halfnoise import Plan


def grid_for(plan: Plan) -> Any:
    """Return the chosen design of a plan, ready to be carried out; of any kind."""
    return plan.measurement


def closed(plan: Plan) -> Plan:
    """Return a plan without fitted designs: what closed forms give."""
    kept = tuple(design for design in plan.designs if design.name != "fitted-gaussian")
    return replace(plan, designs=kept)
