"""Whether two releases mean the same: what was asked, of whom, and by which rules.

All of it is public, and stands in the JSON of a release.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from halfnoise.results.release import GroupedRelease, Released
from halfnoise.text import listed
from halfnoise.workload.question import Question

# What may be another from release to release, and what is told one by one.
NOT_MEANT = ("design", "grouping", "meaning", "only", "reliability", "spec", "version")
WORDS = {"where": "who is in the table", "unit": "who is one person"}


def differing(later: Released, earlier: Released) -> list[str]:
    """Say where two releases differ in what their numbers mean."""
    return [*_rules(later, earlier), *_questions(later, earlier), *_groups(later, earlier)]


def _rules(later: Released, earlier: Released) -> Iterator[str]:
    """Go through facts that belong to the whole release; a new one is known as it is called."""
    one, other = later.facts, earlier.facts
    for name in sorted({*one, *other} - {*NOT_MEANT}):
        if one.get(name) != other.get(name):
            yield _other(WORDS.get(name, name), one.get(name), other.get(name))
    rules = [facts.get("design", {}).get("neighbors") for facts in (one, other)]
    if rules[0] != rules[1]:
        yield _other("what is protected (neighbors)", *rules)


def _questions(later: Released, earlier: Released) -> Iterator[str]:
    """Go through questions of one name: kinds, what is read, bounds and categories."""
    one, other = _by_name(later), _by_name(earlier)
    for name in (each for each in one if each in other):
        yield from _question(name, one[name], other[name])
    now, before = (each.facts.get("meaning", {}) for each in (later, earlier))
    for name in (each for each in now if now[each] != before.get(each, now[each])):
        yield _other(f"what {name} is", now[name], before[name])
    axes, categories = _axes(later), _axes(earlier)
    for label in (each for each in axes if {*axes[each]} != {*categories.get(each, axes[each])}):
        yield _categories(label, axes[label], categories[label])
    unsaid = [when for when, said in (("later", now), ("earlier", before)) if not said]
    if unsaid:
        which = f"the {unsaid[0]} release" if len(unsaid) == 1 else "both releases"
        yield f"What questions read is not told by {which}: compare the specs."


def _question(name: str, one: Question, other: Question) -> Iterator[str]:
    if one.kind != other.kind:
        yield _other(f"the kind of {name}", one.kind, other.kind)
    elif one.bounds != other.bounds:
        yield _other(f"the bounds of {name}", one.bounds, other.bounds)
    elif not one.in_tables and {*one.names} != {*other.names}:
        yield _categories(name, one.names, other.names)


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
        return f"{value[0]:g} to {value[1]:g}" if numbers else listed([*map(str, value)])
    return str(value)
