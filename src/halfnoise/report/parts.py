"""A release in parts, as one reads it: each with its tables, and with what its charts show."""

from collections.abc import Iterator

from halfnoise.report.by_group import ByGroup
from halfnoise.report.crossed import crossed
from halfnoise.report.listed import Listed
from halfnoise.report.panels import Part
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.results.render import tables


def parts(release: Released) -> Iterator[Part]:
    """Go through a release: people and counts, sums, means, each choice, then tables."""
    reader = ByGroup(release) if isinstance(release, GroupedRelease) else Listed(release)
    asked = reader.one.listed(tables=False)
    kinds = ("count", "sum", "mean")
    counts, sums, means = ([each for each in asked if each.kind == kind] for kind in kinds)
    if counts or reader.one.has_size:
        yield reader.counts(counts)
    if sums:
        yield reader.sums(sums)
    if means:
        yield reader.means(means)
    yield from (reader.choice(each) for each in asked if each.kind not in kinds)
    yield from (crossed(each, heading) for heading, each in tables(release))
