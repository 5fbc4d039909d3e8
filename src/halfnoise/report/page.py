"""A release as a page: one file that needs nothing else, for the screen, paper and other ears."""

import logging
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import TypeAlias

from halfnoise.report.charts import svg
from halfnoise.report.embedded import embedded
from halfnoise.report.markup import Inside, Markup, empty, joined, name_of, tag
from halfnoise.report.panels import Panel, Part
from halfnoise.report.parts import parts
from halfnoise.report.protection import best_guess, covered, guessing
from halfnoise.report.questions import made_of
from halfnoise.report.tables import table
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.results.shown import error, shown
from halfnoise.results.wide import Wide
from halfnoise.text import listed, percent
from halfnoise.views import can_draw

# Nothing is fetched from anywhere, and nothing runs.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MOST_NAMES = 4  # of a title
Figures: TypeAlias = Callable[[Sequence[Panel], str], list[Markup]]
_log = logging.getLogger("halfnoise")


def page(release: Released, *, title: str | None = None, charts: bool | None = None) -> str:
    """Return a release as a page; ``charts``: with them or without, if not said as it can be."""
    figures = _figures if charts else _attempted if charts is None and can_draw() else _no_figures
    heading = _title(release) if title is None else title
    style = files("halfnoise.report").joinpath("page.css").read_text("utf-8")
    head = tag(
        "head",
        empty("meta", charset="utf-8"),
        empty("meta", http_equiv="Content-Security-Policy", content=POLICY),
        empty("meta", name="viewport", content="width=device-width, initial-scale=1"),
        empty("meta", name="generator", content=f"halfnoise {release.facts.get('version', '')}"),
        tag("title", heading),
        tag("style", Markup(style)),
    )
    body = tag(
        "body",
        tag("header", tag("h1", name_of(heading)), tag("p", *_lead(release), class_="lead")),
        tag(
            "main",
            _section("Numbers", *(_part(each, release, figures) for each in parts(release))),
            _section("How people are protected", *_protected(release)),
            _section("What the margins cover", *_margins(release)),
            _section("How it was made", *_made(release)),
        ),
        tag("footer", tag("p", *_footer())),
        embedded(release),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _title(release: Released) -> str:
    """Return what is asked, in a few names."""
    asked = [each for each in release.questions if each.asked]
    names = [each.name for each in asked if not each.of_weights] or [each.name for each in asked]
    by = [each.column for each in release.by] if isinstance(release, GroupedRelease) else []
    said = listed(names, MOST_NAMES) + (f" by {', '.join(by)}" if by else "")
    return said[:1].upper() + said[1:]


def _lead(release: Released) -> Iterator[Inside]:
    size, by_whom = release.size, "" if release.sampling is None else " and by who was asked"
    if size is not None:
        people = shown(size.estimate, size.std, "size", ones=release.rounded_values)
        margin = f" (±{error(size.high - size.estimate)})" if size.std else ""
        yield "People whose weights add up to " if "weight" in release.facts else ""
        yield tag("strong", people if "weight" in release.facts else f"{people} people")
        yield f"{margin}. "
    elif isinstance(release, GroupedRelease):
        yield tag("strong", f"{len(release):,} groups of people")
        yield ". "
    yield "Noise protects each person in these numbers; a margin of error says how far off "
    yield f"each may be by that noise{by_whom}, in {percent(release.level)} of cases."


def _section(title: str, *inside: Inside) -> Markup:
    return tag("section", tag("h2", title), *inside)


def _part(part: Part, release: Released, figures: Figures) -> Markup:
    tables = [_table(each, part.title) for each in part.tables]
    drawn = figures(part.panels, percent(release.level))
    charts = [tag("div", *drawn, class_="charts")] if drawn else []
    inside = tag("div", *tables, *charts, class_="part")
    return joined(tag("h3", name_of(part.title)), inside)


def _figures(panels: Sequence[Panel], level: str) -> list[Markup]:
    found = []
    for panel in panels:
        caption = [tag("figcaption", name_of(panel.title))] if panel.title else []
        found.append(tag("figure", *caption, svg(panel, panel.words(level))))
    return found


def _attempted(panels: Sequence[Panel], level: str) -> list[Markup]:
    """Return figures, or none: what was paid for is not lost for a picture."""
    try:
        return _figures(panels, level)
    except Exception:  # noqa: BLE001  # whatever it is that fails to draw
        _log.warning("a chart could not be drawn, and is left out of the page")
        return []


def _no_figures(_panels: Sequence[Panel], _level: str) -> list[Markup]:
    return []


def _table(wide: Wide, name: str) -> Markup:
    """Return a table that scrolls by itself where it is too wide, also by keys."""
    below = [tag("p", tag("bdi", each), class_="below") for each in wide.below]
    label = f"{name}, {wide.title}" if wide.title else name
    region = tag("div", table(wide), class_="scroll", role="region", tabindex="0", aria_label=label)
    return tag("div", region, *below, class_="table")


def _protected(release: Released) -> Iterator[Markup]:
    yield from (tag("p", each) for each in guessing(release)[:2])
    yield best_guess(release.guarantee.best_guess)
    yield from (tag("p", each) for each in guessing(release)[2:])


def _margins(release: Released) -> Iterator[Markup]:
    yield tag("ul", *(tag("li", name_of(each)) for each in covered(release)))
    if notes := release.notes():
        yield tag("h3", "What to know beside the numbers")
        yield tag("ul", *(tag("li", name_of(each)) for each in notes))


def _made(release: Released) -> Iterator[Markup]:
    pairs = []
    for what, said in made_of(release):
        lines = [tag("div", name_of(each)) for each in said]
        pairs += [tag("dt", what), tag("dd", *lines)]
    yield tag("dl", *pairs)
    if isinstance(spec := release.facts.get("spec"), str):
        yield tag("p", "The same in a file, for halfnoise release --spec:")
        yield tag("pre", tag("code", spec))


def _footer() -> Iterator[Inside]:
    yield "This page holds the release itself, to every digit: "
    yield tag("code", 'halfnoise.read("report.html")')
    yield " reads it back in Python, "
    yield tag("code", "halfnoise report report.html --out table.csv")
    yield " on the command line."
