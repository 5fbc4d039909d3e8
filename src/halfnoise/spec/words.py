"""A release in words: the same ones on the command line and in a TOML file.

    count = ["smoker", "over_65=age:at-least:65"]
    sum = ["visits=0:20"]
    unit = ["person_id"]
    epsilon = "1"
    delta = "1e-6"

A file can be reviewed, repeated and kept in version control.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfnoise.checks import number, refuse, whole_number
from halfnoise.data.sources.source import TextFormat
from halfnoise.errors import InvalidParameterError
from halfnoise.privacy import definitions as dp
from halfnoise.request import Request
from halfnoise.spec.groups import grouping, one_or_several
from halfnoise.spec.lists import ANYWHERE, Lists
from halfnoise.spec.queries import Words, column_and_rest, missing, queries, where
from halfnoise.workload.numbers import Counts
from halfnoise.workload.workload import Workload

QUERIES = ("count", "counts", "sum", "mean", "choice", "bins", "items")
GROUPS = ("by", "groups", "other", "max-groups", "no-group-sizes", "discover-delta")
YES = ("row-is-person", "no-group-sizes", "quote-newlines", "i-know")
LISTS = (*(name for name in QUERIES if name != "counts"), "importance", "unit", "by", "groups")
LISTS = (*LISTS, "where", "missing")  # what may be said several times
RULES = ("at-most", *GROUPS, "where", "missing", "neighbors", "size-importance", "size-dial")
BUDGET = ("epsilon", "delta", "mu", "rho", "rdp")
TEXT = ("delimiter", "quote", "quote-newlines", "encoding", "decimal", "names")
OTHERS = ("row-is-person", "known-size", "level", "noise", "i-know")
WORDS = (*QUERIES, "importance", "unit", *RULES, *BUDGET, *TEXT, *OTHERS)


def text_format(words: Words) -> TextFormat:
    """Read what text files look like."""
    marks = {name.replace("-", "_"): words[name] for name in TEXT if words.get(name) is not None}
    if marks.get("quote") == "none":
        marks["quote"] = None
    if marks.get("delimiter") in ("tab", "\\t"):
        marks["delimiter"] = "\t"
    if "names" in marks:
        marks["names"] = _names(marks["names"])
    return TextFormat(**marks)


def _names(said: str) -> list[str]:
    """Read the names of columns; a file of them could be one of rows, and is not read."""
    if said.startswith("@"):
        raise refuse("names", "the columns' names themselves: a,b,c", said)
    return [name.strip() for name in ANYWHERE.entries(said)]


def read(words: Words, columns: Sequence[str] | None = None, data: Sequence[str] = ()) -> Request:
    """Read what was said; ``columns`` are those of the table, ``data`` the files that hold it.

    >>> read({"count": ["smoker"], "epsilon": "1", "row-is-person": True}).privacy
    PureDP(epsilon=1.0)
    """
    known = columns or ()
    lists = {name: Lists.of(words, name, data, known) for name in LISTS}
    said = words.get("unit") or ()
    own = [one_or_several("--unit", text, known, lists["unit"]) for text in said]
    unit = tuple(name for names in own for name in names)
    rules: dict[str, Any] = {
        name.replace("-", "_"): read_rule(f"--{name}", words[name])
        for name, read_rule in _RULES.items()
        if words.get(name) is not None
    }
    if words.get("no-group-sizes"):
        rules["group_sizes"] = False
    at_most = rules.pop("at_most", None) if words.get("items") else None
    codes = missing(words, lists["missing"])
    asked = [
        query if isinstance(query, Counts) else replace(query, missing=codes)
        for query in queries(words, columns, unit, at_most, lists.__getitem__)
    ]
    by, groups = grouping(words, known, lists.__getitem__)
    who = [where(text, known, codes, lists["where"]) for text in words.get("where") or ()]
    workload = Workload(asked, where=who, by=by or None, groups=groups, **rules)
    budget = privacy(words)
    delta, size, level = (words.get(name) for name in ("delta", "known-size", "level"))
    return Request(
        workload=workload,
        privacy=budget,
        delta=number("--delta", delta) if budget is None and delta is not None else None,
        unit=unit,
        row_is_person=bool(words.get("row-is-person")),
        # The number is empty where a plan does not need it.
        known_size=number("--known-size", size) if size else None,
        level=number("--level", level) if level else 0.95,
        noise=words.get("noise"),
        i_know=bool(words.get("i-know")),
    )


def privacy(words: Words) -> dp.Privacy | None:
    """Read the budget; None where there is none. A delta alone is no budget.

    >>> privacy({"epsilon": "1", "delta": "1e-6"})
    ApproxDP(epsilon=1.0, delta=1e-06)
    """
    given = [name for name in ("epsilon", "mu", "rho", "rdp") if words.get(name) is not None]
    if not given:
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


# How the rules of a workload are read, by word.
_RULES: Mapping[str, Callable[[str, Any], object]] = {
    "at-most": whole_number,
    "discover-delta": number,
    "importance": _importance,
    "max-groups": whole_number,
    "neighbors": _neighbors,
    "other": lambda _, text: None if text.lower() == "none" else text,
    "size-dial": number,
    "size-importance": number,
}
