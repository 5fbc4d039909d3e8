"""Which sentences are true of a release, for its method note: each by name, with what fills it."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from halfnoise.privacy.definitions import DiscoveryDP, Guarantee, PureDP
from halfnoise.privacy.words import implied
from halfnoise.results.release import GroupedRelease, Released, template_of
from halfnoise.results.reliability import Reliability
from halfnoise.results.render import error_and_bound
from halfnoise.text import above
from halfnoise.workload.weights import HEADS, SQUARES

SYMBOLS = {"epsilon": "ε", "delta": "δ", "mu": "μ", "discover_delta": "δ"}
SYMBOLS |= {"rho": "\N{GREEK SMALL LETTER RHO}", "alpha": "\N{GREEK SMALL LETTER ALPHA}"}
USUAL = 1e-6  # the delta where nobody stated one
CORRELATED = "correlated"  # how the paper's designs are called
Sentence: TypeAlias = tuple[str, Mapping[str, Any]]  # which one, and what is filled in


class Composed(NamedTuple):
    """What a ledger says of all releases about the same people: how many, and what they cost.

    ``limit``: what they may cost, nothing where there is no limit.
    """

    ledger: str
    releases: int
    spent: Mapping[str, float | None]
    best_guess: float
    limit: Mapping[str, float]


class Given(str):
    """Words that somebody else chose: they are quoted, and escaped where that matters."""

    __slots__ = ()


class Named(Given):
    """Such words that need no quotes."""

    __slots__ = ()


class Amount(float):
    """An amount of privacy, which is rounded up."""

    __slots__ = ()


class Share(float):
    """A share, in per cent, with all its digits."""

    __slots__ = ()


def protection(release: Released) -> Iterator[Sentence]:
    """Say how people are protected, and who they are."""
    facts, unit = release.facts, release.facts.get("unit")
    guess = {"guess": Share(above(release.guarantee.best_guess)), "half": Share(0.5)}
    yield "noise", {}
    yield "guess_answers" if _replaced(release) else "guess_member", guess
    if isinstance(unit, list):
        yield "unit_columns", {"unit": [*map(Given, unit)]}
    elif unit is not None:
        yield "unit_rows", {}
    if "where" in facts:
        yield "where", {"where": [*map(Given, facts["where"])]}
    if "weight" in facts:
        yield from _weights(release)
    if isinstance(release, GroupedRelease):
        if release.discovered:
            yield "discovered", {}
        if release.most > 1:
            yield "several_groups", {"most": release.most}
        elif isinstance(unit, list):
            yield "one_group_found" if release.discovered else "one_group", {}
    elif release.known_size is not None:
        known = "known_weights" if "weight" in facts else "known_size"
        yield known, {"people": release.known_size}


def _weights(release: Released) -> Iterator[Sentence]:
    """Say how often people count, and what is made of that."""
    weight, names = release.facts["weight"], {q.name for q in release.questions if q.of_weights}
    low, high = weight["bounds"]
    yield "weight", {"weight": Given(weight["column"]), "low": low, "high": high}
    yield "weight_heads" if HEADS in names else "weight_sums", {}
    if SQUARES in names:
        yield "weight_squares", {}


def reading(release: Released) -> Iterator[Sentence]:
    """Say what intervals cover, and what noise does to small numbers and sums."""
    sampling, found = release.sampling, isinstance(release, GroupedRelease) and release.discovered
    held = {"level": Share(release.level), "but": ("small_groups", {}) if found else ""}
    if sampling is None:
        yield from (("interval", held), ("noise_only", {}))
    else:
        weighing = "sampled_weighted" if "weight" in release.facts else "sampled"
        yield "interval_sampled", held
        yield weighing, {"effect": float(sampling.design_effect)}
    tables = [each for each in release.questions if each.in_tables]
    others = len(tables) < len(release.questions)
    if tables:
        yield "tables", {}
    rule = Reliability.of(release.facts)
    if not release.rounded_values:
        if _counts(release):
            yield "below_zero" if rule.suppress is None else "below_zero_gone", {}
    elif tables:
        yield "rounded_tables", {}
        if others:
            yield "rounded_beside", {}
    else:
        yield "rounded", {}
    if any(each.is_mean for each in release.questions):
        yield "means", {}
    if rule:
        yield "flags", {"flags": [("flag", {"mark": m, "share": Share(s)}) for m, s in rule.steps]}


def for_experts(release: Released, composed: Composed | None) -> Iterator[Sentence]:
    """Say what is guaranteed, by which mechanism, and what all releases come to."""
    yield _guarantee(release)
    yield "answers" if _replaced(release) else "member", {}
    design = release.facts.get("design", {})
    if "name" in design:
        yield f"noise_{release.errors.noise.value}", {"design": Named(design["name"])}
    yield from _certified(release)
    values = [each for each in release.questions if each.limited and not each.of_weights]
    bounded = {each.name: each.bounds for each in values}
    ranges = [
        ("range", {"name": Given(name), "low": bounds[0], "high": bounds[1]})
        for name, bounds in bounded.items()
        if bounds is not None
    ]
    if ranges:
        yield "bounds", {"bounds": ranges}
    sampled = "" if release.sampling is None else "_sampled"
    yield f"errors{sampled}", {}
    if sampled and not all(each.deviates for each in values):
        yield "widest", {}
    if _divides(release):
        yield f"ratios{sampled}", {}
    if composed is None:
        yield "alone", {}
    elif composed.releases == 1:
        yield "ledger_one", {"ledger": Given(composed.ledger)}
    else:
        known = {name: x for name, x in composed.spent.items() if x is not None}
        guess = Share(above(composed.best_guess))
        said = {"ledger": Given(composed.ledger), "releases": composed.releases}
        yield "ledger", {**said, "spent": _amounts(known), "guess": guess}
    if composed is not None and composed.limit:
        yield "limit", {"limit": _amounts(composed.limit)}
    if str(design.get("name")).startswith(CORRELATED):
        yield "method", {}
    if "version" in release.facts:
        yield "version", {"version": Named(release.facts["version"])}


def _counts(release: Released) -> bool:
    """Whether any number of people is shown that noise may take below zero."""
    one = template_of(release)
    measured = one.has_size and one.known_size is None
    return measured or not all(each.is_sum for each in release.questions)


def _divides(release: Released) -> bool:
    """Whether there are means or shares by what was measured."""
    one, asked = template_of(release), [each for each in release.questions if not each.of_weights]
    measured = one.has_size and one.known_size is None
    return any(each.is_mean or each.in_tables or measured for each in asked)


def _certified(release: Released) -> Iterator[Sentence]:
    """Say how far the noise is from the least error of any, to a tenth of a per cent upward."""
    if (both := error_and_bound(release.facts)) is not None:
        error, bound = both
        goal = release.facts["design"].get("objective")
        yield (
            "least_largest" if goal == "largest" else "least",
            {"above": Share(max(1, math.ceil(1000 * (error / bound - 1))) / 1000)},
        )


def _guarantee(release: Released) -> Sentence:
    guarantee, found = release.guarantee, implied(release.guarantee, release.privacy)
    discovered = isinstance(guarantee, DiscoveryDP)
    kept = guarantee.kept if isinstance(guarantee, DiscoveryDP) else guarantee
    probability = {"probability": Amount(found["discover_delta"])} if discovered else {}
    after = "_found" if discovered else ""
    if isinstance(kept, PureDP):
        return f"pure{after}", {**probability, "epsilon": Amount(kept.epsilon)}
    delta = found.get("delta", max(USUAL, min(0.5, 10 * found.get("discover_delta", 0.0))))
    amounts = {"mu": kept.mu, "epsilon": _epsilon(guarantee, delta), "delta": delta}
    return f"gaussian{after}", {**probability, **{n: Amount(x) for n, x in amounts.items()}}


def _epsilon(guarantee: Guarantee, delta: float) -> float:
    return guarantee.epsilon if isinstance(guarantee, PureDP) else guarantee.epsilon(delta)


def _replaced(release: Released) -> bool:
    return bool(release.facts.get("design", {}).get("neighbors") == "replace")


def _amounts(found: Mapping[str, float]) -> list[tuple[str, Amount]]:
    return [(SYMBOLS[name], Amount(x)) for name, x in found.items()]
