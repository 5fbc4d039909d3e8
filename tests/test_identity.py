"""Which requests are the same, so that a name returns the result of one for the other."""

import datetime as dt
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halfnoise
from halfnoise import identity
from halfnoise.data import expressions
from halfnoise.data.sources.source import TextFormat
from halfnoise.request import Request
from halfnoise.workload.workload import Workload

hn: Any = halfnoise  # what is said here is more than types allow
COUNT = [hn.Count("s")]
s, t = nw.col("s"), nw.col("t")
OWN = ("privacy", "unit", "row_is_person", "known_size", "level", "noise", "i_know", "one_of")
BOTH = {"by": ["a", "b"]}
Asked = dict[str, Any]


def asked(queries: Any = COUNT, about: object = (), **said: Any) -> str:
    """Return the hash of a request."""
    own: Asked = {"privacy": hn.GaussianDP(mu=1), "unit": ("p",)}
    own |= {name: said.pop(name) for name in OWN if name in said}
    return Request(workload=Workload.of(queries, **said), **own).fingerprint(about)


def counted(expression: Any) -> Asked:
    """Ask for what an expression counts."""
    return {"queries": [hn.Count(expression, name="n")]}


def one(query: Any, **said: Any) -> Asked:
    """Ask one thing."""
    return {"queries": [query], **said}


SEX, AGE = hn.Choice("sex", ["f", "m"]), hn.Bins("age", [18, 65])


def crossed(*queries: Any, table: Any = ("sex", "age"), **said: Any) -> Asked:
    """Ask for a table of two axes, and what is said of it."""
    rules = {name: said.pop(name) for name in ("importance",) if name in said}
    return {"queries": [SEX, AGE, hn.Table(table, **said), *queries], **rules}


def paid(kind: Any = hn.Mean, by: Any = ("sex", "age"), **said: Any) -> Asked:
    """Ask for a value by cell."""
    return crossed(kind("pay", bounds=(0, 9), by=by, **said))


DIFFERENT: dict[str, tuple[Asked, Asked]] = {
    "a product and two keys": (
        BOTH | {"groups": [["x", "y"], ["u", "v"]]},
        BOTH | {"groups": [("x", "y"), ("u", "v")]},
    ),
    "a long array": (
        BOTH | {"groups": {"a": np.arange(3000), "b": ["u"]}},
        BOTH | {"groups": {"a": np.r_[np.arange(9), -5, np.arange(10, 3000)], "b": ["u"]}},
    ),
    "a long series": (
        BOTH | {"groups": {"a": pl.Series(range(30)), "b": ["u"]}},
        BOTH | {"groups": {"a": pl.Series([*range(14), -5, *range(15, 30)]), "b": ["u"]}},
    ),
    **{
        f"the keys {x!r} and {y!r}": ({"by": "a", "groups": [x]}, {"by": "a", "groups": [y]})
        for x, y in itertools.combinations([1, 1.0, True, "1", "True", None, "None"], 2)
    },
    "a day and a moment as a key": (
        {"by": "a", "groups": [dt.date(2026, 1, 1)]},
        {"by": "a", "groups": [dt.datetime(2026, 1, 1)]},
    ),
    "keys in another order": ({"by": "a", "groups": [1, 2]}, {"by": "a", "groups": [2, 1]}),
    "others left out": (
        {"by": "a", "groups": ["x"]},
        {"by": "a", "groups": ["x"], "other": None},
    ),
    "no sizes": (
        {"by": "a", "groups": ["x"]},
        {"by": "a", "groups": ["x"], "group_sizes": False},
    ),
    "two groups each": (
        {"by": "a", "groups": ["x"]},
        {"by": "a", "groups": ["x"], "max_groups": 2},
    ),
    "by month": (
        {"by": "a", "groups": ["2026-01"]},
        {"by": hn.By("a", every="month"), "groups": ["2026-01"]},
    ),
    **{
        f"{x} and {y}": (counted(x), counted(y))
        for x, y in [
            (t == "1", t == 1),
            (t == 1.0, t == 1),
            (t == True, t == 1),  # noqa: E712  # an expression
            (t == np.int64(1), t == np.int32(1)),
            (t == dt.date(2026, 1, 1), t == dt.datetime(2026, 1, 1)),
            (t == nw.col("1"), t == "1"),
            (t.is_in(["1", "2"]), t.is_in(["1', '2"])),
            (t.is_in([*range(3000)]), t.is_in([*range(1500), -1, *range(1501, 3000)])),
            (t.cast(nw.Int64) > 1, t.cast(nw.Float64) > 1),
            (t.cast(nw.Datetime("us")) > s, t.cast(nw.Datetime("ns")) > s),
            (t.str.contains("a."), t.str.contains("a.", literal=True)),
            (t.is_between(1, 2), t.is_between(1, 2, closed="none")),
            (nw.col("a") + nw.col("b") > 0, nw.col("a).__add__(col(b") > 0),
            ((s + t) * 2 > 1, s + t * 2 > 1),
            (nw.when(s > 1).then(1).otherwise(0), nw.when(s > 1).then(0).otherwise(1)),
        ]
    },
    "an expression and its words": (counted(s == 1), one(hn.Count(str(s == 1), name="n"))),
    "a name": (one(hn.Count("s")), one(hn.Count("s", name="t"))),
    "above and at least": (one(hn.Count("s", above=1)), one(hn.Count("s", at_least=1))),
    "limits": (one(hn.Count("s", at_least=65)), one(hn.Count("s", at_least=66))),
    "yes and its word": (one(hn.Count("s", true=[True])), one(hn.Count("s", true=["True"]))),
    "text that spells a number": (
        one(hn.Count("s", equals="1")),
        one(hn.Count("s", equals="1.0")),
    ),
    "spaces in what comes out": (one(hn.Choice("s", ["x"])), one(hn.Choice("s", ["x "]))),
    "categories in another order": (
        one(hn.Choice("s", ["x", "y"])),
        one(hn.Choice("s", ["y", "x"])),
    ),
    "codes for no answer": (one(hn.Count("s")), one(hn.Count("s", missing="9"))),
    "a list and a condition": (
        one(hn.Count("s", where=hn.Where("t", is_in=["x", "y"]))),
        one(hn.Count("s"), where=hn.Where("t", is_in=["x", "y"])),
    ),
    "bounds": (one(hn.Sum("s", bounds=(0, 1))), one(hn.Mean("s", bounds=(0, 1)))),
    "counts in another order": (
        {"queries": [hn.Count("s"), hn.Count("t")]},
        {"queries": [hn.Count("t"), hn.Count("s")]},
    ),
    "importance": ({}, {"importance": {"s": 2}}),
    "the size counts": ({}, {"size_importance": 1}),
    "rows": ({}, {"unit": (), "row_is_person": True}),
    "levels": ({}, {"level": 0.9}),
    "noise": ({}, {"noise": "gaussian"}),
    "budgets": ({"privacy": hn.PureDP(epsilon=1)}, {"privacy": hn.GaussianDP(mu=1)}),
    "a part": ({"privacy": None, "one_of": 2}, {"privacy": None, "one_of": 3}),
    "a known size": ({}, {"known_size": 10}),
    "folders": ({"about": ["/x/s.csv"]}, {"about": ["/y/s.csv"]}),
    "decimals": ({"about": TextFormat()}, {"about": TextFormat(decimal=",")}),
    "encodings": ({"about": TextFormat()}, {"about": TextFormat(encoding="latin-1")}),
    **{
        f"{text} and none": ({"about": TextFormat()}, {"about": text})
        for text in (
            TextFormat(thousands=","),
            TextFormat(dates="dd.mm.yyyy"),
            TextFormat(yes=["ja"]),
            TextFormat(no=["nein"]),
            TextFormat(ignore_case=True),
        )
    },
    "dialects": (
        {"about": TextFormat.of_dialect("en-us")},
        {"about": TextFormat.of_dialect("en-gb")},
    ),
}
DIFFERENT |= {
    "a table, and none": (crossed(), {"queries": [SEX, AGE]}),
    "a table of fewer axes": (
        {"queries": [hn.Table([SEX, AGE])]},
        {"queries": [hn.Table([SEX]), hn.Table([AGE])]},
    ),
    "a table that weighs more": (crossed(), crossed(importance={"sex,age": 2})),
    "margins that weigh more": (
        {"queries": [hn.Table([SEX, AGE])]},
        {"queries": [hn.Table([SEX, AGE], margins=1)]},
    ),
    "the largest error": (crossed(), crossed() | {"objective": "largest"}),
    "an axis that is asked for": ({"queries": [hn.Table([SEX, AGE])]}, crossed()),
    "an axis with another list": (
        {"queries": [hn.Table([SEX, AGE])]},
        {"queries": [hn.Table([hn.Choice("sex", ["f", "x"]), AGE])]},
    ),
    "by cell, and not": (paid(), crossed(hn.Mean("pay", bounds=(0, 9)))),
    "by fewer cells": (paid(), paid(by=["sex"])),
    "within its margins": (paid(), paid(within=[["sex"]])),
    "within other margins": (paid(within=[["age"]]), paid(within=[["sex"]])),
    "a mean and a sum by cell": (paid(), paid(hn.Sum)),
    "a mean by cell that weighs more": (paid(), paid() | {"importance": {"pay": 7}}),
    "by cell of another column": (paid(), crossed(hn.Mean("rent", bounds=(0, 9), by=["sex"]))),
}
SAME: dict[str, tuple[Asked, Asked]] = {
    "a mapping and lists": (
        BOTH | {"groups": {"b": ["u"], "a": range(3)}},
        BOTH | {"groups": [[0, 1, 2], ["u"]]},
    ),
    "a product and all its keys": (
        BOTH | {"groups": [["x", "y"], ["u"]]},
        BOTH | {"groups": [("x", "u"), ("y", "u")]},
    ),
    "an array and a list": (
        {"by": hn.By("a"), "groups": np.arange(3)},
        {"by": ["a"], "groups": (0, 1, 2)},
    ),
    "more groups than there are": (
        {"by": "a", "groups": ["x"], "max_groups": 2},
        {"by": "a", "groups": ["x"], "max_groups": 3},
    ),
    **{
        f"at least {x!r} and {y!r}": (
            one(hn.Count("s", at_least=x)),
            one(hn.Count("s", at_least=y)),
        )
        for x, y in [(65, 65.0), (65, "65"), (dt.date(2026, 1, 1), "2026-01-01")]
    },
    "between": (
        one(hn.Count("s"), where=hn.Where("t", between=(18, 64))),
        one(hn.Count("s"), where=[hn.Where("t", between=("18", "64"))]),
    ),
    "a code as text": (one(hn.Count("s", true=["1"])), one(hn.Count("s", true=[1]))),
    "codes in another order": (
        one(hn.Count("s", true=["x", "y"], missing=("8", "9"))),
        one(hn.Count("s", true={"y", "x"}, missing=["9", "8"])),
    ),
    "a name that is the column's": (one(hn.Count("s")), one(hn.Count("s", name="s"))),
    "bands": (one(hn.Bins("s", [0, 1])), one(hn.Bins("s", np.array([0.0, 1.0])))),
    "importance as it is": ({}, {"importance": {"s": 1}}),
    "of a sum": (
        one(hn.Sum("s", bounds=(0, 20))),
        one(hn.Sum("s", bounds=[0, 20.0]), importance={"s": 1 / 400}),
    ),
    "a table's importance in other words": (
        {"queries": [hn.Table([SEX, AGE], importance=2)]},
        {"queries": [hn.Table([SEX, AGE])], "importance": {"sex,age": 2}},
    ),
    "a table by its own axes, or by their labels": (
        crossed(),
        crossed(table=[hn.Choice("sex", ("f", "m")), "age"]),
    ),
    "by cells in another order": (paid(), paid(by=["age", "sex"])),
    "a dial": ({"size_dial": 2}, {"size_dial": np.float64(2)}),
    "a dial and what it means": ({"size_dial": 2}, {"size_importance": 15 / 4}),
    "kinds in another order": (
        {"queries": [hn.Count("s"), hn.Sum("t", bounds=(0, 1))]},
        {"queries": [hn.Sum("t", bounds=(0, 1)), hn.Count("s")]},
    ),
    "numbers of NumPy": (
        {"level": 0.9, "known_size": 10},
        {"level": np.float64(0.9), "known_size": np.int64(10)},
    ),
    "the same expression": (counted(nw.col("s").is_in([1, 2])), counted(nw.col("s").is_in([1, 2]))),
    "a type and one of it": (counted(s.cast(nw.Int64) > 1), counted(s.cast(nw.Int64()) > 1)),
    "who knows": ({}, {"i_know": True}),
    "a dialect and its options": (
        {"about": TextFormat.of_dialect("de", delimiter=";")},
        {
            "about": TextFormat(
                delimiter=";",
                decimal=",",
                thousands=".",
                dates="DD.MM.YYYY",
                yes=["J", "Ja ", "wahr", "ja"],
                no=("falsch", "nein"),
            )
        },
    ),
    "encodings by other names": (
        {"about": TextFormat(encoding="UTF8")},
        {"about": TextFormat(encoding="utf-8")},
    ),
}


def mistaken() -> Iterator[str]:
    """Find pairs that are told apart, or not, against the tables above."""
    for pairs, same in ((DIFFERENT, False), (SAME, True)):
        for name, (left, right) in pairs.items():
            if (asked(**left) == asked(**right)) != same:
                yield name


def test_what_is_the_same() -> None:
    """Requests that lead to different results differ; those that are evidently the same do not."""
    assert [*mistaken()] == []


def _shown(part: Any) -> Any:
    return str(part)


def _each(parts: Any) -> list[str]:
    return [identity.told(part) for part in parts]


MUTANTS: dict[str, tuple[Any, str, Any, str]] = {
    "expressions as they show themselves": (identity, "written", _shown, "col(t)"),
    "parts without their types": (expressions, "_written", _shown, "col(t)"),
    "keys without their types": (identity, "_kind", lambda _: "", "the keys"),
    "codes as they were said": (identity, "_as_set", _each, "codes in another order"),
    "tables without their weights": (
        identity,
        "_weighed",
        lambda block: (block.importance, block.asked),
        "a table that weighs more",
    ),
    "numbers are not read": (identity, "as_number", lambda _: None, "limits"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_who_takes_them_for_each_other_is_found(
    mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables see what they are there for."""
    where, name, broken, found = MUTANTS[mutant]
    monkeypatch.setattr(where, name, broken)
    assert any(found in each for each in mistaken())


@pytest.mark.parametrize(
    "expression",
    [
        s.is_in(nw.from_native(pl.Series(range(50)), series_only=True)),
        s.is_in(np.arange(5000)),
        s.map_batches(lambda column: column > 1),
        s > s.mean(),
    ],
)
def test_what_cannot_be_told_apart_has_no_name(expression: Any) -> None:
    """It is refused in a sentence; without a name it is like nothing else, nor itself."""
    request = Request(workload=Workload(counted(expression)["queries"]), unit=("p",))
    with pytest.raises(hn.NotSupportedError, match="cannot be given a name"):
        request.fingerprint()
    assert request.fingerprint(named=False) != request.fingerprint(named=False)


def test_an_unknown_object_has_no_name() -> None:
    """What it shows of itself is not trusted."""
    with pytest.raises(hn.NotSupportedError, match="with a Fake in it cannot be given a name"):
        asked(about=type("Fake", (), {"__str__": lambda _: "the same"})())


# A request in its plainest form: the least age, by which keys, how much it counts, how sure.
MODELS = st.tuples(
    st.sampled_from([None, 18.0, 65.0]),
    st.sampled_from([(), (1,), (1, 2), (2, 1), ("1",), ("1", "2"), (1.0,), (True,)]),
    st.sampled_from([1.0, 2.0]),
    st.sampled_from([0.9, 0.95]),
)
SAID: list[Callable[[float], Any]] = [int, float, np.float64, str]


def typed(model: tuple[Any, ...]) -> object:
    """Return a model as it is compared: 1, 1.0 and True are different keys."""
    least, keys, *rest = model
    return least, [(type(key), key) for key in keys], rest


@st.composite
def spelled(draw: st.DrawFn, model: tuple[Any, ...]) -> str:
    """Return the hash of a request that is said in one of many ways."""
    least, keys, weight, level = model
    named: Asked = {"name": "age"} if draw(st.booleans()) else {}
    if least is not None:
        named["at_least"] = draw(st.sampled_from(SAID))(least)
    said: Asked = {"level": draw(st.sampled_from(SAID[1:3]))(level)}
    if weight != 1 or draw(st.booleans()):
        said["importance"] = {"age": draw(st.sampled_from(SAID[:3]))(weight)}
    if keys:
        said["by"] = draw(st.sampled_from(["a", ["a"], hn.By("a"), (hn.By("a"),)]))
        listed: list[Any] = [list, tuple, np.array, pl.Series]
        said["groups"] = draw(st.sampled_from(listed))(list(keys))
        said["max_groups"] = draw(st.integers(len(keys) + 1, 9))
    return asked([hn.Count("age", **named)], **said)


@given(st.data())
def test_the_same_if_and_only_if(data: st.DataObject) -> None:
    """However two requests are said, they have one hash exactly where they ask for the same."""
    one = data.draw(MODELS)
    other = data.draw(st.just(one) | MODELS)
    hashes = [data.draw(spelled(each)) for each in (one, other)]
    assert (hashes[0] == hashes[1]) == (typed(one) == typed(other))


def test_ledgers_of_before_know_requests_again() -> None:
    """What is hashed stays byte for byte the same, or a name would be charged twice."""
    text = identity.told(Workload.of(COUNT, by="a", groups=['"\u00e4', 1, None]).grouping)
    keys = '[[["str", "\\"\\u00e4"]], [["int", "1"]], [["NoneType", "None"]]]'
    assert text.startswith(f'["Grouping", {keys}, [[["By", ')
    assert json.loads(text)[1] == json.loads(keys)
    both = {"by": ["a", "b"], "groups": [["x", "y"], ["u", 2, None]]}
    known = "70460736d16cbabcde1e35c1d2ffa07aaee3f40c539885e5f97ad0a6081ee9b2"
    assert asked(where=hn.Where("c", is_in=["p", "q"]), **both) == known
