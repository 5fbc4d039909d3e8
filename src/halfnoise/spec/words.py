"""A release in words: the same ones on the command line and in a TOML file.

    count = ["smoker", "over_65=age:at-least:65"]
    sum = ["visits=0:20"]
    unit = ["person_id"]
    epsilon = "1"
    delta = "1e-6"

A file can be reviewed, repeated and kept in version control; ``{day}`` in it is filled by
``--set day=2026-11-15``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfnoise.checks import positive
from halfnoise.data.groups import check_keys
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.errors import InvalidParameterError
from halfnoise.request import Request
from halfnoise.spec import groups as group_flags
from halfnoise.spec import queries as flags
from halfnoise.spec.queries import nameless
from halfnoise.workload.numbers import Counts
from halfnoise.workload.queries import Query
from halfnoise.workload.workload import Workload

QUERIES = ("count", "counts", "sum", "mean", "choice", "bins", "items")
GROUPS = ("by", "groups", "other", "max-groups", "no-group-sizes", "discover-delta")
YES = ("row-is-person", "no-group-sizes")
LISTS = (*(name for name in QUERIES if name != "counts"), "importance", "unit", "by", "groups")
RULES = ("at-most", *GROUPS, "where", "missing", "neighbors", "size-importance", "size-dial")
BUDGET = ("epsilon", "delta", "mu", "rho", "rdp")
TEXT = ("delimiter", "quote", "encoding", "decimal")
OTHERS = ("row-is-person", "known-size", "level")
WORDS = (*QUERIES, "importance", "unit", *RULES, *BUDGET, *TEXT, *OTHERS)

Words = Mapping[str, Any]
"""What was said, by word: text, a list of texts, or yes."""


def request(words: Words, columns: Sequence[str] | None = None) -> Request:
    """Read what was said; ``columns`` are those of the table, to expand patterns.

    >>> request({"count": ["smoker"], "epsilon": "1", "row-is-person": True}).privacy
    PureDP(epsilon=1.0)
    """
    budget = {name: words.get(name) for name in BUDGET}
    size = words.get("known-size")  # empty where a plan does not need the number
    workload = _workload(words, columns)
    return Request(
        workload=workload.of_rows() if words.get("row-is-person") else workload,
        privacy=flags.privacy(**budget),
        delta=None if budget["delta"] is None else flags.number("--delta", budget["delta"]),
        unit=_unit(words, columns),
        row_is_person=bool(words.get("row-is-person")),
        known_size=positive(known_size=flags.number("--known-size", size)) if size else None,
        level=flags.number("--level", words.get("level") or "0.95"),
        text=_text(words),
    )


def _workload(words: Words, columns: Sequence[str] | None) -> Workload:
    most = words.get("at-most")
    at_most = None if most is None else flags.whole_number("--at-most", most)
    queries: list[Query] = []
    unit = _unit(words, columns)
    others = None if columns is None else [name for name in columns if name not in unit]
    for text in words.get("count") or []:
        queries += flags.count(text, others)
    if words.get("counts") is not None:
        queries.append(flags.counts(words["counts"]))
    queries += [flags.sum_(text) for text in words.get("sum") or []]
    queries += [flags.mean(text) for text in words.get("mean") or []]
    queries += [flags.choice(text) for text in words.get("choice") or []]
    queries += [flags.bins(text) for text in words.get("bins") or []]
    queries += [flags.items(text, at_most) for text in words.get("items") or []]
    if not queries:
        raise InvalidParameterError(
            "there is nothing to publish yet; ask for something, for example --count smoker, or"
            " --counts 100 to try things out"
        )
    return Workload(
        [_everywhere(query, words) for query in flags.distinct(queries)],
        neighbors=flags.neighbors(words.get("neighbors") or "add-remove"),
        **_groups(words, columns),
        at_most=None if words.get("items") else at_most,
        importance=flags.importance(words.get("importance") or []),
        size_importance=_optional("--size-importance", words.get("size-importance")) or 0.0,
        size_dial=_optional("--size-dial", words.get("size-dial")),
    )


def _groups(words: Words, columns: Sequence[str] | None) -> dict[str, Any]:
    """Return the rules of groups that were said."""
    by = group_flags.by(words.get("by") or [], columns or ())
    said: dict[str, Any] = {"by": by or None}
    if words.get("groups"):
        said["groups"] = group_flags.groups(words["groups"], by)
    if words.get("no-group-sizes"):
        said["group_sizes"] = False
    if (other := words.get("other")) is not None:
        said["other"] = None if other.lower() == "none" else other
    if (most := words.get("max-groups")) is not None:
        said["max_groups"] = flags.whole_number("--max-groups", most)
    if (delta := words.get("discover-delta")) is not None:
        said["discover_delta"] = flags.number("--discover-delta", delta)
    return said


def _everywhere(query: Query, words: Words) -> Query:
    """Add the condition and the codes for missing that hold for all queries."""
    if isinstance(query, Counts):
        return query
    missing, condition = words.get("missing"), words.get("where")
    codes = () if missing is None else flags.split(missing)
    only = None if condition is None else flags.where(condition)
    return replace(query, missing=codes, where=only) if codes or only else query


def _text(words: Words) -> TextFormat:
    given = {name: words[name] for name in TEXT if words.get(name) is not None}
    if given.get("quote") == "none":
        given["quote"] = None
    if given.get("delimiter") in ("tab", "\\t"):
        given["delimiter"] = "\t"
    return TextFormat(**given)


def _unit(words: Words, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns that say whom a row is about; a name may hold a comma."""
    texts = words.get("unit") or []
    return tuple(
        name
        for text in texts
        for name in ((text,) if text in (columns or ()) else flags.split(text))
    )


def _optional(flag: str, text: str | None) -> float | None:
    return None if text is None else flags.number(flag, text)


def ask(words: Words, data: object, text: TextFormat | None = None) -> Request:
    """Read what was said of a table: what it names must be in the header; no row is read."""
    asked = request(words)
    with open_source(data, text=text or asked.text, columns=["any"]) as source:
        # Without a header any column may be there, and a pattern matches none.
        asked = request(words, [] if source.headless else list(source.dtypes))
        if not source.headless:
            named = [query for query in asked.workload.queries if not nameless(query)]
            columns = [name for query in named for name in query.columns]
            source.check([*columns, *asked.unit, *asked.workload.group_columns])
            if asked.workload.grouping is not None:
                check_keys(source.dtypes, asked.workload.grouping)
    return asked
