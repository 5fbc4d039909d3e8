"""Whether two releases mean the same: what was asked, of whom, and by which rules.

All of it is public, and stands in the JSON of a release.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from halfnoise.results.release import GroupedRelease, Released
from halfnoise.workload.question import Question

NAMED = 5  # so many are named, and how many more
BY_NAME = ("meaning", "only")  # facts about each question
# What may be another from release to release, and the rules of groups, told one by one.
NOT_MEANT = ("design", "grouping", "reliability", "version", *BY_NAME)
WORDS = {"where": "who is in the table", "unit": "who is one person"}


def differing(later: Released, earlier: Released) -> list[str]:
    """Say where two releases differ in what their numbers mean."""
    return [*_rules(later, earlier), *_questions(later, earlier), *_groups(later, earlier)]


def listed(names: Iterable[str]) -> str:
    """Return a few names, and how many more there are."""
    all_of_them = [*names]
    more = f" and {len(all_of_them) - NAMED:,} more" if len(all_of_them) > NAMED else ""
    return ", ".join(all_of_them[:NAMED]) + more


def _rules(later: Released, earlier: Released) -> Iterator[str]:
    """Go through facts that belong to the whole release; a new one is known as it is called."""
    one, other = later.facts, earlier.facts
    for name in sorted({*one, *other} - {*NOT_MEANT}):
        if one.get(name) != other.get(name):
            yield _other(WORDS.get(name, name), one.get(name), other.get(name))
    rules = (facts.get("design", {}).get("neighbors") for facts in (one, other))
    if len({*rules}) > 1:
        said = (facts.get("design", {}).get("neighbors") for facts in (one, other))
        yield _other("what is protected (neighbors)", *said)


def _questions(later: Released, earlier: Released) -> Iterator[str]:
    one, other = _by_name(later), _by_name(earlier)
    for name in (each for each in one if each in other):
        a, b = one[name], other[name]
        if a.kind != b.kind:
            yield _other(f"the kind of {name}", a.kind, b.kind)
        elif a.bounds != b.bounds:
            yield _other(f"the bounds of {name}", a.bounds, b.bounds)
        elif not a.in_tables and {*a.names} != {*b.names}:
            yield _categories(name, a.names, b.names)
        for fact in BY_NAME:
            x, y = (each.facts.get(fact, {}).get(name) for each in (later, earlier))
            if x != y and (x and y or fact == "only") and a.kind == b.kind:
                yield _other(
                    f"what {name} counts" if a.kind != "sum" else f"what {name} adds up", x, y
                )
                break
    axes, before = _axes(later), _axes(earlier)
    for label in (each for each in axes if each in before):
        if {*axes[label]} != {*before[label]}:
            yield _categories(label, axes[label], before[label])
    unsaid = [
        when
        for when, each in (("later", later), ("earlier", earlier))
        if "meaning" not in each.facts
    ]
    if len(unsaid) == 1:
        yield f"The {unsaid[0]} release does not say what its questions read: compare their specs."


def _groups(later: Released, earlier: Released) -> Iterator[str]:
    if not isinstance(later, GroupedRelease) or not isinstance(earlier, GroupedRelease):
        return
    before = {by.column: by for by in earlier.by}
    for by in later.by:
        other = before.get(by.column, by)
        for rule in ("every", "zone", "bands"):
            if getattr(by, rule) != getattr(other, rule):
                yield _other(
                    f"{rule} of groups by {by.column}", getattr(by, rule), getattr(other, rule)
                )
    if later.most != earlier.most:
        yield _other("in how many groups a person may be", later.most, earlier.most)
    if later.discovered != earlier.discovered:
        yield "Groups were found in the data of one of them, and small ones that pass are biased."


def _by_name(release: Released) -> Mapping[str, Question]:
    """Return questions by name; of those in tables the largest stands for all."""
    return {each.name: each for each in release.questions if each.kind != "table"}


def _axes(release: Released) -> dict[str, tuple[str, ...]]:
    return {label: own for question in release.questions for label, own in question.axes}


def _categories(name: str, one: Iterable[str], other: Iterable[str]) -> str:
    now, before = [*one], [*other]
    new, gone = [x for x in now if x not in before], [x for x in before if x not in now]
    parts = [
        f"{what} only {listed(each)}" for what, each in (("later", new), ("earlier", gone)) if each
    ]
    return f"Another definition: the categories of {name}: {'; '.join(parts)}."


def _other(what: str, later: Any, earlier: Any) -> str:
    return f"Another definition: {what}: later {_said(later)}, earlier {_said(earlier)}."


def _said(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_said(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        numbers = len(value) == 2 and all(isinstance(each, float) for each in value)
        return f"{value[0]:g} to {value[1]:g}" if numbers else listed(map(str, value))
    return str(value)
