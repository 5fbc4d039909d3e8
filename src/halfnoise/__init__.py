"""Private counts and sums with about half the noise.

>>> import halfnoise as hn
>>> workload = hn.Workload([hn.Counts(100)])
>>> hn.plan(workload, privacy=hn.GaussianDP(mu=1)).chosen.name
'correlated-gaussian'
"""

from halfnoise.errors import (
    HalfnoiseError,
    InvalidParameterError,
    MissingExtraError,
    NotSupportedError,
)
from halfnoise.planning import Outlook, Plan, budget_for, plan
from halfnoise.privacy import (
    ApproxDP,
    ConcentratedDP,
    GaussianDP,
    Neighbors,
    PureDP,
    RenyiDP,
    compose,
)
from halfnoise.queries import Bins, Choice, Count, Counts, Items, Mean, Sum
from halfnoise.workload import Workload

__all__ = [
    "ApproxDP",
    "Bins",
    "Choice",
    "ConcentratedDP",
    "Count",
    "Counts",
    "GaussianDP",
    "HalfnoiseError",
    "InvalidParameterError",
    "Items",
    "Mean",
    "MissingExtraError",
    "Neighbors",
    "NotSupportedError",
    "Outlook",
    "Plan",
    "PureDP",
    "RenyiDP",
    "Sum",
    "Workload",
    "budget_for",
    "compose",
    "plan",
]
