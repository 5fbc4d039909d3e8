"""A release as JSON and back: a versioned schema, so that old files stay readable."""

import datetime as dt
import json
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from halfnoise.checks import fraction, not_negative, whole
from halfnoise.design.covariance import Covariance
from halfnoise.errors import DataError
from halfnoise.noise.law import Noise
from halfnoise.privacy import words as privacy
from halfnoise.privacy.definitions import DiscoveryDP, Guarantee
from halfnoise.results.inference import Errors, Estimate
from halfnoise.results.release import GroupedRelease, Release, Released
from halfnoise.results.render import NOISE_ONLY
from halfnoise.results.table import COLUMNS, NUMBERS
from halfnoise.text import spelled
from halfnoise.workload.groups import By, Key
from halfnoise.workload.question import Question

SCHEMA = 1
# What a release writes itself; the rest are its public facts.
OWN = ("schema", "guarantee", "level", "intervals", "by", "size", "queries", "groups", "notes")


def to_dict(release: Released) -> dict[str, Any]:
    """Return a release as plain values."""
    return {
        "schema": SCHEMA,
        "guarantee": privacy.implied(release.guarantee, release.privacy),
        "level": release.level,
        "intervals": NOISE_ONLY,
        **_shown(release),
        "notes": release.notes(),
        **_needed(release),
    }


def to_keep(release: Released) -> bytes:
    """Return what ``from_json`` needs of a release, and nothing that follows from it."""
    by = (
        {"by": [asdict(by) for by in release.by], "groups": []}
        if isinstance(release, GroupedRelease)
        else {}
    )
    found = {"schema": SCHEMA, "level": release.level, **by, **_needed(release)}
    return json.dumps(found, allow_nan=False).encode()


def _needed(release: Released) -> dict[str, Any]:
    return {
        **release.facts,
        "values": {
            "estimates": release.values.tolist(),
            "rounded": release.rounded_values,
            "questions": [question.to_dict() for question in release.questions],
            "noise": release.errors.noise.value,
            "covariance": release.errors.covariance.to_dict(),
            "copies": release.errors.copies,
            "privacy": privacy.to_dict(release.privacy),
            "guarantee": privacy.to_dict(release.guarantee),
            **_own(release),
        },
    }


def rows(release: Released) -> list[dict[str, Any]]:
    """Return the table row by row, without keys; what is infinite has no number in JSON."""
    table = release.columns()
    numbers = ([x if math.isfinite(x) else None for x in table[name].tolist()] for name in NUMBERS)
    text = (table[name].tolist() for name in ("name", "kind"))
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*text, *numbers, strict=True)]


def key_dict(release: GroupedRelease, key: Key) -> dict[str, Any]:
    """Return a key by column; what JSON has no word for becomes text."""
    return {
        each.column: spelled(value) if isinstance(_stored(value), dict) else value
        for each, value in zip(release.by, key, strict=True)
    }


def from_json(text: str) -> Released:
    """Read a release, with groups or without, from its JSON."""
    try:
        found = json.loads(text, parse_constant=READERS.__getitem__)  # there is none for NaN
        schema = found["schema"]
    except (ValueError, KeyError, TypeError):
        raise DataError("this is not the JSON of a release; it has no schema number") from None
    if schema != SCHEMA:
        raise DataError(f"schema must be {SCHEMA}, got {schema!r}; use a newer halfnoise")
    try:
        return _read(found)
    except (ValueError, KeyError, TypeError, AttributeError):
        why = "this is not the JSON of a release; a part of it is missing or of another kind"
        raise DataError(why) from None


def _read(found: dict[str, Any]) -> Released:
    values = found["values"]
    template = _template(found, values)
    estimates = np.array(values["estimates"], dtype=np.float64)
    if "groups" not in found:
        own = {"known_size": values["known_size"], "remarks": tuple(values.get("remarks", ()))}
        return replace(template, values=estimates.reshape(template.values.shape), **own)
    by = tuple(By(**each) for each in found["by"])
    keys = tuple(tuple(_value(each) for each in key) for key in values["keys"])
    if any(len(key) != len(by) for key in keys):
        raise ValueError
    people = values["people"]
    return GroupedRelease(
        template=template,
        by=by,
        group_keys=keys,
        values=estimates.reshape(len(keys), template.values.size),
        common=not_negative(common=values["common"]),
        people=None if people is None else Estimate(**people),
        most=whole(most=values["most"]),
        discovered=values["discovered"],
    )


def _template(found: dict[str, Any], values: dict[str, Any]) -> Release:
    """Read all but the values themselves, the same for a release and for each of its groups."""
    covariance = Covariance.from_dict(values["covariance"])
    questions = tuple(Question.from_dict(each) for each in values["questions"])
    if covariance.size - sum(len(question.names) for question in questions) not in (0, 1):
        raise ValueError
    guarantee, asked = (privacy.from_dict(values[name]) for name in ("guarantee", "privacy"))
    if not isinstance(guarantee, Guarantee) or isinstance(asked, DiscoveryDP):
        raise TypeError
    return Release(
        questions=questions,
        values=np.zeros(covariance.size),
        errors=Errors(Noise(values["noise"]), covariance, whole(copies=values.get("copies", 1))),
        guarantee=guarantee,
        privacy=asked,
        level=fraction(level=found["level"]),
        facts={name: value for name, value in found.items() if name not in (*OWN, "values")},
        rounded_values=values["rounded"],
    )


def _table(found: list[dict[str, Any]], *, sized: bool) -> dict[str, Any]:
    """Return the rows of one group as the number of people and the queries."""
    size = {title: found[0][title] for title in NUMBERS} if sized else None
    return {"size": size, "queries": found[sized:]}


def _shown(release: Released) -> dict[str, Any]:
    """Return the tables of a release, for people."""
    found = rows(release)
    if not isinstance(release, GroupedRelease):
        return _table(found, sized=release.has_size)
    size, sized = release.size, release.template.has_size
    each = len(found) // max(1, len(release))
    return {
        "by": [asdict(by) for by in release.by],
        "size": None if size is None else {title: getattr(size, title) for title in NUMBERS},
        "groups": [
            {"key": key_dict(release, key)} | _table(found[i * each : (i + 1) * each], sized=sized)
            for i, key in enumerate(release.group_keys)
        ],
    }


def _own(release: Released) -> dict[str, Any]:
    """Return what a release of its kind alone needs to be read again."""
    if not isinstance(release, GroupedRelease):
        return {name: getattr(release, name) for name in ("known_size", "remarks")}
    people = release.people
    own = {
        "keys": [[_stored(value) for value in key] for key in release.group_keys],
        "people": None if people is None else asdict(people),
    }
    return own | {name: getattr(release, name) for name in ("common", "most", "discovered")}


READERS: dict[str, Callable[[str], object]] = {
    "moment": dt.datetime.fromisoformat,
    "day": dt.date.fromisoformat,
    "number": float,
}


def _stored(value: object) -> object:
    """Return a value of a key so that its type comes back from JSON."""
    if isinstance(value, dt.datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, dt.date):
        return {"day": value.isoformat()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value


def _value(stored: Any) -> Any:
    if not isinstance(stored, dict):
        return stored
    ((kind, text),) = stored.items()
    return READERS[kind](text)
