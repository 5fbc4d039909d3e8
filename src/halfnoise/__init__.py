"""Private counts and sums with about half the noise.

>>> import halfnoise as hn
>>> workload = hn.Workload([hn.Counts(100)])
>>> hn.plan(workload, privacy=hn.GaussianDP(mu=1)).chosen.name
'correlated-gaussian'
"""

from halfnoise.data.sources.source import TextFormat
from halfnoise.errors import (
    DataError,
    HalfnoiseError,
    InvalidParameterError,
    MissingExtraError,
    NotSupportedError,
)
from halfnoise.ledger.protocol import Ledger
from halfnoise.mechanism import release
from halfnoise.planning.budgeting import budget_for
from halfnoise.planning.plan import Outlook, Plan, plan
from halfnoise.privacy.definitions import (
    ApproxDP,
    ConcentratedDP,
    DiscoveryDP,
    GaussianDP,
    Neighbors,
    PureDP,
    RenyiDP,
    compose,
)
from halfnoise.results.grouped import GroupedRelease
from halfnoise.results.release import Release
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.conditions import Where
from halfnoise.workload.groups import By
from halfnoise.workload.numbers import Count, Counts, Mean, Sum
from halfnoise.workload.workload import Workload

__version__ = "0.1.0"

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
    "TextFormat",
    "Where",
    "Workload",
    "budget_for",
    "compose",
    "plan",
    "release",
]
