"""Guarantees and budgets in words and as plain values, each number rounded to the safe side."""

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context
from typing import Any

from flint import arb

from halfnoise.checks import installed
from halfnoise.errors import DataError
from halfnoise.privacy.definitions import (
    ApproxDP,
    ConcentratedDP,
    DiscoveryDP,
    GaussianDP,
    Guarantee,
    MixedDP,
    Privacy,
    PureDP,
    RenyiDP,
)
from halfnoise.proof import round_up
from halfnoise.text import at_most

DELTAS = (1e-5, 1e-6, 1e-9)  # where nobody stated a delta, epsilon is given for these
KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (GaussianDP, ApproxDP, ConcentratedDP, RenyiDP, PureDP, MixedDP, DiscoveryDP)
}


def definition(privacy: Privacy) -> str:
    """Name a privacy definition in files."""
    name = type(privacy).__name__
    return "approximate" if name == "ApproxDP" else name.removesuffix("DP").lower()


def amounts(privacy: Privacy | MixedDP | DiscoveryDP) -> dict[str, Any]:
    """Return the numbers of a definition by name."""
    return {name: getattr(privacy, name) for name in getattr(privacy, "__dataclass_fields__", {})}


def spending(privacy: Privacy, releases: int) -> str:
    """Say what the budget is."""
    split = "" if releases == 1 else f", split over {releases} equal releases; below, one of them"
    return f"Budget: {_said(privacy)}{split}."


def _said(privacy: Privacy) -> str:
    fields, order = amounts(privacy), ("epsilon", "delta", "mu", "rho", "alpha")
    return ", ".join(f"{name} {fields[name]:g}" for name in order if name in fields)


def promise(guarantee: Guarantee, asked: Privacy) -> str:
    """Say what is promised to each person, in the measure that was asked for, and its worth."""
    said = ", ".join(f"{name} {upward(x)}" for name, x in _promised(guarantee, asked).items())
    if isinstance(guarantee, DiscoveryDP):
        delta = f"{guarantee.delta:.3g}"
        part = isinstance(asked, ApproxDP) and not isinstance(guarantee.kept, PureDP)
        said += f", of which {delta} is" if part else f", except with probability {delta},"
        said += " for discovering groups"
    right = f"right in at most {at_most(guarantee.best_guess)} of cases"
    return f"Promised: {said}. The best guess is {right}; a coin flip, in 50%."


def _promised(guarantee: Guarantee, asked: Privacy) -> dict[str, float]:
    kept = guarantee.kept if isinstance(guarantee, DiscoveryDP) else guarantee
    if isinstance(kept, PureDP):
        return {"pure epsilon": kept.epsilon}
    if isinstance(asked, ApproxDP) and not isinstance(guarantee, PureDP):
        return {"epsilon": guarantee.epsilon(asked.delta), "delta": asked.delta}
    mu = kept.mu
    if isinstance(asked, ConcentratedDP):
        return {"rho": round_up(lambda: arb(mu) ** 2 / 2)}
    if isinstance(asked, RenyiDP):
        alpha = asked.alpha
        return {"epsilon": round_up(lambda: arb(alpha) * arb(mu) ** 2 / 2), "alpha": alpha}
    return {"mu": mu}


def upward(x: float) -> str:
    """Write an amount with six digits, rounded up, but for what float64 adds to it."""
    up = Context(prec=6, rounding=ROUND_CEILING)
    return f"{float(up.create_decimal(repr(x * (1 - 1e-12)))):g}"


def implied(guarantee: Guarantee, asked: Privacy) -> dict[str, Any]:
    """Return the guarantee in every definition that it implies, each rounded to the safe side.

    Where groups were discovered there is no rho, and mu or pure epsilon only beside the
    probability with which they do not hold.
    """
    said: dict[str, Any]
    least = 0.0
    if isinstance(guarantee, DiscoveryDP):
        kept, least = guarantee.kept, guarantee.delta
        said = {"pure_epsilon": kept.epsilon} if isinstance(kept, PureDP) else {"mu": kept.mu}
        said["discover_delta"] = least
    else:
        pure = isinstance(guarantee, PureDP)
        loss = guarantee.epsilon if isinstance(guarantee, PureDP) else guarantee.mu
        # With pure epsilon by Bun & Steinke 2016, Proposition 1.4.
        said = {"mu": guarantee.mu, "rho": round_up(lambda: arb(loss) ** 2 / 2)}
        said |= {"epsilon": loss, "delta": 0.0} if pure else {}
    said["best_guess"] = guarantee.best_guess
    if not isinstance(guarantee, PureDP):
        if isinstance(asked, ApproxDP):
            said |= {"epsilon": guarantee.epsilon(asked.delta), "delta": asked.delta}
        stated = [delta for delta in DELTAS if delta > least]
        said["approximate"] = [{"epsilon": guarantee.epsilon(d), "delta": d} for d in stated]
    return said


def dp_event(guarantee: Guarantee) -> Any:
    """Return a guarantee as an event of Google's dp_accounting."""
    events = installed("dp_accounting")
    kept = guarantee.kept if isinstance(guarantee, DiscoveryDP) else guarantee
    if isinstance(kept, PureDP):
        event = events.LaplaceDpEvent(1 / kept.epsilon)
    else:
        event = events.GaussianDpEvent(1 / kept.mu)
    if not isinstance(guarantee, DiscoveryDP):
        return event
    # A little likelier, by far more than that little noise could hide.
    likely = math.nextafter(guarantee.delta, 1)
    shown = events.PoissonSampledDpEvent(likely, events.LaplaceDpEvent(0.01))
    return events.ComposedDpEvent([event, shown])


def to_dict(privacy: Privacy | MixedDP | DiscoveryDP) -> dict[str, Any]:
    """Return a privacy definition with its name, as plain values."""
    fields = amounts(privacy).items()
    plain = {name: x if isinstance(x, float) else to_dict(x) for name, x in fields}
    return {"kind": type(privacy).__name__} | plain


def from_dict(stored: Mapping[str, Any]) -> Privacy | DiscoveryDP:
    """Read a privacy definition from plain values."""
    fields = dict(stored)
    kind = KINDS.get(fields.pop("kind"))
    if kind is None:
        raise DataError("this is not the JSON of a release; its privacy definition is unknown")
    parts = {name: from_dict(part) for name, part in fields.items() if isinstance(part, Mapping)}
    privacy: Privacy | DiscoveryDP = kind(**fields | parts)
    return privacy
