"""A release as JSON and back: a versioned schema, so that old files stay readable."""

import datetime as dt
import json
import math
from dataclasses import asdict
from typing import Any

from halfnoise.privacy import words as privacy
from halfnoise.results.inference import NUMBERS
from halfnoise.results.reading import SCHEMA, from_json
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.results.sampling import caption
from halfnoise.results.table import COLUMNS
from halfnoise.text import spelled
from halfnoise.workload.by import By
from halfnoise.workload.listing import Key

__all__ = ["from_json"]  # beside what writes


def to_dict(release: Released) -> dict[str, Any]:
    """Return a release as plain values."""
    return {
        "schema": SCHEMA,
        "guarantee": privacy.implied(release.guarantee, release.privacy),
        "level": release.level,
        "intervals": caption(release.sampling, weighted="weight" in release.facts),
        **_shown(release),
        "notes": release.notes(),
        **_needed(release),
    }


def to_keep(release: Released) -> bytes:
    """Return what ``from_json`` needs of a release, and nothing that follows from it."""
    by = (
        {"by": [_column(by) for by in release.by], "groups": []}
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
            **_sampling(release),
            **_own(release),
        },
    }


def _sampling(release: Released) -> dict[str, Any]:
    return {} if release.sampling is None else {"sampling": asdict(release.sampling)}


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
        "by": [_column(by) for by in release.by],
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
    own: dict[str, Any] = {
        "keys": [[_stored(value) for value in key] for key in release.group_keys],
        "people": None if people is None else asdict(people),
    }
    own |= {"between": [asdict(term) for term in release.between]} if release.between else {}
    return own | {name: getattr(release, name) for name in ("common", "most", "discovered")}


def _column(by: By) -> dict[str, Any]:
    """Return what is said of a column of keys; its codes for no answer are not needed."""
    more = {"zone": by.zone, "bands": None if by.bands is None else list(by.bands)}
    said = {name: value for name, value in more.items() if value is not None}
    return {"column": by.column, "every": by.every} | said


def _stored(value: object) -> object:
    """Return a value of a key so that its type comes back from JSON."""
    if isinstance(value, dt.datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, dt.date):
        return {"day": value.isoformat()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value
