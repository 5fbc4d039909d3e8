"""Designs made ready for data, as tests look into them."""

from halfnoise import Plan
from halfnoise.design.measurement import CenteredMeasurement


def grid_for(plan: Plan) -> CenteredMeasurement:
    """Return the chosen design of a plan, ready to be carried out."""
    measurement = plan.measurement
    assert isinstance(measurement, CenteredMeasurement)
    return measurement
