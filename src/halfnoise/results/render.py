"""A release for the eye: tables, and words, all from its public values."""

from collections.abc import Iterator, Mapping
from operator import indexOf
from typing import Any

from halfnoise.design import certificate
from halfnoise.noise.law import Noise
from halfnoise.results.cross import CrossTable
from halfnoise.results.doubts import doubts
from halfnoise.results.labelled import MOST_ROWS
from halfnoise.results.listing import named
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.results.reliability import LEFT_OUT, Reliability, for_eyes
from halfnoise.results.sampling import caption
from halfnoise.results.shown import error, shown, texts
from halfnoise.results.table import COLUMNS
from halfnoise.text import named as named_key
from halfnoise.text import on_screen, percent, short, text_table
from halfnoise.workload.question import only_rows
from halfnoise.workload.weights import weighted

ROUNDED = "Counts are rounded and kept in range after the release."
TOGETHER = (
    "Counts in tables are rounded together, so that margins add up, and may be negative:"
    " to cut them off would break the sums."
)
BIASED = "small groups that pass are biased upward."
DISCOVERED = (
    f"Groups were found in the data: only those that passed a threshold are here, and {BIASED}"
)
FOUND = f"This group was found in the data and passed a threshold; {BIASED}"
SELECTED = f"Only groups that passed a threshold are in this total, and {BIASED}"
SHOWN = ("estimate", "standard error", "relative")  # the titles of numbers for the eye
MOST = 0.5  # the share of people elsewhere from which it is worth a note


def table(release: Released) -> str:
    """Return the values as text, rounded to what the noise makes meaningful."""
    keys, rows, more = _first(release)
    header = [*keys, "", *SHOWN, f"{percent(release.level)} interval"]
    cells = [[*row[:-2], _interval(*row[-2:])] for row in rows]
    blocks, left = [], MOST_ROWS
    if rows or not any(True for _ in tables(release)):
        listed = text_table(header, cells, left=len(keys) + 1)
        blocks.append("\n".join([listed, *more]))
    for heading, each in tables(release):
        if left <= 0:
            return "\n\n".join([*blocks, "... and more tables"])
        blocks.append(on_screen(heading) + each.text(most=left))
        left -= blocks[-1].count("\n")
    return "\n\n".join(blocks)


def _interval(low: str, high: str) -> str:
    return low if low == LEFT_OUT else f"{low} to {high}"


def tables(release: Released) -> Iterator[tuple[str, CrossTable]]:
    """Go through the tables that were asked for, each under the name of its group, if any."""
    crossed = (each for each in release.questions if each.axes and each.asked)
    asked = [([label for label, _ in each.axes], named(each)) for each in crossed]
    if not isinstance(release, GroupedRelease):
        yield from (("", CrossTable.of(release, *each)) for each in asked)
        return
    for place, (_, group) in enumerate(release.items() if asked else ()):
        yield from ((f"{release.title(place)}: ", CrossTable.of(group, *each)) for each in asked)


def notes(release: Released) -> list[str]:
    """Say what goes with the values, and what they themselves suggest to check."""
    if isinstance(release, GroupedRelease):
        first, whole = _on_groups(release), release.total() if len(release) else None
    else:
        first, whole = [*release.remarks], release
    first += [*_who(release.facts), *Reliability.of(release.facts).told()]
    if whole is None:
        return first
    found = [note for question in release.questions for note in question.notes(whole.values)]
    return first + found + doubts(whole)


def certified(facts: Mapping[str, Any]) -> list[str]:
    """Say how far the design is from the least error of any Gaussian noise, where it is known."""
    design, both = facts.get("design", {}), error_and_bound(facts)
    if both is None:
        return [certificate.UNKNOWN] if design.get("least_error_bound", 0) is None else []
    return [certificate.words(*both, design.get("objective", "total"))]


def error_and_bound(facts: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the squared error of Gaussian noise, and the least that any has, where it is known."""
    design = facts.get("design", {})
    error, bound = design.get("error"), design.get("least_error_bound")
    gaussian = design.get("noise") == Noise.GAUSSIAN.value
    return (error, bound) if gaussian and error and bound else None


def _who(facts: Mapping[str, Any]) -> list[str]:
    """Say who is in the table, and of whom a share is a share where a query looks at some."""
    where: list[str] = facts.get("where", [])
    said = [f"{only_rows(where)} Sizes and shares are of them."] if where else []
    said += [weighted(**facts["weight"])] if "weight" in facts else []
    return said + [
        f"{name} looks only at people with {only}; its share is still of all people in the table."
        for name, only in facts.get("only", {}).items()
    ]


def remarks(release: GroupedRelease, *, total: bool) -> tuple[str, ...]:
    """Return what goes with the values of one group, or with the sum over several."""
    passed = (SELECTED if total else FOUND,) if release.discovered else ()
    return (*passed, *_overlap(release)) if total else passed


def _on_groups(release: GroupedRelease) -> list[str]:
    grouping: Mapping[str, Any] = release.facts.get("grouping", {})
    said = [DISCOVERED] if release.discovered else []
    if (limit := grouping.get("threshold")) is not None:
        none = "" if len(release) else " No group reached it."
        said.append(f"The threshold: {short(limit)} people, with their noise.{none}")
    said += _overlap(release)
    if (size := release.size) is not None:
        ends = (size.estimate, size.low, size.high)
        x, low, high = (shown(each, size.std, "size", ones=release.rounded_values) for each in ends)
        said.append(
            f"All people, each counted once: {x}, standard error {error(size.std)},"
            f" {percent(release.level)} interval {low} to {high}."
        )
    return said + _elsewhere(release, grouping.get("other"))


def _overlap(release: GroupedRelease) -> list[str]:
    """Say how people count who are in several groups, where anybody may be."""
    if release.most > 1:
        return [f"A person may be in up to {release.most} groups, and counts once in each of them."]
    if not isinstance(release.facts.get("unit"), list):  # each row is a person
        return []
    which = "with the smallest key" if release.discovered else "that is first in the list"
    return [f"Who is in several groups counts in one of them alone: the one {which}."]


def _elsewhere(release: GroupedRelease, other: str | None) -> list[str]:
    """Say if most people are in no listed group, or have no key, perhaps by their spelling."""
    key = (other,) * len(release.by)
    if key not in release.group_keys or not release.template.has_size:
        return []
    sizes = release.values[:, -1]
    part, whole = float(sizes[indexOf(release.group_keys, key)]), float(sizes.sum())
    note = f"{other} is %s of all people: check the spelling of the groups"
    if other is None:
        note = "%s of all people have no key: check the columns that name the group"
    return [note % f"{min(part / whole, 1):.0%}"] if part > MOST * whole > 0 else []


def coverage(release: Released) -> list[str]:
    """Say what intervals cover, and what rounding did to the numbers."""
    rounded = [ROUNDED] if release.rounded_values else []
    if rounded and any(each.in_tables for each in release.questions):
        rounded.append(TOGETHER)
    return [caption(release.sampling, weighted="weight" in release.facts), *rounded]


def beside(release: Released) -> list[str]:
    """Say what to know beside the table."""
    return [*release.promises(), *coverage(release), *notes(release)]


def _first(release: Released) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the titles of keys, the rows that fit on a screen, and how many more there are."""
    columns = release.columns(tables=False)
    number, keys = len(columns["name"]), list(columns)[: -len(COLUMNS)]
    first = {title: each[:MOST_ROWS] for title, each in columns.items()}
    rows = []
    rule = Reliability.of(release.facts)
    listed = for_eyes(texts(first, ones=release.rounded_values), first, rule)
    for row in zip(*(each.tolist() for each in listed.values()), strict=True):
        *key, name, _, x, std, share, low, high = row
        rows.append([*map(named_key, key), name, x, std, share, low, high])
    more = number - len(rows)
    return keys, rows, [f"... and {more:,} more"] if more else []
