"""What a release would read, promise and cost, and all for which it would be refused.

Only header lines are read: nothing is spent, and nothing is written.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from halfnoise.checks import number, refuse
from halfnoise.cli.books import booked
from halfnoise.cli.outputs import marks, spec_output
from halfnoise.data.faults import column_faults, types_of
from halfnoise.data.meaning import Types
from halfnoise.data.sources import Source, open_source
from halfnoise.errors import BudgetError, HalfnoiseError, InvalidParameterError
from halfnoise.ledger.booking import Booking
from halfnoise.ledger.entries import History
from halfnoise.ledger.terms import Bill
from halfnoise.mechanism import shared
from halfnoise.planning.accept import NEEDED, Acceptance
from halfnoise.planning.outlook import DELTA, Outlook, Terms, budget_for, plan
from halfnoise.planning.plan import Plan
from halfnoise.privacy.allowance import Allowance
from halfnoise.privacy.definitions import Privacy
from halfnoise.request import Request
from halfnoise.results.formats import Output
from halfnoise.spec.header import Header
from halfnoise.spec.lists import Lists
from halfnoise.spec.parts import read_parts
from halfnoise.spec.queries import NAMELESS, Words
from halfnoise.spec.reader import reading
from halfnoise.spec.toml import gather
from halfnoise.spec.vocabulary import BUDGET
from halfnoise.spec.words import for_plans, privacy, text_format
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.crossing import used
from halfnoise.workload.nested import Nested
from halfnoise.workload.numbers import Count, Counts, Mean, Sum
from halfnoise.workload.queries import Asked
from halfnoise.workload.tables import Table
from halfnoise.workload.workload import Workload

T = TypeVar("T")


@dataclass(slots=True)
class Checked:
    """What is known of a release before it is made.

    ``request``: what was asked, without what is refused. ``types``: those of the columns that it
    names. ``after``: where the ledger would stand.
    """

    refused: list[HalfnoiseError] = field(default_factory=list)
    source: Source | None = None
    request: Request | None = None
    books: Booking | None = None
    planned: Plan | Outlook | Acceptance | None = None
    after: History | None = None
    types: Types = field(default_factory=dict)
    words: Words = field(default_factory=dict)

    def hear(self, work: Callable[[], T]) -> T | None:
        """Do something, and keep for which reason it is refused, if it is."""
        try:
            return work()
        except HalfnoiseError as error:
            self.refused.append(error)
            return None

    @property
    def status(self) -> int:
        """The exit status: that of a release, which is refused for its cost last."""
        in_order = sorted(self.refused, key=lambda error: isinstance(error, BudgetError))
        return in_order[0].status if in_order else 0


def checked(words: Words, data: Sequence[str]) -> Checked:
    """Look at a release whatever is wrong with it, and find all that is."""
    found = Checked()
    own, words = words, found.hear(lambda: gather(words, data, found.refused.append)) or {}
    found.words = words
    with ExitStack() as stack:
        text = found.hear(lambda: text_format(words))
        if text is not None:
            found.source = found.hear(
                lambda: stack.enter_context(open_source(data, text=text, **reading(words)))
            )
        header = None if found.source is None else Header.of(found.source)
        if header is None:  # which columns a pattern fits cannot be told
            counts = [each for each in words.get("count") or () if not {*"*?["} & {*each}]
            words = {**words, "count": counts} if "count" in words else words
        found.request, wrong = read_parts(words, header, data)
        found.refused += wrong
        found.books = found.hear(lambda: booked(words, data))
        asked = found.request or found.hear(lambda: _nothing(words))
        if found.request is not None:
            _look(found, found.request, words)
        elif asked is not None:
            found.refused += asked.faults()
        if asked is not None and asked.one_of is None and not {*BUDGET} & {*words}:
            found.hear(lambda: asked.budget)
        inputs = [*data, *([] if found.books is None else found.books.files)]
        found.hear(lambda: marks(words))
        if "save-spec" in words:
            found.hear(lambda: spec_output(words, inputs))
        if "out" in words and words["out"] != "-":
            files = [*inputs, *Lists.named_in(words), *([own["spec"]] if "spec" in own else [])]
            drawn = found.books is not None and found.books.charge is not None
            over = "overwrite" in words or drawn
            out = Output("--out", Path(words["out"]), over, "excel" in words)
            found.hear(lambda: out.check(files))
    found.refused = [*{str(error): error for error in found.refused}.values()]
    return found


def _nothing(words: Words) -> Request:
    """Return a request for nothing of anybody, which tells what else is not said yet."""
    people: dict[str, Any] = {"row_is_person": bool(words.get("row-is-person"))}
    people |= {"unit": tuple(words.get("unit") or ()), "privacy": privacy(words)}
    return Request(workload=Workload([Count("nothing")]), **people)


def rehearsed(source: Source, request: Request, books: Booking, words: Words) -> Checked:
    """Look at a release that can be read; refuse what is wrong with it, but for its costs."""
    found = Checked(source=source, request=request, books=books, words=words)
    _look(found, request, words)
    return found


def _look(found: Checked, request: Request, words: Words) -> None:
    """Find what is refused by what was read, by the columns and by the ledger."""
    source, books = found.source, found.books
    found.refused += for_plans(request, words)
    found.refused += request.faults(counted=source is None or source.counted)
    asked = _of_columns(request.workload.queries)
    if source is not None and asked:
        some = len(asked) < len(request.workload.queries)
        workload = replace(request.workload, queries=asked, importance={}) if some else None
        found.refused += column_faults(source, workload or request.workload, request.unit)
        found.types = types_of(source, [name for name in request.columns if name not in NAMELESS])
    if books is not None and books.name is not None and books.ledger is not None and source:
        asked_for = request.fingerprint(source.files, source.text)
        ledger, name = books.ledger, books.name
        books.charge = found.hear(lambda: ledger.find(name, asked_for))
    books = books or Booking(None)
    part = found.hear(lambda: part_of(request, books, 1))
    if part is None:
        return
    request, times = part
    known = request.known_size is not None
    said: dict[str, Any] = {"releases": times, "people": words.get("people")}
    found.planned = found.hear(lambda: planned(request, known=known, limit=books.limit, **said))
    if isinstance(found.planned, Plan) and found.books is not None:
        cost, alike = found.planned.measurement.guarantee, request.workload.neighbors
        said = {"request": "", "what": "", "unit": request.unit, "times": times}
        bill = Bill(guarantee=cost, neighbors=alike, name=books.name, **said)
        found.after = found.hear(lambda: books.check(bill))


def _of_columns(queries: Sequence[Asked]) -> list[Asked]:
    """Return the queries of columns that are named, and the tables that are by such alone."""
    plain = [query for query in queries if not isinstance(query, Table | Nested)]
    nameless = {q.label for q in plain if isinstance(q, Counts) or q.column in NAMELESS}

    def axes(query: Asked) -> list[str]:
        if isinstance(query, Count | Sum | Mean):
            return used([], [query])
        return used([query], []) if isinstance(query, Table) else []

    return [q for q in queries if not nameless & {q.label, *axes(q)}]


def part_of(request: Request, books: Booking, releases: int) -> tuple[Request, int]:
    """Return a request with its part of the ledger's limit, where that is its budget."""
    if request.one_of is None:
        return request, releases
    if releases > 1:
        raise InvalidParameterError("give --one-of or --releases, not both: both split a budget")
    return shared(request, books)


def planned(
    request: Request,
    *,
    known: bool,
    margin: str | None = None,
    releases: int = 1,
    limit: Privacy | Allowance | None = None,
    people: str | None = None,
    accept: tuple[str | None, str | None] = (None, None),
) -> Plan | Outlook | Acceptance:
    """Return what a budget brings, or several budgets where none was given."""
    workload, delta = request.workload, DELTA if request.delta is None else request.delta
    terms: Terms = {"releases": releases, "level": request.level, "known_size": known}
    terms |= {"noise": request.noise, "i_know": request.i_know, "limit": limit}
    budget = request.privacy
    if margin is not None:
        if budget is not None:
            raise InvalidParameterError("give a budget or --margin, not both: one tells the other")
        budget = budget_for(workload, margin=number("--margin", margin), delta=delta, **terms)
    many = request.known_size if people is None else number("--people", people)
    share, ceiling = accept
    if share is not None:
        if budget is not None:
            rule = "give a budget, --margin or --accept, not several: one tells the others"
            raise InvalidParameterError(rule)
        if many is None:
            raise InvalidParameterError(NEEDED)
        most = None if ceiling is None else number("--ceiling", ceiling)
        wanted = _part("--accept", share)
        return plan(workload, delta=delta, people=many, accept=wanted, ceiling=most, **terms)
    if ceiling is not None:
        raise refuse("--ceiling", "given together with --accept", ceiling)
    if budget is None:
        return plan(workload, delta=delta, people=many, **terms)
    return plan(workload, privacy=budget, people=many, **terms)


def _part(flag: str, text: str) -> float:
    """Read a part of a whole: 2% or 0.02."""
    part = number(flag, text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 < part < 1:
        raise refuse(flag, "above 0% and below 100%", text, f"for example {flag} 2%")
    return part
