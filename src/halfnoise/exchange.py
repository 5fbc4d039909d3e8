"""A release as JSON and back: a versioned schema, so that old files stay readable."""

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np
from flint import arb

from halfnoise import privacy as definitions
from halfnoise.calibration import round_up
from halfnoise.checks import fraction
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.noise import Noise
from halfnoise.errors import DataError
from halfnoise.inference import Errors, Estimate
from halfnoise.privacy import ApproxDP, GaussianDP, Privacy, PureDP
from halfnoise.result import NOISE_ONLY, Question, Release

SCHEMA = 1
OWN = ("schema", "guarantee", "level", "intervals", "size", "queries", "notes", "values")
"""What a release writes itself; the rest are its public facts."""

DELTAS = (1e-5, 1e-6, 1e-9)
"""Where nobody stated a delta, epsilon is given for these."""


def to_dict(release: Release) -> dict[str, Any]:
    """Return a release as plain values."""
    size = release.size
    return {
        "schema": SCHEMA,
        "guarantee": guarantee_dict(release.guarantee, release.privacy),
        "level": release.level,
        "intervals": NOISE_ONLY,
        "size": None if size is None else _estimate(size),
        "queries": [
            {"name": each.name, "kind": kind} | _estimate(each)
            for kind, each in release.rows()
            if kind != "size"
        ],
        "notes": release.notes(),
        **release.facts,
        "values": {
            "estimates": release.values.tolist(),
            "known_size": release.known_size,
            "rounded": release.rounded_values,
            "questions": [asdict(question) for question in release.questions],
            "noise": release.errors.noise.value,
            "covariance": asdict(release.errors.covariance),
            "privacy": {"kind": type(release.privacy).__name__} | _fields(release.privacy),
            "guarantee": {"kind": type(release.guarantee).__name__} | _fields(release.guarantee),
        },
    }


def from_json(text: str) -> Release:
    """Read a release from its JSON."""
    try:
        found = json.loads(text, parse_constant=_no_number)
        schema = found["schema"]
    except (ValueError, KeyError, TypeError):
        raise DataError("this is not the JSON of a release; it has no schema number") from None
    if schema != SCHEMA:
        raise DataError(f"schema must be {SCHEMA}, got {schema!r}; use a newer halfnoise")
    try:
        return _release(found)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(
            "this is not the JSON of a release; a part of it is missing or of another kind"
        ) from None


def _release(found: dict[str, Any]) -> Release:
    values = found["values"]
    release = Release(
        questions=tuple(_question(each) for each in values["questions"]),
        values=np.array(values["estimates"], dtype=np.float64),
        errors=Errors(Noise(values["noise"]), _covariance(values["covariance"])),
        guarantee=_definition(values["guarantee"]),
        privacy=_definition(values["privacy"]),
        level=fraction(level=found["level"]),
        known_size=values["known_size"],
        facts={name: value for name, value in found.items() if name not in OWN},
        rounded_values=values["rounded"],
    )
    if not len(release.names) <= len(release.values) == release.errors.covariance.size:
        raise ValueError
    return release


def guarantee_dict(guarantee: GaussianDP | PureDP, asked: Privacy) -> dict[str, Any]:
    """Return the guarantee in every definition that it implies, each rounded to the safe side."""
    mu = guarantee.mu
    implied: dict[str, Any] = {"mu": mu, "best_guess": guarantee.best_guess}
    if isinstance(guarantee, PureDP):
        # Bun & Steinke 2016, Proposition 1.4.
        implied |= {"epsilon": guarantee.epsilon, "delta": 0.0}
        implied["rho"] = round_up(lambda: arb(guarantee.epsilon) ** 2 / 2)
        return implied
    implied["rho"] = round_up(lambda: arb(mu) ** 2 / 2)
    if isinstance(asked, ApproxDP):
        implied |= {"epsilon": guarantee.epsilon(asked.delta), "delta": asked.delta}
    implied["approximate"] = [
        {"epsilon": guarantee.epsilon(delta), "delta": delta} for delta in DELTAS
    ]
    return implied


def _estimate(each: Estimate) -> dict[str, float | None]:
    numbers = {"estimate": each.estimate, "std": each.std, "low": each.low, "high": each.high}
    # JSON has no infinity: an interval without an end has none.
    return {name: x if math.isfinite(x) else None for name, x in numbers.items()}


def _no_number(_: str) -> float:
    raise ValueError


def _fields(privacy: Privacy) -> dict[str, float]:
    return {name: getattr(privacy, name) for name in privacy.__dataclass_fields__}  # type: ignore[attr-defined]


def _definition(stored: dict[str, Any]) -> Any:  # noqa: ANN401
    kinds = {"GaussianDP", "ApproxDP", "ConcentratedDP", "RenyiDP", "PureDP"}
    if stored["kind"] not in kinds:
        raise DataError("this is not the JSON of a release; its privacy definition is unknown")
    fields = {name: value for name, value in stored.items() if name != "kind"}
    return getattr(definitions, stored["kind"])(**fields)


def _question(stored: dict[str, Any]) -> Question:
    bounds = stored["bounds"]
    names = tuple(stored["names"])
    return Question(
        **stored | {"names": names, "bounds": None if bounds is None else tuple(bounds)}
    )


def _covariance(stored: dict[str, Any]) -> Covariance:
    return Covariance(
        size=stored["size"],
        variances=tuple(Run(**run) for run in stored["variances"]),
        shared=tuple(
            Shared(term["weight"], tuple(Run(**run) for run in term["loadings"]))
            for term in stored["shared"]
        ),
    )
