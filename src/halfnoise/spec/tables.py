"""Words for tables of several axes, and for what is broken down by their cells.

``--table sex,age`` is by the labels of choices and bands that are said too; ``--by-cell
income=sex,age`` breaks a sum, a mean or a count down by them. ``--table visits``, one name alone,
is the table of a file with several: ``file-table`` in other words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfnoise.checks import meant, number, refuse, said_twice, unknown
from halfnoise.spec.lists import ANYWHERE, Lists
from halfnoise.workload.categories import Bins, Choice
from halfnoise.workload.crossing import used
from halfnoise.workload.nested import Nested, below_header
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.queries import Asked, Query
from halfnoise.workload.tables import Table

FILE = "file-table"
_AXES = "labels of --choice, --bins or --nested that are said too"
_PARTS = ("axes", "importance", "margins")  # of a table in a spec


def parted(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return words in which the table of a file is apart from those that are asked for.

    >>> parted({"table": ["visits", "sex,age"]})
    {'table': ['sex,age'], 'file-table': 'visits'}
    """
    own = {name: value for name, value in words.items() if name != "table"}
    axes = [t.partition("=")[0] for n in ("choice", "bins") for t in words.get(n) or ()]
    axes += [label for t in words.get("nested") or () for label in t.partition("=")[0].split(",")]
    names = {i: _name(said, axes) for i, said in enumerate(words.get("table") or ())}
    asked = [said for i, said in enumerate(words.get("table") or ()) if names[i] is None]
    own |= {"table": asked} if asked else {}
    found = [name for name in names.values() if name is not None]
    found += [own[FILE]] if own.get(FILE) is not None and found else []
    if len(found) > 1:
        several = f"a table of people has several axes: --table {','.join(found[:2])}"
        rule = "said once with a name alone, that of the file's table"
        raise refuse("--table", rule, found, several)
    return own | ({FILE: found[0]} if found else {})


def _name(said: object, axes: Sequence[str]) -> str | None:
    """Return the name of a file's table; None for what has several axes, or is an axis."""
    if not isinstance(said, str):
        return None
    names = [said] if said.startswith("@") else ANYWHERE.entries(said)
    if len(names) != 1 or said in axes:
        return None
    return names[0] if said.startswith('"') else said


def nested(text: str, lists: Lists) -> Nested:
    """Read ``--nested state,county=@places.csv``: levels, coarse ones first, and all places."""
    columns, equals, listed = text.partition("=")
    levels = lists.split(columns)
    if not (equals and levels and listed.startswith("@")):
        remedy = "for example --nested state,county,tract=@places.csv"
        raise refuse("--nested", "written LEVEL,LEVEL=@FILE", text, remedy)
    return Nested(*levels, places=below_header(lists.rows(listed, len(levels)), levels))


def _axes(asked: Sequence[Asked]) -> list[str]:
    """Return the labels of all that may be axes."""
    found = [query.label for query in asked if isinstance(query, Choice | Bins)]
    return [*found, *used([], [], asked)]


def tables(words: Mapping[str, Any], asked: Sequence[Asked]) -> list[Table]:
    """Read ``--table sex,age``, or a table of a spec; its axes are asked for as well."""
    known = _axes(asked)
    texts, rest = words.get("table") or (), {}
    if words.get("margins") is not None:
        rest["margins"] = number("--margins", words["margins"])
        if not texts:
            raise refuse("--margins", "given together with --table", words["margins"])
    found = list[Table]()
    for said in texts:
        listed = isinstance(said, str)
        labels = list(ANYWHERE.split(said) if listed else said["axes"])
        if not labels:
            raise refuse("--table", f"given {_AXES}", said)
        if (twice := said_twice(labels)) is not None:
            raise refuse("--table", "given different axes", twice, "name each one once")
        for label in labels:
            _known_axis("--table", label, known, asked)
        own = {} if listed else {name: number(name, said[name]) for name in said if name != "axes"}
        found.append(Table(labels, **rest | own))
    return found


def _known_axis(flag: str, label: str, known: Sequence[str], asked: Sequence[Asked]) -> None:
    """Refuse a label that is none of a choice's or of bands."""
    if label in known:
        return
    kinds = [query.kind for query in asked if query.label == label]
    remedy = f"say what its categories are too: --choice {label}=A,B,C or --bins {label}=0,18,65"
    remedy = f"--{kinds[0]} {label} has no categories; {remedy}" if kinds else remedy
    near = "" if kinds else meant(label, known)
    raise refuse(flag, _AXES, label, near or remedy)


def by_cell(words: Mapping[str, Any], asked: Sequence[Asked]) -> list[Asked]:
    """Return the queries, broken down where ``--by-cell income=sex,region`` says so.

    What is said of one query again are further tables of it.
    """
    said = dict[str, list[tuple[str, ...]]]()
    numbers = {q.label: q for q in asked if isinstance(q, Count | Sum | Mean)}
    axes = _axes(asked)
    for text in words.get("by-cell") or ():
        name, equals, labels = text.rpartition("=")
        listed = ANYWHERE.split(labels)
        if not (equals and name and listed):
            remedy = "for example --by-cell income=sex,region"
            raise refuse("--by-cell", "written NAME=AXIS,AXIS", text, remedy)
        if name not in numbers:
            raise unknown("--by-cell of a --count, --sum or --mean", name, [*numbers])
        if (twice := said_twice(listed)) is not None:
            raise refuse("--by-cell", "given different axes", twice, "name each one once")
        for label in listed:
            _known_axis("--by-cell", label, axes, asked)
        if {*listed} in map(set, said.setdefault(name, [])):
            raise refuse("--by-cell", "said once for each table", text, "leave one of them out")
        said[name].append(listed)
    broken = {n: replace(numbers[n], by=by, within=more) for n, (by, *more) in said.items()}
    return [broken.get(query.label, query) for query in asked]


def crossed(words: Mapping[str, Any], asked: Sequence[Query], lists: Lists) -> list[Asked]:
    """Return queries with the places and tables that words ask for; ``lists`` reads places."""
    known = [*asked, *(nested(text, lists) for text in words.get("nested") or ())]
    return [*by_cell(words, known), *tables(words, known)]


def spec_tables(value: object) -> list[Any]:
    """Read the tables of a spec, each as text or with ``axes``, ``importance`` and ``margins``.

    >>> spec_tables(["visits", {"axes": ["sex", "age"], "margins": 0.1}])
    ['visits', {'axes': ['sex', 'age'], 'margins': '0.1'}]
    """
    listed = value if isinstance(value, list) else [value]
    for each in listed:
        if isinstance(each, bool | list) or (isinstance(each, str) and not each.strip()):
            remedy = 'for example "sex,age"'
            raise refuse("table in the spec", "labels, or given axes", value, remedy)
    return [_spec_table(each) if isinstance(each, dict) else str(each) for each in listed]


def _spec_table(said: Mapping[str, Any]) -> dict[str, Any]:
    for name in said:
        if name not in _PARTS:
            rule = f"one of {', '.join(_PARTS)}"
            raise refuse("a word of a table of the spec", rule, name, meant(name, _PARTS))
    axes = said.get("axes")
    if not isinstance(axes, list) or not all(isinstance(axis, str) and axis for axis in axes):
        remedy = 'for example axes = ["sex", "age"]'
        raise refuse("axes of a table of the spec", "a list of labels", axes, remedy)
    rest = {name: said[name] for name in _PARTS[1:] if name in said}
    for name, value in rest.items():
        if isinstance(value, bool | list | dict):
            raise refuse(f"{name} of a table of the spec", "a number", value)
    return {"axes": axes} | {name: str(value) for name, value in rest.items()}
