"""A release in words: the same ones on the command line and in a TOML file.

    count = ["smoker", "over_65=age:at-least:65"]
    sum = ["visits=0:20"]
    unit = ["person_id"]
    epsilon = "1"
    delta = "1e-6"

A file can be reviewed, repeated and kept in version control; ``{day}`` in it is filled by
``--set day=2026-11-15``.
"""

from collections.abc import Sequence

from halfnoise.data.sources.source import TextFormat
from halfnoise.request import Request
from halfnoise.spec.groups import group_rules
from halfnoise.spec.queries import Words, number, privacy, split, workload

QUERIES = ("count", "counts", "sum", "mean", "choice", "bins", "items")
GROUPS = ("by", "groups", "other", "max-groups", "no-group-sizes", "discover-delta")
YES = ("row-is-person", "no-group-sizes")
LISTS = (*(name for name in QUERIES if name != "counts"), "importance", "unit", "by", "groups")
RULES = ("at-most", *GROUPS, "where", "missing", "neighbors", "size-importance", "size-dial")
BUDGET = ("epsilon", "delta", "mu", "rho", "rdp")
TEXT = ("delimiter", "quote", "encoding", "decimal")
OTHERS = ("row-is-person", "known-size", "level")
WORDS = (*QUERIES, "importance", "unit", *RULES, *BUDGET, *TEXT, *OTHERS)


def text_format(words: Words) -> TextFormat:
    """Read what text files look like."""
    marks = {name: words[name] for name in TEXT if words.get(name) is not None}
    if marks.get("quote") == "none":
        marks["quote"] = None
    if marks.get("delimiter") in ("tab", "\\t"):
        marks["delimiter"] = "\t"
    return TextFormat(**marks)


def read(words: Words, columns: Sequence[str] | None = None) -> Request:
    """Read what was said; ``columns`` are those of the table, to expand patterns.

    >>> read({"count": ["smoker"], "epsilon": "1", "row-is-person": True}).privacy
    PureDP(epsilon=1.0)
    """
    unit = tuple(
        name
        for text in words.get("unit") or ()
        # A name may hold a comma.
        for name in ((text,) if text in (columns or ()) else split(text))
    )
    asked = workload(words, columns, unit, *group_rules(words, columns or ()))
    budget = privacy(words)
    delta, size, level = (words.get(name) for name in ("delta", "known-size", "level"))
    return Request(
        workload=asked,
        privacy=budget,
        delta=number("--delta", delta) if budget is None and delta is not None else None,
        unit=unit,
        row_is_person=bool(words.get("row-is-person")),
        # The number is empty where a plan does not need it.
        known_size=number("--known-size", size) if size else None,
        level=number("--level", level) if level else 0.95,
    )
