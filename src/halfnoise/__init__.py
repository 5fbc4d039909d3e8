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
_HOMES = {
    "Acceptance": "planning.accept",
    "ApproxDP": "privacy.definitions",
    "Bins": "workload.categories",
    "BudgetError": "errors",
    "By": "workload.by",
    "Choice": "workload.categories",
    "ConcentratedDP": "privacy.definitions",
    "Count": "workload.numbers",
    "Counts": "workload.numbers",
    "DataError": "errors",
    "DiscoveryDP": "privacy.definitions",
    "Estimate": "results.inference",
    "GaussianDP": "privacy.definitions",
    "GroupedRelease": "results.release",
    "HalfnoiseError": "errors",
    "InvalidParameterError": "errors",
    "Items": "workload.categories",
    "Ledger": "ledger.ledger",
    "Mean": "workload.numbers",
    "MissingExtraError": "errors",
    "MixedDP": "privacy.definitions",
    "Neighbors": "privacy.definitions",
    "Nested": "workload.nested",
    "NotSupportedError": "errors",
    "Outlook": "planning.outlook",
    "Plan": "planning.plan",
    "PureDP": "privacy.definitions",
    "Release": "results.release",
    "RenyiDP": "privacy.definitions",
    "Sampling": "results.sampling",
    "Sum": "workload.numbers",
    "Table": "workload.tables",
    "TextFormat": "data.sources.source",
    "TryAgainError": "errors",
    "UnknownNameError": "errors",
    "Weight": "workload.weights",
    "Where": "workload.conditions",
    "Workload": "workload.workload",
    "budget_for": "planning.outlook",
    "compose": "privacy.composition",
    "plan": "planning.outlook",
    "read": "report.embedded",
    "release": "face",
}

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
