"""How a release was made: what was asked, of whom, with which budget and noise."""

from collections.abc import Iterator

from halfnoise.privacy.words import spending
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.text import listed, spelled
from halfnoise.workload.question import Question, only_rows
from halfnoise.workload.weights import HEADS, SQUARES

MOST = 30  # so many categories are named, and so many questions
WORDS = {
    "count": "how many people",
    "sum": "the sum over people",
    "mean": "the mean among those who answered",
    "choice": "how many people chose each of",
    "bins": "how many people are in each of",
    "items": "how many people have each of",
}
OF_WEIGHTS = {
    HEADS: "how many people, each counted once",
    SQUARES: "each weight times itself, for the effective sample size",
}


def made_of(release: Released) -> Iterator[tuple[str, list[str]]]:
    """Go through what is to be known of it: a word, and what is said."""
    asked = [question for question in release.questions if question.asked]
    more = [f"and {len(asked) - MOST:,} more"] if len(asked) > MOST else []
    yield "Questions", [*map(_asked, asked[:MOST]), *more]
    facts = release.facts
    if facts.get("where"):
        yield "Who", [only_rows(facts["where"])]
    if "weight" in facts:
        low, high = facts["weight"]["bounds"]
        yield "Weights", [f"{facts['weight']['column']}, kept within {low:,.10g} to {high:,.10g}"]
    unit = facts.get("unit")
    if unit is not None:
        yield "One person", [", ".join(map(str, unit)) if isinstance(unit, list) else "each row"]
    if isinstance(release, GroupedRelease):
        yield "Groups", [*_groups(release)]
    yield "Budget", [spending(release.privacy, 1).removeprefix("Budget: ")]
    first, *design = release.promises()
    yield "Guarantee", [first.removeprefix("Promised: ")]
    if design:
        yield "Design", [each.removeprefix("Design: ") for each in design]
    yield "Noise", [f"{release.errors.noise.value.title()}, drawn as exact integers"]
    if "version" in facts:
        yield "Made with", [f"halfnoise {spelled(facts['version'])}"]


def _asked(question: Question) -> str:
    if question.of_weights:
        return f"{question.name}: {OF_WEIGHTS[question.name]}"
    if question.kind == "table":
        return f"{question.name}: how many people are in each cell of the table"
    said = WORDS.get(question.kind, question.kind)
    if question.kind in ("sum", "mean") and question.bounds is not None:
        low, high = question.bounds
        said += f", each value kept within {low:,.10g} to {high:,.10g}"
    if question.in_tables:
        by = ", ".join(label for label, _ in question.axes)
        return f"{question.name}: {said}, by {by}"
    if len(question.names) > 1 and not question.is_mean:
        said += f" {listed([n.removeprefix(f'{question.name}=') for n in question.names], MOST)}"
    return f"{question.name}: {said}"


def _groups(release: GroupedRelease) -> Iterator[str]:
    found = "found in the data" if release.discovered else "listed beforehand"
    number = f"{len(release):,} groups" if len(release) != 1 else "one group"
    yield f"{number} by {', '.join(map(str, release.by))}, {found}"
    if release.most > 1:
        yield f"a person may be in up to {release.most}"
