"""What a notebook shows: tables and words, in its own colours, be it light or dark."""

from functools import singledispatch
from importlib.resources import files
from itertools import islice

from halfnoise.errors import HalfnoiseError
from halfnoise.ledger import words
from halfnoise.ledger.ledger import Ledger
from halfnoise.planning.accept import Acceptance
from halfnoise.planning.outlook import Outlook
from halfnoise.planning.plan import Plan
from halfnoise.report.markup import Inside, Markup, empty, joined, name_of, tag
from halfnoise.report.parts import parts
from halfnoise.report.tables import table
from halfnoise.results.comparison import Comparison
from halfnoise.results.labelled import MOST_ROWS, Labelled
from halfnoise.results.release import GroupedRelease, Release, Released
from halfnoise.results.render import beside
from halfnoise.results.wide import Wide
from halfnoise.views import Grid

MOST_TABLES = 20  # so many are shown


@singledispatch
def notebook(shown: object) -> str:
    """Return what a notebook shows of something; all that is not ours in it is escaped."""
    raise NotImplementedError(type(shown))


@notebook.register(Release)
@notebook.register(GroupedRelease)
def _release(release: Released) -> str:
    found, left = list[Markup](), MOST_TABLES
    for part in parts(release, most=MOST_ROWS):
        if not left:
            found.append(tag("p", "... and more tables"))
            break
        some = [*islice(part.tables, left)]
        left -= len(some)
        found += [tag("h4", name_of(part.title)), *map(_table, some)]
    return _framed(*found, *_lines(*beside(release)))


@notebook.register
def _comparison(comparison: Comparison) -> str:
    return _framed(_table(comparison.wide(MOST_ROWS)))


@notebook.register
def _labelled(labelled: Labelled) -> str:
    return _framed(_table(labelled.wide(most=MOST_ROWS)))


@notebook.register(Plan)
@notebook.register(Outlook)
@notebook.register(Acceptance)
def _plan(plan: Plan | Outlook | Acceptance) -> str:
    before, after = repr(plan).split(plan.table())
    return _framed(*_lines(before), _grid(plan.grid()), *_lines(after))


@notebook.register
def _ledger(ledger: Ledger) -> str:
    try:
        history = ledger.history()
    except HalfnoiseError as error:  # it is not there yet, or cannot be read
        return _framed(*_lines(repr(ledger), str(error)))
    share, charges = words.used(history), _grid(words.grid(history), "text")
    spent = []
    if share is not None:
        part = f"{min(share, 1):.3f}"
        spent = [tag("p", "Used up of the limit: ", tag("meter", value=part, min="0", max="1"))]
    said = _lines(f"{words.left(history)}.", f"Head: {history.head}")
    return _framed(*_lines(*words.about(history)), charges, *spent, *said)


def _table(wide: Wide) -> Markup:
    return joined(table(wide), *_lines(*wide.below))


def _grid(grid: Grid, kind: str | None = None) -> Markup:
    titles, rows = grid
    first, *others = titles
    lines = [((row[0],), row[1:]) for row in rows]
    wide = Wide(title="", heads=(first,), titles=tuple(others), lines=lines, below=())
    return tag("div", table(wide), class_=kind)


def _lines(*texts: str) -> list[Markup]:
    """Return sentences below one another."""
    lines = [name_of(line) for text in texts for line in text.strip().splitlines()]
    broken: list[Inside] = [each for line in lines for each in (empty("br"), line)]
    return [tag("p", *broken[1:])] if lines else []


def _framed(*inside: Inside) -> str:
    style = files("halfnoise.report").joinpath("notebook.css").read_text("utf-8")
    return tag("div", tag("style", Markup(style)), *inside, class_="halfnoise")
