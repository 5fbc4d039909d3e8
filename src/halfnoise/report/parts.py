"""A release in parts, as one reads it: each with its tables, and with what its charts show."""

from collections.abc import Collection, Iterator

from halfnoise.checks import unknown
from halfnoise.report.by_group import ByGroup
from halfnoise.report.crossed import crossed
from halfnoise.report.listed import Listed
from halfnoise.report.panels import Part
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.results.render import tables

KINDS = ("count", "sum", "mean")  # what is read together


def parts(
    release: Released, *, most: int | None = None, names: Collection[str] = ()
) -> Iterator[Part]:
    """Go through a release: people and counts, sums, means, each choice, then tables.

    ``most``: so many rows of each table, where that is enough. ``names``: these questions alone.
    """
    known = [q.name for q in release.questions if q.asked and not q.of_weights]
    for name in names:
        if name not in known:
            raise unknown("name", name, known)
    grouped = isinstance(release, GroupedRelease)
    reader = ByGroup(release, most) if grouped else Listed(release, most)
    asked = [each for each in reader.one.listed(tables=False) if not names or each.name in names]
    asked = [each for each in asked if not each.of_weights]  # which stand with the size
    counts, sums, means = ([each for each in asked if each.kind == kind] for kind in KINDS)
    if counts or (reader.sizes and not names):
        yield reader.counts(counts, sized=not names)
    if sums:
        yield reader.sums(sums)
    if means:
        yield reader.means(means)
    yield from (reader.choice(each) for each in asked if each.kind not in KINDS)
    for heading, each in tables(release):
        if not names or each.question.name in names:
            yield crossed(each, heading, most)
