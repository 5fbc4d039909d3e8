"""A release in words: the same ones on the command line and in a TOML file.

    count = ["smoker", "over_65=age:at-least:65"]
    sum = ["visits=0:20"]
    unit = ["person_id"]
    epsilon = "1"
    delta = "1e-6"

A file can be reviewed, repeated and kept in version control.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfnoise.checks import SPACES, number, refuse, whole, whole_number
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.spelling import BLANKS
from halfnoise.errors import InvalidParameterError
from halfnoise.privacy import definitions as dp
from halfnoise.request import Request
from halfnoise.results.sampling import Sampling
from halfnoise.spec.groups import grouping
from halfnoise.spec.header import Header
from halfnoise.spec.lists import ANYWHERE, Lists, check_numbers
from halfnoise.spec.queries import (
    NAMELESS,
    NAMELESS_WEIGHT,
    Words,
    column_and_rest,
    queries,
    weight,
    where,
)
from halfnoise.spec.tables import parted
from halfnoise.spec.vocabulary import LISTS, RULES, SIZES, TEXT
from halfnoise.workload.categories import Items
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Where
from halfnoise.workload.nested import Nested
from halfnoise.workload.queries import Asked
from halfnoise.workload.tables import Table
from halfnoise.workload.workload import Workload

# Marks that have a word, since they are hard to type or to see.
_MARKS: Mapping[str, Mapping[str, str | None]] = {
    "delimiter": {"tab": "\t", "\\t": "\t"},
    "quote": {"none": None},
    "thousands": {"none": None, **{word: mark for mark, word in BLANKS.items()}},
}


def text_format(words: Words) -> TextFormat:
    """Read what text files look like."""
    words = parted(words) if "table" in words else words
    marks = {name.replace("-", "_"): words[name] for name in TEXT if words.get(name) is not None}
    marks |= {"table": marks.pop("file_table")} if "file_table" in marks else {}
    for name, spelled in _MARKS.items():
        if name in marks:
            marks[name] = spelled.get(marks[name], marks[name])
    for name, what in (("names", "the columns' names"), ("yes", "words"), ("no", "words")):
        if name in marks:
            marks[name] = _listed(name, what, marks[name])
    marks |= _skipped(marks.pop("skip", None), marks.pop("header_row", None))
    dialect = marks.pop("dialect", None)
    return TextFormat(**marks) if dialect is None else TextFormat.of_dialect(dialect, **marks)


def _skipped(skip: str | None, header: str | None) -> dict[str, int]:
    """Read how many lines are passed over: so many, or those before the one with the names."""
    if skip is not None and header is not None:
        rule = "left out where --skip says which row holds the names"
        raise refuse("--header-row", rule, header, "keep one of them")
    if header is None:
        return {} if skip is None else {"skip": whole_number("--skip", skip)}
    return {"skip": whole(**{"--header-row": whole_number("--header-row", header)}) - 1}


def _listed(name: str, what: str, said: str) -> list[str]:
    """Read a list about a file; another file of them could be one of rows, and is not read."""
    if said.startswith("@"):
        raise refuse(name, f"{what} themselves: a,b,c", said)
    return [each.strip(SPACES) for each in ANYWHERE.entries(said)]


def read(
    words: Words,
    header: Header | None = None,
    data: Sequence[str] = (),
    *,
    asked: Sequence[Asked] | Workload | None = None,
    rules: Mapping[str, Any] | None = None,
    release: bool = False,
) -> Request:
    """Read what was said; ``header`` is that of the table, ``data`` the files that hold it.

    ``asked``: queries that are no words, in the place of those that are. ``rules``: such ones for a
    workload, which win over the words; conditions on who is in the table join. ``release``: refuse
    what can be planned but not released.

    >>> read({"count": ["smoker"], "epsilon": "1", "row-is-person": True}).privacy
    PureDP(epsilon=1.0)
    """
    check_numbers(words)
    known = () if header is None else header.names
    lists = {name: Lists.of(words, name, data, known) for name in LISTS}
    said = [lists["unit"].names("--unit", text) for text in words.get("unit") or ()]
    unit = tuple(name for names in said for name in names)
    found = _rules(words, lists.__getitem__)
    pairs = Lists.each(words, "missing", data, known)
    codes = tuple(code for text, own in pairs for code in own.split(text))
    if "weight" in found:
        found["weight"] = replace(found["weight"], missing=codes)
    who = [where(text, own) for text, own in Lists.each(words, "where", data, known)]
    if asked is None:
        named = [*unit, *(each.column for each in (*found.get("by", ()), *who))]
        asked = queries(words, header, unit, named, lists.__getitem__)
    elif isinstance(asked, Workload) and (found or codes or who):
        given = ", ".join(name for name in words if name in (*RULES, "importance"))
        raise InvalidParameterError(
            f"the spec has rules for a workload ({given}), and here one is given whole; give its"
            " queries as a list, and the rules that differ"
        )
    workload = _workload(asked, codes, found | {"where": who}, rules or {})
    budget = privacy(words)
    delta, size, level = (words.get(name) for name in ("delta", "known-size", "level"))
    request = Request(
        workload=workload,
        privacy=budget,
        delta=number("--delta", delta) if budget is None and delta is not None else None,
        unit=unit,
        row_is_person=bool(words.get("row-is-person")),
        # The number is empty where a plan does not need it.
        known_size=number("--known-size", size) if size else None,
        level=number("--level", level) if level is not None else 0.95,
        noise=words.get("noise"),
        i_know=bool(words.get("i-know")),
        one_of=None if (part := words.get("one-of")) is None else whole_number("--one-of", part),
        sampling=_sampling(words),
    )
    for fault in for_plans(request, words) if release else ():
        raise fault
    return request


def _sampling(words: Words) -> Sampling | None:
    effect = words.get("design-effect")
    known = None if effect is None else number("--design-effect", effect)
    return Sampling.of(words.get("sampling"), known)


def for_plans(request: Request, words: Words) -> Iterator[InvalidParameterError]:
    """Yield what can be planned but not released."""
    rule = "given a column to release"
    for query in request.workload.queries:
        if not isinstance(query, Table | Nested) and query.column in NAMELESS:
            yield refuse(f"--{query.kind}", rule, query.label, "a plan does without")
    if (own := request.workload.weight) is not None and own.column == NAMELESS_WEIGHT:
        yield refuse("--weight", rule, words.get("weight"), "a plan does without")
    if "known-size" in words and request.known_size is None:
        yield InvalidParameterError("--known-size needs the number of people, for example 200000")


def _rules(words: Words, lists: Callable[[str], Lists]) -> dict[str, Any]:
    """Read the rules of a workload, but for who is in it."""
    found: dict[str, Any] = {
        name.replace("-", "_"): read_rule(f"--{name}", words[name])
        for name, read_rule in _RULES.items()
        if words.get(name) is not None
    }
    by, groups = grouping(words, lists)
    found |= {"by": by} if by else {}
    found |= {} if groups is None else {"groups": groups}
    found |= {"group_sizes": False} if words.get("no-group-sizes") else {}
    return found | {name.replace("-", "_"): True for name in SIZES if words.get(name)}


def _workload(
    asked: Sequence[Asked] | Workload,
    codes: Sequence[str],
    stored: dict[str, Any],
    own: Mapping[str, Any],
) -> Workload:
    """Return queries under the rules that words say, and under those of Python, which win.

    ``codes`` stand for no answer wherever one is looked at.
    """
    if isinstance(asked, Workload | str) or not isinstance(asked, Iterable):
        return Workload.of(asked, **own)  # whole, or refused there
    has_items, split = any(isinstance(query, Items) for query in asked), stored.pop("split", None)
    most = stored.pop("at_most", None) if has_items else None
    if split is not None and not has_items:
        raise refuse("split", "given together with items", split, "leave it out")

    def looking(query: Asked) -> Asked:
        if isinstance(query, Table):
            axes = [axis if isinstance(axis, str) else axis.coded(codes) for axis in query.axes]
            return replace(query, axes=axes)
        if isinstance(query, Items) and most is not None and query.at_most is None:
            query = replace(query, at_most=most)
        if isinstance(query, Items) and split is not None and query.split is None:
            query = replace(query, split=split)
        if not isinstance(query, ColumnQuery):
            return query.coded(codes) if isinstance(query, Nested) else query
        query = query.coded(codes)
        return query if query.where is None else replace(query, where=query.where.coded(codes))

    if codes and "by" in stored:
        bands = [each.bands is not None for each in stored["by"]]
        pairs = zip(stored["by"], bands, strict=True)
        stored["by"] = [replace(by, missing=codes) if it else by for by, it in pairs]
    who = [each.coded(codes) for each in (*stored["where"], *Where.several(own.get("where", ())))]
    return Workload([*map(looking, asked)], **{**stored, **own, "where": who})


def privacy(words: Words) -> dp.Privacy | None:
    """Read the budget; None where there is none. A delta alone is no budget.

    >>> privacy({"epsilon": "1", "delta": "1e-6"})
    ApproxDP(epsilon=1.0, delta=1e-06)
    """
    ways = ("epsilon", "mu", "rho", "rdp", "one-of")
    given = [name for name in ways if words.get(name) is not None]
    if given in ([], ["one-of"]):
        return None
    name, delta = given[0], words.get("delta")
    flag, text = f"--{name}", words[name]
    if len(given) > 1:
        said = " and ".join(f"--{name}" for name in given)
        rule = "the budget must be given one way"
        raise InvalidParameterError(f"{rule}, got {said}; keep one of them")
    if delta is not None and name != "epsilon":
        rule = f"--delta goes with --epsilon, got {flag} --delta {delta}"
        raise InvalidParameterError(f"{rule}; leave --delta out")
    if name == "rdp":
        alpha, colon, bound = text.partition(":")
        if not colon:
            raise refuse(flag, "written ALPHA:EPSILON", text, "for example --rdp 8:1")
        return dp.RenyiDP(alpha=number(flag, alpha), epsilon=number(flag, bound))
    amount = number(flag, text)
    if name == "epsilon" and delta is not None:
        return dp.ApproxDP(epsilon=amount, delta=number("--delta", delta))
    if name == "epsilon":
        return dp.PureDP(epsilon=amount)
    return dp.GaussianDP(mu=amount) if name == "mu" else dp.ConcentratedDP(rho=amount)


def _importance(flag: str, texts: Iterable[str]) -> dict[str, float]:
    weights = {}
    for text in texts:
        column, weight = column_and_rest(flag, text, name="")
        if not column:
            raise refuse(flag, "written NAME=NUMBER", text, "for example smoker=4")
        if column in weights:
            raise refuse(flag, "given once for each query", column)
        weights[column] = number(flag, weight)
    return weights


def _neighbors(flag: str, text: str) -> dp.Neighbors:
    try:
        return dp.Neighbors(text)
    except ValueError:
        raise refuse(flag, "add-remove or replace", text) from None


def _mark(flag: str, text: str) -> str:
    """Read what parts the items in a cell; some marks are hard to type."""
    if not text:
        raise refuse(flag, "a mark", text, "for example ;")
    return {"tab": "\t", "\\t": "\t", "\\n": "\n"}.get(text, text)


# How the rules of a workload are read, by word.
_RULES: Mapping[str, Callable[[str, Any], object]] = {
    "at-most": whole_number,
    "discover-delta": number,
    "importance": _importance,
    "max-groups": whole_number,
    "missing-group": lambda _, text: text,
    "neighbors": _neighbors,
    "objective": lambda _, text: text,
    "other": lambda _, text: None if text.lower() == "none" else text,
    "size-dial": number,
    "size-importance": number,
    "split": _mark,
    "weight": weight,
}
