"""A release in words: the same ones on the command line and in a TOML file.

    count = ["smoker", "over_65=age:at-least:65"]
    sum = ["visits=0:20"]
    unit = ["person_id"]
    epsilon = "1"
    delta = "1e-6"

A file can be reviewed, repeated and kept in version control; ``{day}`` in it is filled by
``--set day=2026-11-15``.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from halfnoise import flags, group_flags
from halfnoise.checks import positive, refuse
from halfnoise.data.sources import TextFormat
from halfnoise.errors import InvalidParameterError
from halfnoise.privacy import Privacy
from halfnoise.queries import Counts, Query
from halfnoise.workload import Workload

QUERIES = ("count", "counts", "sum", "mean", "choice", "bins", "items")
GROUPS = ("by", "groups", "other", "max-groups", "no-group-sizes", "discover-delta")
YES = ("row-is-person", "no-group-sizes")
LISTS = (*(name for name in QUERIES if name != "counts"), "importance", "unit", "by", "groups")
RULES = ("at-most", *GROUPS, "where", "missing", "neighbors", "size-importance", "size-dial")
BUDGET = ("epsilon", "delta", "mu", "rho", "rdp")
TEXT = ("delimiter", "quote", "encoding", "decimal")
OTHERS = ("row-is-person", "known-size", "level")
WORDS = (*QUERIES, "importance", "unit", *RULES, *BUDGET, *TEXT, *OTHERS)
INSTEAD = (
    ("epsilon", "mu", "rho", "rdp"),
    ("delta", "mu", "rho", "rdp"),
    ("unit", "row-is-person"),
    ("size-importance", "size-dial"),
)
"""Words of which one takes the place of the others."""

Words = Mapping[str, Any]
"""What was said, by word: text, a list of texts, or yes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a release was asked to be."""

    workload: Workload
    privacy: Privacy | None = None
    delta: float | None = None
    unit: tuple[str, ...] = ()
    row_is_person: bool = False
    known_size: float | None = None
    level: float = 0.95
    text: TextFormat = field(default_factory=TextFormat)


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


def gather(words: Words) -> dict[str, Any]:
    """Add what a spec says to what the command line says, which wins."""
    settings = [text.partition("=") for text in words.get("set", [])]
    if settings and "spec" not in words:
        raise InvalidParameterError("--set fills a place in a spec; say --spec FILE too")
    if any(not equals for _, equals, _ in settings):
        raise refuse("--set", "written NAME=VALUE", words["set"], "for example day=2026-11-15")
    said = {name: value for name, value in words.items() if name in WORDS}
    if "spec" not in words:
        return said
    found = read_spec(words["spec"], {name: value for name, _, value in settings})
    replaced = {name for group in INSTEAD if said.keys() & group for name in group}
    return {name: value for name, value in found.items() if name not in replaced} | said


def read_spec(path: str | Path, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Read the words of a TOML file, with ``{name}`` filled from ``parameters``."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InvalidParameterError(
            f"the spec {str(path)!r} could not be read; name a TOML file"
        ) from None
    try:
        found = tomllib.loads(_fill(text, parameters))
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameterError(f"the spec {str(path)!r} is not TOML: {error}") from None
    said = {name: _as_said(name, value) for name, value in found.items() if name != "groups"}
    if "groups" in found:
        several = len(group_flags.by(said.get("by") or [])) > 1
        said["groups"] = group_flags.as_words(found["groups"], several=several)
    return said


def write_spec(words: Words) -> str:
    """Return what was said as TOML.

    >>> print(write_spec({"count": ["smoker"], "epsilon": "1"}), end="")
    count = ["smoker"]
    epsilon = "1"
    """
    said = {name: words[name] for name in WORDS if words.get(name) not in (None, [], False)}
    if "groups" in said and len(group_flags.by(said.get("by") or [])) < 2:
        said["groups"] = group_flags.as_keys(said["groups"])
    return "".join(f"{name} = {_toml(value)}\n" for name, value in said.items())


def _toml(value: Any) -> str:  # noqa: ANN401
    # A JSON string is a TOML string, but for the delete character; a brace would ask for --set.
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007F").replace("{", "\\u007B")


def _fill(text: str, parameters: Mapping[str, str]) -> str:
    used = set(re.findall(r"\{(\w+)\}", text))
    if unknown := used - set(parameters):
        name = min(unknown)
        raise InvalidParameterError(f"the spec needs {name!r}; say --set {name}=...")
    if unused := set(parameters) - used:
        raise InvalidParameterError(f"the spec has no {{{min(unused)}}} to fill; leave it out")
    return re.sub(r"\{(\w+)\}", lambda found: _toml(parameters[found[1]])[1:-1], text)


def _as_said(name: str, value: Any) -> Any:  # noqa: ANN401
    if name not in WORDS:
        known = ", ".join(WORDS)
        raise refuse("a word of the spec", f"one of {known}", name)
    if name in YES:
        if not isinstance(value, bool):
            raise refuse(f"{name} in the spec", "true or false", value)
        return value
    values = value if isinstance(value, list) else [value]
    if any(isinstance(each, bool | dict | list) for each in values):
        raise refuse(f"{name} in the spec", "text, a number, or a list of them", value)
    said = [str(each) for each in values]
    return said if name in LISTS else ",".join(said)


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
