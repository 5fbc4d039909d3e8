"""A release from its JSON: each part is checked before it is taken; anybody may have written it.

What is read can be shown, written and compared like any other release.
"""

import datetime as dt
import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from halfnoise.checks import (
    finite,
    fraction,
    is_text,
    not_negative,
    positive,
    refuse,
    whole,
    yes_or_no,
)
from halfnoise.design.covariance import Covariance, Shared
from halfnoise.errors import DataError
from halfnoise.noise.law import Noise
from halfnoise.privacy import definitions as dp
from halfnoise.privacy import words as privacy
from halfnoise.results.inference import Errors, Estimate
from halfnoise.results.nest import Nest
from halfnoise.results.release import GroupedRelease, Release, Released
from halfnoise.results.reliability import Reliability
from halfnoise.results.sampled import fault
from halfnoise.results.sampling import Sampling
from halfnoise.results.whole import families
from halfnoise.workload.by import By
from halfnoise.workload.question import Question
from halfnoise.workload.weights import HEADS

SCHEMA = 1
# What a release writes itself; the rest are its public facts.
OWN = ("schema", "guarantee", "level", "intervals", "by", "size", "queries", "groups", "notes")
DEPTH = 20  # so far may facts be nested; ours are three deep
MOST_CELLS = 2**24  # of a release by group that has no group
LARGEST = 1e10  # no release of ours spends so much, or as little as one part of it
_BROKEN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_ASKED = (dp.GaussianDP, dp.ApproxDP, dp.ConcentratedDP, dp.RenyiDP, dp.PureDP)
READERS: dict[str, Callable[[str], object]] = {
    "moment": dt.datetime.fromisoformat,
    "day": dt.date.fromisoformat,
    "number": float,
}


def from_json(text: str) -> Released:
    """Read a release, with groups or without, from its JSON."""
    try:
        found = json.loads(text, parse_constant=READERS.__getitem__)  # there is none for NaN
        schema = found["schema"]
    except _BROKEN:
        raise DataError("this is not the JSON of a release; it has no schema number") from None
    if type(schema) is not int or schema != SCHEMA:
        newer = refuse("schema", str(SCHEMA), schema, "use a newer halfnoise")
        raise DataError(str(newer)) from None
    try:
        return _read(found)
    except _BROKEN:
        why = "this is not the JSON of a release; a part of it is missing or of another kind"
        raise DataError(why) from None


def _read(found: dict[str, Any]) -> Released:
    values = found["values"]
    template = _template(found, values)
    estimates = np.array(values["estimates"], dtype=np.float64)
    _hold((np.abs(estimates) <= Covariance.MOST).all())  # and none is NaN
    if "groups" not in found:
        size = values["known_size"]
        own: dict[str, Any] = {
            "known_size": None if size is None else not_negative(known_size=size),
            "remarks": tuple(map(_text, _list(values.get("remarks", [])))),
        }
        release = replace(template, values=estimates.reshape(template.values.shape), **own)
        _hold(release.sampling is None or not fault(release, sized=release.has_size))
        return release
    by = tuple(By(**each) for each in found["by"])
    keys = tuple(tuple(map(_value, _list(key))) for key in _list(values["keys"]))
    _hold(len(by) and all(len(key) == len(by) for key in keys))
    people, common = values["people"], not_negative(common=values["common"])
    shared = template.errors.covariance.shared
    _hold(common <= (shared[-1].weight if shared else 0.0) * (1 + 1e-9))
    _hold(template.sampling is None or not fault(template, sized=template.has_size))
    between = _between(values.get("between", []), template)
    return GroupedRelease(
        template=template,
        by=by,
        group_keys=keys,
        values=estimates.reshape(len(keys), template.values.size),
        common=common,
        between=between,
        people=None if people is None else _estimate(people),
        most=_many(values["most"]),
        discovered=yes_or_no(found=values["discovered"]),
    )


def _between(stored: Any, template: Release) -> tuple[Shared, ...]:
    """Read what two groups share, which is no more than what each of them has."""
    covariance = template.errors.covariance
    terms = Covariance.terms_from(_list(stored), covariance.size)
    shared = Covariance(covariance.size, (), terms).diagonal()
    _hold((np.abs(shared) <= covariance.diagonal() * (1 + 1e-6)).all())
    return terms


def _template(found: dict[str, Any], values: dict[str, Any]) -> Release:
    """Read all but the values themselves, the same for a release and for each of its groups."""
    questions = tuple(Question.from_dict(each) for each in _list(values["questions"]))
    count = 0
    for question in questions:
        _hold(question.start == count)
        count += len(question.names)
    sized = values["covariance"]["size"] == count + 1
    _hold(count and (sized or values["covariance"]["size"] == count))  # before one is made of it
    # Of a table a few words name very many cells: as many as there are estimates.
    rows = _list(values["estimates"]) if "groups" in found else [values["estimates"]]
    _hold(count + sized == len(_list(rows[0])) if rows else count < MOST_CELLS)
    covariance = Covariance.from_dict(values["covariance"])
    _hold(not sized or covariance.variance(count) > 0)
    _check_tables(questions, covariance)
    guarantee, asked = (privacy.from_dict(values[name]) for name in ("guarantee", "privacy"))
    kept = guarantee.kept if isinstance(guarantee, dp.DiscoveryDP) else guarantee
    _hold(isinstance(kept, dp.GaussianDP | dp.PureDP))
    _hold(all(1 / LARGEST <= amount <= LARGEST for amount in privacy.amounts(kept).values()))
    if not isinstance(guarantee, dp.Guarantee) or not isinstance(asked, _ASKED):
        raise TypeError
    how = Sampling(**values["sampling"]) if "sampling" in values else None
    _hold(how is None or all(q.bounds or q.name == HEADS or not q.limited for q in questions))
    facts = {name: value for name, value in found.items() if name not in (*OWN, "values")}
    _check_facts(facts)
    return Release(
        questions=questions,
        values=np.zeros(covariance.size),
        errors=Errors(Noise(values["noise"]), covariance, _many(values.get("copies", 1))),
        guarantee=guarantee,
        privacy=asked,
        level=fraction(level=found["level"]),
        facts=facts,
        rounded_values=yes_or_no(rounded=values["rounded"]),
        sampling=how,
    )


def _check_tables(questions: tuple[Question, ...], covariance: Covariance) -> None:
    """Refuse tables whose cells are not where the covariance has them, or whose margins lack."""
    asked, tables = [each for each in questions if each.in_tables], covariance.tables
    if tables is None:
        return _hold(not asked)
    starts = [(q, at) for q in asked for at in range(q.start, q.stop, q.cells)]
    _hold([at for _, at in starts] == [at for _, _, at, _ in tables.tables])
    axes, places = dict[str, Any](), dict[int, str]()
    for (question, at), (_, own, _, stop) in zip(starts, tables.tables, strict=True):
        shape = [len(categories) for _, categories in question.axes]
        _hold(stop - at == math.prod(shape) and shape == [tables.levels[axis] for axis in own])
        for (label, categories), axis in zip(question.axes, own, strict=True):
            _hold(axes.setdefault(label, (categories, axis)) == (categories, axis))
            _hold(places.setdefault(axis, label) == label)
    for family in families(questions):
        by = {*family.tables} | ({()} if family.question.kind == "table" else set())
        _hold(all(each[:i] + each[i + 1 :] in by for each in by for i in range(len(each))))
        nest = Nest.of(questions, covariance)
        _hold(all(around in by for each in by for around in nest.around(each)))
    _hold(len(starts) == sum(len(family.tables) for family in families(questions)))
    return None


def _check_facts(facts: dict[str, Any]) -> None:
    """Refuse facts that cannot be shown where those that we know are."""
    _check_plain(facts, DEPTH)
    design = facts.get("design", {"name": "", "why": ""})
    grouping, only = facts.get("grouping", {}), facts.get("only", {})
    least = positive(bound=1.0 if (bound := design.get("least_error_bound")) is None else bound)
    _hold(math.isfinite(1000 * not_negative(error=design.get("error", 0)) / least))
    texts = [design["name"], design["why"], *_list(facts.get("where", [])), *only.values()]
    if "weight" in facts:
        low, high = (finite(bound=each) for each in _list(facts["weight"]["bounds"]))
        _hold({*facts["weight"]} == {"column", "bounds"} and 0 <= low < high)
        texts.append(facts["weight"]["column"])
    texts += facts.get("meaning", {}).values()
    other, limit = grouping.get("other"), grouping.get("threshold")
    for each in (*texts, "" if other is None else other):
        _text(each)
    not_negative(threshold=0 if limit is None else limit)
    Reliability.of(facts)


def _check_plain(part: object, room: int) -> None:
    """Refuse what is nested too deep, or can be read but not be written."""
    _hold(room)
    if isinstance(part, dict | list):
        for each in (*part, *(part.values() if isinstance(part, dict) else ())):
            _check_plain(each, room - 1)
    elif isinstance(part, str):
        _text(part)
    elif isinstance(part, float):
        finite(fact=part)


def _estimate(stored: dict[str, Any]) -> Estimate:
    numbers = {name: finite(**{name: x}) for name, x in stored.items() if name != "name"}
    return Estimate(name=_text(stored["name"]), **numbers)


def _value(stored: Any) -> Any:
    """Return a value of a key; a dictionary says its type."""
    if isinstance(stored, dict):
        ((kind, text),) = stored.items()
        stored = READERS[kind](_text(text))
    elif isinstance(stored, str):
        _text(stored)
    _hold(isinstance(stored, str | int | float | dt.date | None))
    _hold(not isinstance(stored, float) or not math.isnan(stored))
    return stored


def _text(part: object) -> str:
    _hold(is_text(part))
    return str(part)


def _list(part: Any) -> list[Any]:
    _hold(isinstance(part, list))
    return list(part)


def _many(part: object) -> int:
    found = whole(number=part)
    _hold(found <= 2**53)  # a float64 holds it
    return found


def _hold(condition: object) -> None:
    if not condition:
        raise ValueError
