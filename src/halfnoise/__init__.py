"""Private counts and sums with about half the noise.

>>> import halfnoise as hn
>>> workload = hn.Workload([hn.Counts(100)])
>>> hn.plan(workload, privacy=hn.GaussianDP(mu=1)).chosen.name
'correlated-gaussian'
"""

from halfnoise.budgeting import budget_for
from halfnoise.conditions import Where
from halfnoise.errors import (
    DataError,
    HalfnoiseError,
    InvalidParameterError,
    MissingExtraError,
    NotSupportedError,
)
from halfnoise.grouped import GroupedRelease
from halfnoise.grouping import By
from halfnoise.planning import Outlook, Plan, plan
from halfnoise.privacy import (
    ApproxDP,
    ConcentratedDP,
    DiscoveryDP,
    GaussianDP,
    Neighbors,
    PureDP,
    RenyiDP,
    compose,
)
from halfnoise.queries import Bins, Choice, Count, Counts, Items, Mean, Sum
from halfnoise.release import Ledger, release
from halfnoise.result import Release
from halfnoise.workload import Workload

__all__ = [
    "ApproxDP",
    "Bins",
    "By",
    "Choice",
    "ConcentratedDP",
    "Count",
    "Counts",
    "DataError",
    "DiscoveryDP",
    "GaussianDP",
    "GroupedRelease",
    "HalfnoiseError",
    "InvalidParameterError",
    "Items",
    "Ledger",
    "Mean",
    "MissingExtraError",
    "Neighbors",
    "NotSupportedError",
    "Outlook",
    "Plan",
    "PureDP",
    "Release",
    "RenyiDP",
    "Sum",
    "Where",
    "Workload",
    "budget_for",
    "compose",
    "plan",
    "release",
]
