"""Designs made ready for data, as tests look into them."""

from dataclasses import replace
from typing import Any

import numpy as np

from halfnoise import Plan


def grid_for(plan: Plan) -> Any:
    """Return the chosen design of a plan, ready to be carried out; of any kind."""
    return plan.measurement


def closed(plan: Plan) -> Plan:
    """Return a plan without fitted designs: what closed forms give."""
    kept = tuple(design for design in plan.designs if design.name != "fitted-gaussian")
    return replace(plan, designs=kept)


def noise_by_noise(plan: Plan) -> Any:
    """Return the covariance of all that comes out, from what each noise by itself makes of it."""
    ready = plan.measurement
    scales = ready.scales[0]
    unit = np.diag(np.full(len(scales), 2**40, dtype=np.int64)).view(np.uint64)
    back = ready.recover([unit], 0.0)
    sizes = [] if back.sizes is None else [back.sizes[:, None]]
    estimates = np.hstack([back.estimates, *sizes]) / 2.0**40
    return (estimates.T * scales**2) @ estimates
