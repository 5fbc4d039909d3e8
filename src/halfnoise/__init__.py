"""Private counts and sums with about half the noise.

>>> import halfnoise as hn
>>> workload = hn.Workload([hn.Counts(100)])
>>> hn.plan(workload, privacy=hn.GaussianDP(mu=1)).chosen.name
'correlated-gaussian'
"""

from halfnoise.data.sources.source import TextFormat
from halfnoise.errors import (
    BudgetError,
    DataError,
    HalfnoiseError,
    InvalidParameterError,
    MissingExtraError,
    NotSupportedError,
    TryAgainError,
    UnknownNameError,
)
from halfnoise.face import release
from halfnoise.ledger.ledger import Ledger
from halfnoise.planning.outlook import Outlook, budget_for, plan
from halfnoise.planning.plan import Plan
from halfnoise.privacy.composition import compose
from halfnoise.privacy.definitions import (
    ApproxDP,
    ConcentratedDP,
    DiscoveryDP,
    GaussianDP,
    MixedDP,
    Neighbors,
    PureDP,
    RenyiDP,
)
from halfnoise.results.inference import Estimate
from halfnoise.results.release import GroupedRelease, Release
from halfnoise.workload.by import By
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.conditions import Where
from halfnoise.workload.numbers import Count, Counts, Mean, Sum
from halfnoise.workload.workload import Workload

__version__ = "0.1.0"

__all__ = [
    "ApproxDP",
    "Bins",
    "BudgetError",
    "By",
    "Choice",
    "ConcentratedDP",
    "Count",
    "Counts",
    "DataError",
    "DiscoveryDP",
    "Estimate",
    "GaussianDP",
    "GroupedRelease",
    "HalfnoiseError",
    "InvalidParameterError",
    "Items",
    "Ledger",
    "Mean",
    "MissingExtraError",
    "MixedDP",
    "Neighbors",
    "NotSupportedError",
    "Outlook",
    "Plan",
    "PureDP",
    "Release",
    "RenyiDP",
    "Sum",
    "TextFormat",
    "TryAgainError",
    "UnknownNameError",
    "Where",
    "Workload",
    "budget_for",
    "compose",
    "plan",
    "release",
]
