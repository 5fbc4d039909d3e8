"""A release as JSON and back: a versioned schema, so that old files stay readable."""

import datetime as dt
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from flint import arb

from halfnoise.checks import fraction, not_negative, whole
from halfnoise.design.covariance import Covariance
from halfnoise.errors import DataError
from halfnoise.noise.law import Noise
from halfnoise.privacy import definitions
from halfnoise.privacy.definitions import ApproxDP, DiscoveryDP, Guarantee, Privacy, PureDP
from halfnoise.proof import round_up
from halfnoise.results.grouped import GroupedRelease
from halfnoise.results.inference import Errors, Estimate
from halfnoise.results.published import Published
from halfnoise.results.release import Release
from halfnoise.results.render import NOISE_ONLY
from halfnoise.results.table import COLUMNS, NUMBERS, Question, spelled
from halfnoise.workload.groups import By, Key

SCHEMA = 1
OWN = (
    *("schema", "guarantee", "level", "intervals", "by", "size", "queries", "groups", "notes"),
    "values",
)
"""What a release writes itself; the rest are its public facts."""

DELTAS = (1e-5, 1e-6, 1e-9)
"""Where nobody stated a delta, epsilon is given for these."""


def to_dict(release: Published) -> dict[str, Any]:
    """Return a release as plain values."""
    shown = _groups(release) if isinstance(release, GroupedRelease) else _table(rows(release))
    return {
        "schema": SCHEMA,
        "guarantee": guarantee_dict(release.guarantee, release.privacy),
        "level": release.level,
        "intervals": NOISE_ONLY,
        **shown,
        "notes": release.notes(),
        **release.facts,
        "values": {
            "estimates": release.values.tolist(),
            "rounded": release.rounded_values,
            "questions": [asdict(question) for question in release.questions],
            "noise": release.errors.noise.value,
            "covariance": release.errors.covariance.to_dict(),
            "copies": release.errors.copies,
            "privacy": _definition(release.privacy),
            "guarantee": _definition(release.guarantee),
            **_own_values(release),
        },
    }


def rows(release: Published) -> list[dict[str, Any]]:
    """Return the table row by row, without keys; what is infinite has no number in JSON."""
    found = release.columns()
    numbers = (
        [x if math.isfinite(x) else None for x in found[title].tolist()] for title in NUMBERS
    )
    text = (found[title].tolist() for title in ("name", "kind"))
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*text, *numbers, strict=True)]


def key_dict(release: GroupedRelease, key: Key) -> dict[str, Any]:
    """Return a key by column; what JSON has no word for becomes text."""
    return {
        each.column: spelled(value) if isinstance(_stored(value), dict) else value
        for each, value in zip(release.by, key, strict=True)
    }


def from_json(text: str) -> Release | GroupedRelease:
    """Read a release, with groups or without, from its JSON."""
    try:
        found = json.loads(text, parse_constant=_no_number)
        schema = found["schema"]
    except (ValueError, KeyError, TypeError):
        raise DataError("this is not the JSON of a release; it has no schema number") from None
    if schema != SCHEMA:
        raise DataError(f"schema must be {SCHEMA}, got {schema!r}; use a newer halfnoise")
    try:
        return _read(found)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(
            "this is not the JSON of a release; a part of it is missing or of another kind"
        ) from None


def _read(found: dict[str, Any]) -> Release | GroupedRelease:
    values = found["values"]
    estimates = np.array(values["estimates"], dtype=np.float64)
    errors = Errors(
        Noise(values["noise"]),
        Covariance.from_dict(values["covariance"]),
        whole(copies=values.get("copies", 1)),
    )
    questions = tuple(_question(each) for each in values["questions"])
    size = errors.covariance.size
    if sum(len(question.names) for question in questions) > size:
        raise ValueError
    shared: dict[str, Any] = {
        "questions": questions,
        "errors": errors,
        "guarantee": _defined(values["guarantee"]),
        "privacy": _defined(values["privacy"]),
        "level": fraction(level=found["level"]),
        "facts": {name: value for name, value in found.items() if name not in OWN},
        "rounded_values": values["rounded"],
    }
    if "groups" not in found:
        return Release(
            values=estimates.reshape(size),
            known_size=values["known_size"],
            remarks=tuple(values.get("remarks", ())),
            **shared,
        )
    by = tuple(By(**each) for each in found["by"])
    keys = tuple(tuple(_value(each) for each in key) for key in values["keys"])
    people = values["people"]
    if any(len(key) != len(by) for key in keys):
        raise ValueError
    return GroupedRelease(
        by=by,
        group_keys=keys,
        values=estimates.reshape(len(keys), size),
        common=not_negative(common=values["common"]),
        people=None if people is None else Estimate(**people),
        most=whole(most=values["most"]),
        discovered=values["discovered"],
        **shared,
    )


def guarantee_dict(guarantee: Guarantee, asked: Privacy) -> dict[str, Any]:
    """Return the guarantee in every definition that it implies, each rounded to the safe side.

    Where groups were discovered there is no rho, and mu or pure epsilon only beside the
    probability with which they do not hold.
    """
    implied: dict[str, Any]
    least = 0.0
    if isinstance(guarantee, DiscoveryDP):
        kept, least = guarantee.kept, guarantee.delta
        implied = {"pure_epsilon": kept.epsilon} if isinstance(kept, PureDP) else {"mu": kept.mu}
        implied["discover_delta"] = least
    elif isinstance(guarantee, PureDP):
        # Bun & Steinke 2016, Proposition 1.4.
        implied = {"mu": guarantee.mu, "rho": round_up(lambda: arb(guarantee.epsilon) ** 2 / 2)}
        implied |= {"epsilon": guarantee.epsilon, "delta": 0.0}
    else:
        implied = {"mu": guarantee.mu, "rho": round_up(lambda: arb(guarantee.mu) ** 2 / 2)}
    implied["best_guess"] = guarantee.best_guess
    if not isinstance(guarantee, PureDP):
        if isinstance(asked, ApproxDP):
            implied |= {"epsilon": guarantee.epsilon(asked.delta), "delta": asked.delta}
        implied["approximate"] = [
            {"epsilon": guarantee.epsilon(delta), "delta": delta}
            for delta in DELTAS
            if delta > least
        ]
    return implied


def _table(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the rows of one group as the number of people and the queries."""
    measured = found[0]["kind"] == "size"
    size = {title: found[0][title] for title in NUMBERS} if measured else None
    return {"size": size, "queries": found[measured:]}


def _groups(release: GroupedRelease) -> dict[str, Any]:
    found, size = rows(release), release.size
    each = len(found) // max(1, len(release))
    return {
        "by": [asdict(by) for by in release.by],
        "size": None if size is None else {title: getattr(size, title) for title in NUMBERS},
        "groups": [
            {"key": key_dict(release, key)} | _table(found[i * each : (i + 1) * each])
            for i, key in enumerate(release.group_keys)
        ],
    }


def _own_values(release: Published) -> dict[str, Any]:
    """Return what one kind of release alone needs to be read again."""
    if not isinstance(release, GroupedRelease):
        return {name: getattr(release, name) for name in ("known_size", "remarks")}
    people = release.people
    return {
        "keys": [[_stored(value) for value in key] for key in release.group_keys],
        "people": None if people is None else asdict(people),
    } | {name: getattr(release, name) for name in ("common", "most", "discovered")}


def _stored(value: object) -> object:
    """Return a value of a key so that its type comes back from JSON."""
    if isinstance(value, dt.datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, dt.date):
        return {"day": value.isoformat()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value


def _value(stored: Any) -> Any:  # noqa: ANN401
    if not isinstance(stored, dict):
        return stored
    ((kind, text),) = stored.items()
    readers: dict[str, Callable[[str], object]] = {
        "moment": dt.datetime.fromisoformat,
        "day": dt.date.fromisoformat,
        "number": float,
    }
    return readers[kind](text)


def _no_number(_: str) -> float:
    raise ValueError


def _definition(privacy: object) -> dict[str, Any]:
    """Return a privacy definition with its name."""
    fields = {name: getattr(privacy, name) for name in privacy.__dataclass_fields__}  # type: ignore[attr-defined]
    if isinstance(privacy, DiscoveryDP):
        fields["kept"] = _definition(privacy.kept)
    return {"kind": type(privacy).__name__} | fields


def _defined(stored: dict[str, Any]) -> Any:  # noqa: ANN401
    kinds = {"GaussianDP", "ApproxDP", "ConcentratedDP", "RenyiDP", "PureDP", "DiscoveryDP"}
    if stored["kind"] not in kinds:
        raise DataError("this is not the JSON of a release; its privacy definition is unknown")
    fields = {name: value for name, value in stored.items() if name != "kind"}
    if "kept" in fields:
        fields["kept"] = _defined(fields["kept"])
    return getattr(definitions, stored["kind"])(**fields)


def _question(stored: dict[str, Any]) -> Question:
    bounds = stored["bounds"]
    names = tuple(stored["names"])
    return Question(
        **stored | {"names": names, "bounds": None if bounds is None else tuple(bounds)}
    )
