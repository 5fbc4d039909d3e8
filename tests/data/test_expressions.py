# the private parts that the check reads are planted here

import datetime as dt
import numbers
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import narwhals
import narwhals.stable.v1
import narwhals.stable.v2
import numpy as np
import polars as pl
import pytest
from narwhals._expression_parsing import ExprKind, ExprNode

import halfnoise as hn
from halfnoise.data.expressions import expressions
from support import engines
from support.soak import SOAKS

q: Any = hn  # what strict types would refuse is tried, too

NAMESPACES: dict[str, Any] = {
    "main": narwhals,
    "v1": narwhals.stable.v1,
    "v2": narwhals.stable.v2,
}
SHARP = hn.GaussianDP(mu=1e6)
DAY = dt.datetime(2026, 11, 15)

# Each is met by three of the five rows of ``table``.
ACCEPTED: dict[str, Callable[[Any], Any]] = {
    "comparison": lambda nw: nw.col("x") > 2,
    "either": lambda nw: (nw.col("x") > 3) | (nw.col("y") == "b"),
    "list": lambda nw: nw.col("x").is_in([1, 3, 5]),
    "when": lambda nw: nw.when(nw.col("x") > 2).then(nw.lit("yes")).otherwise(nw.lit("no")),
    "chain": lambda nw: nw.when(nw.col("x") > 4).then(1).when(nw.col("x") < 3).then(1).otherwise(0),
    "text": lambda nw: nw.col("y").str.to_uppercase() == "A",
    "day": lambda nw: nw.col("d") >= DAY,
    "cast": lambda nw: nw.col("x").cast(nw.Float64) / 2 < 1.6,
    "number of numpy": lambda nw: nw.col("x") > np.int64(2),
}

REFUSED: dict[str, Callable[[Any], Any]] = {
    "mean": lambda nw: nw.col("x") > nw.col("x").mean(),
    "rank": lambda nw: nw.col("x").rank() > 1,
    "shift": lambda nw: nw.col("x").shift(1) > 1,
    "over": lambda nw: nw.col("x").max().over("y") > 1,
    "unique": lambda nw: nw.col("x").is_unique(),
    "forward": lambda nw: nw.col("x").fill_null(strategy="forward") > 1,
    "filled": lambda nw: nw.col("x").fill_null(nw.col("x").max()) > 1,
    "clipped": lambda nw: nw.col("x").clip(0, nw.col("x").mean()) > 1,
    "between": lambda nw: nw.col("x").is_between(0, nw.col("x").mean()),
    "then": lambda nw: nw.when(nw.col("x") > 1).then(nw.col("x").max()) > 1,
    "otherwise": lambda nw: nw.when(nw.col("x") > 1).then(1).otherwise(nw.col("x").max()),
    "condition": lambda nw: nw.when(nw.col("x").max() > 1).then(1),
    "chain": lambda nw: nw.when(nw.col("x") > 9).then(1).when(nw.col("x").max() > 1).then(1),
    "batches": lambda nw: nw.col("x").map_batches(lambda s: s) > 1,
    "number of rows": lambda nw: nw.len() > 1,
    "series": lambda nw: nw.col("x") == nw.new_series("s", [1, 2, 3, 4, 5], backend="polars"),
    "array": lambda nw: nw.col("x").is_in(np.array([1, 2, 3, 4, 5])),
    "guessed day": lambda nw: nw.col("y").str.to_datetime() > DAY,
    "all columns": lambda nw: nw.all() > 1,
}


def table() -> Any:
    """Return five people."""
    days = [dt.datetime(2026, 11, day) for day in (13, 14, 15, 16, 17)]
    columns = {"x": [1, 2, 3, 4, 5], "y": ["a", "b", "a", "c", "a"], "d": days}
    return pl.DataFrame(columns).to_arrow()


def released(data: Any, expression: Any) -> int:
    """Return how many people meet an expression, with next to no noise."""
    query = q.Count(expression, name="e")
    return round(hn.release(data, [query], row_is_person=True, privacy=SHARP)["e"].estimate)


# Every namespace on the two engines that compute, and each of the others by the first of them.
PLACES = [
    (engine, space)
    for engine in ("parquet", "polars-lazy", "arrow", "duckdb", "ibis", "pandas")
    for space in NAMESPACES
    if SOAKS or engine in ("parquet", "polars-lazy") or space == next(iter(NAMESPACES))
]


@pytest.mark.parametrize("name", ACCEPTED)
@pytest.mark.parametrize(("engine", "space"), PLACES)
def test_namespaces(engine: str, space: str, name: str, tmp_path: Path) -> None:
    """Expressions of narwhals' own namespace and of its stable ones are read alike."""
    data = engines.ENGINES[engine](table(), tmp_path)
    assert released(data, ACCEPTED[name](NAMESPACES[space])) == 3


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("space", NAMESPACES)
def test_refusals(space: str, name: str) -> None:
    """In every namespace, what looks at several rows is refused, however deep it is hidden."""
    with pytest.raises(hn.InvalidParameterError, match="more than one row"):
        released(pl.from_arrow(table()), REFUSED[name](NAMESPACES[space]))


@pytest.mark.parametrize("space", NAMESPACES)
def test_frames_of_narwhals(space: str) -> None:
    """A frame that is already wrapped, by any namespace, is read like what it wraps."""
    wrapped = NAMESPACES[space].from_native(pl.from_arrow(table()))
    assert released(wrapped, narwhals.col("x") > 2) == 3


def node(**parts: Any) -> Any:
    """Return a step of an expression that looks at one row, with other parts."""
    (own,) = narwhals.col("x")._nodes
    return SimpleNamespace(**{**vars(own), **parts})


def test_unknown_parts() -> None:
    """If narwhals' private parts are not those that are known, every expression is refused."""
    mean = narwhals.col("x").mean()
    without = node()
    del without.kwargs
    strange: list[Any] = [
        [],  # no tuple
        (),
        None,
        (object(),),
        (without,),
        (node(kind="COL"),),
        (node(kind=SimpleNamespace(name="NEW")),),
        (node(kwargs=None),),
        (node(kwargs={"names": ["x"], "by": mean}),),
        (node(kwargs={"names": ["x"], "by": {"deep": [(mean,)]}}),),
        (node(exprs=iter(())),),
        (node(news=mean),),
        (node(news=object()),),
    ]
    frame = pl.from_arrow(table())
    for nodes in strange:
        expression = narwhals.col("x") > 2
        expression._nodes = nodes
        with pytest.raises(hn.InvalidParameterError, match="more than one row"):
            released(frame, expression)
    bare = narwhals.col("x") > 2
    del bare._nodes
    with pytest.raises(hn.InvalidParameterError, match="more than one row"):
        released(frame, bare)
    same = narwhals.col("x") > 2
    same._nodes = (node(), *same._nodes[1:])
    assert released(frame, same) == 3  # else the others would be refused for nothing


class Hidden(Enum):
    """What an engine takes out of its wrapping, here a column whose cells meet rows by order."""

    COLUMN = pl.Series([True, False, True, False, True])


class Text(str):
    """Text of one's own kind, which may be anything."""

    __slots__ = ()


main: Any = narwhals  # it is given what its annotations forbid
SMUGGLED: dict[str, Callable[[], Any]] = {
    "an engine's fold in a list": lambda: main.col("l").list.contains(pl.col("x").max()),
    "compared": lambda: main.col("x") == pl.col("x").max(),
    "a literal": lambda: main.lit(pl.col("x").max()) == main.col("x"),
    "among others": lambda: main.col("x").is_in([pl.col("x").max()]),
    "then": lambda: main.when(main.col("x") > 1).then(pl.col("x").max()),
    "filled": lambda: main.col("x").fill_nan(pl.col("x").max()),
    "replaced": lambda: main.col("x").replace_strict({1: 1}, default=pl.col("x").max()),
    "a key": lambda: main.col("x").replace_strict({Text("a"): 1}, default=0),
    "as an enum": lambda: main.col("x") == Hidden.COLUMN,
    "as text": lambda: main.col("y") == Text("a"),
    "as a type": lambda: main.lit(dict) == main.col("x"),
    "a function of names": lambda: main.col("x").name.map(str.upper),
    "of numpy": lambda: main.col("x").is_in(np.array([1, 2])),
    "unmapped": lambda: main.col("x").replace_strict([1], [2]),
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_only_plain_values_are_arguments(name: str) -> None:
    """An engine's own expression inside an argument is refused, however it is wrapped."""
    data = pl.DataFrame(pl.from_arrow(table())).with_columns(l=pl.concat_list("x"))
    with pytest.raises(hn.InvalidParameterError, match="more than one row"):
        released(data, SMUGGLED[name]())


def test_a_number_by_declaration_alone() -> None:
    """What was merely registered as a number is none."""

    class Mine(numbers.Number):
        """A number that has no value."""

        __hash__ = object.__hash__

    with pytest.raises(hn.InvalidParameterError, match="more than one row"):
        released(pl.from_arrow(table()), main.lit(Mine()) == main.col("x"))


def _mislabelled(node: Any, _: Any, *others: Any, **more: Any) -> None:
    """Make a step that says that it looks at one row, whatever it does."""
    ORIGINAL(node, ExprKind.ELEMENTWISE, *others, **more)


def _renamed(node: Any, kind: Any, name: str, *others: Any, **more: Any) -> None:
    ORIGINAL(node, kind, f"{name}_", *others, **more)


def _with_more(node: Any, *others: Any, **more: Any) -> None:
    ORIGINAL(node, *others, **more)
    node.context = None


def _with_less(node: Any, *others: Any, **more: Any) -> None:
    ORIGINAL(node, *others, **more)
    del node.str_as_lit


ORIGINAL = ExprNode.__init__


@pytest.mark.parametrize("other", [_mislabelled, _renamed, _with_more, _with_less])
def test_another_narwhals_is_refused(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """If its private parts are not as they were known, no expression at all is taken."""
    plain = narwhals.col("x") > 2
    assert released(pl.from_arrow(table()), plain) == 3
    monkeypatch.setattr(ExprNode, "__init__", other)
    for expression in (plain, narwhals.col("x") > 2, narwhals.col("x").max() > 2):
        with pytest.raises(hn.InvalidParameterError, match="this version of narwhals"):
            expressions([q.Count(expression, name="e")])
