"""Private counts and sums with about half the noise.

>>> import halfnoise as hn
>>> workload = hn.Workload([hn.Counts(100)])
>>> hn.plan(workload, privacy=hn.GaussianDP(mu=1)).chosen.name
'correlated-gaussian'
"""

import importlib
import typing

from halfnoise import versions

if (
    typing.TYPE_CHECKING
):  # what editors and type checkers see of it; a test compares it with the table
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
    from halfnoise.planning.accept import Acceptance
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
    from halfnoise.report.embedded import read
    from halfnoise.results.inference import Estimate
    from halfnoise.results.release import GroupedRelease, Release
    from halfnoise.results.sampling import Sampling
    from halfnoise.workload.by import By
    from halfnoise.workload.categories import Bins, Choice, Items
    from halfnoise.workload.conditions import Where
    from halfnoise.workload.nested import Nested
    from halfnoise.workload.numbers import Count, Counts, Mean, Sum
    from halfnoise.workload.tables import Table
    from halfnoise.workload.weights import Weight
    from halfnoise.workload.workload import Workload

__version__ = versions.VERSION

# Where each name lives: it is imported when somebody asks for it.
_NAMES = {
    "data.sources.source": "TextFormat",
    "errors": (
        "BudgetError DataError HalfnoiseError InvalidParameterError MissingExtraError"
        " NotSupportedError TryAgainError UnknownNameError"
    ),
    "face": "release",
    "ledger.ledger": "Ledger",
    "planning.accept": "Acceptance",
    "planning.outlook": "Outlook budget_for plan",
    "planning.plan": "Plan",
    "privacy.composition": "compose",
    "privacy.definitions": (
        "ApproxDP ConcentratedDP DiscoveryDP GaussianDP MixedDP Neighbors PureDP RenyiDP"
    ),
    "report.embedded": "read",
    "results.inference": "Estimate",
    "results.release": "GroupedRelease Release",
    "results.sampling": "Sampling",
    "workload.by": "By",
    "workload.categories": "Bins Choice Items",
    "workload.conditions": "Where",
    "workload.nested": "Nested",
    "workload.numbers": "Count Counts Mean Sum",
    "workload.tables": "Table",
    "workload.weights": "Weight",
    "workload.workload": "Workload",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Acceptance",
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
    "Nested",
    "NotSupportedError",
    "Outlook",
    "Plan",
    "PureDP",
    "Release",
    "RenyiDP",
    "Sampling",
    "Sum",
    "Table",
    "TextFormat",
    "TryAgainError",
    "UnknownNameError",
    "Weight",
    "Where",
    "Workload",
    "budget_for",
    "compose",
    "plan",
    "read",
    "release",
]


def __getattr__(name: str) -> typing.Any:
    """Import a name from where it lives, once."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return all public names, whether somebody asked for them or not."""
    return [*__all__, "__version__"]
