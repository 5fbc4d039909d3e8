"""Whatever is called the JSON of a release: it is one, with all that follows, or it is refused."""

import copy
import functools
import itertools
import json
import pickle
import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.privacy.definitions import DiscoveryDP
from halfnoise.results import reading
from halfnoise.results.formats import FORMATS
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.workload.by import By
from support.fixed_workloads import KINDS
from support.fuzz import LIMIT, MORE, Hang, Tried, fuzz, within
from support.grouped import EVERY_TYPE, PEOPLE, made, two_level
from support.replay import many
from support.soak import SOAKS
from support.tabled import by_group, few

Place = tuple[Any, ...]  # the way to a part of a document


@functools.cache
def sound() -> list[str]:
    """Return releases of all sorts, each as a JSON text."""
    alone = [
        many(KINDS[kind](3), privacy, people=100, known=known, rows=1).one
        for kind, privacy, known in (
            ("mixture", hn.GaussianDP(mu=1), False),
            ("means", hn.ApproxDP(epsilon=1, delta=1e-6), False),
            ("choice", hn.PureDP(epsilon=1), False),
            ("counts", hn.RenyiDP(alpha=8, epsilon=1), True),
        )
    ]
    discovery = DiscoveryDP(kept=hn.GaussianDP(mu=0.2), delta=1e-7)
    grouped = [
        made(EVERY_TYPE, people=PEOPLE).rounded(),
        replace(two_level(3), by=(By("visited", every="month"),)),
        made(discovered=True, guarantee=discovery),
        made(privacy=hn.PureDP(epsilon=1)),
    ]
    tables = [few(), by_group()]
    varying = hn.Mean("v", bounds=(-2, 9), variance=True)
    people = pl.DataFrame({"v": [0.5, 3.0] * 50, "s": [1.0] * 100})
    asked = [varying, hn.Sum("s", bounds=(0, 2)), hn.Count("s", name="c")]
    given: dict[str, Any] = {"row_is_person": True, "privacy": hn.GaussianDP(mu=1)}
    one = hn.release(people, asked, **given, size_importance=1, sampling="srs")
    in_groups = hn.release(people, asked, **given, by="s", groups=[1.0], sampling="srs")
    sampled = [one, in_groups, tables[1].with_sampling("srs", design_effect=3)]
    every = (*alone, *grouped, grouped[1].total(), *tables, *sampled)
    return [each.to_json() for each in every]


def places(part: Any, way: Place = ()) -> list[Place]:
    """Return the ways to all parts of a document."""
    inside = (
        part.items()
        if isinstance(part, dict)
        else enumerate(part if isinstance(part, list) else ())
    )
    return [way, *(each for name, one in inside for each in places(one, (*way, name)))]


ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 10**6, 10**18, 10**400, -(10**30), 0.5, -0.5, 1e308, -1e308),
    *(
        1e-320,
        1e15,
        "",
        "a",
        "\ud800",
        "1",
        "count",
        "mean",
        "sum",
        "x" * 5000,
        [],
        {},
        [[]],
        [None],
    ),
    *([0.0], [1e308], {"a": 1}, {"kind": "GaussianDP", "mu": 1}, {"number": "nan"}, {"day": "x"}),
    *({"number": "1e400"}, {"moment": "2026-01-01"}, ["a"], ["a", "a"], {"kind": None}, [1, 2, 3]),
]
# What JSON has no word for, or Python no room.
SPELT = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000, "[" * 9000 + "]" * 9000]
SPELT += ['{"a":' * 9000 + "1" + "}" * 9000, "1e-999", "-0", '"\\ud800"', "tru", "", '"\\u0000"']


HUGE = [10**400, -(10**400), 1e308, 1e200, 10**30, 1e-320]
SEEDS = st.integers(0, 2**64)  # of documents, which are too long to be shown


def changed(draw: random.Random) -> str:
    """Return a release with a part or more changed, dropped, doubled, or spelt as no JSON is."""
    text = draw.choice(sound())
    if draw.random() < 0.1:
        return damaged(text, draw)
    found, spelt = json.loads(text), dict[str, str]()
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        values = found.get("values")
        deeper: list[Place] = (
            [("values", name) for name in values] if isinstance(values, dict) else []
        )
        first: list[Place] = [(name,) for name in found]
        way = draw.choice(draw.choice([first, deeper or [("schema",)]]))
        if way[0] not in found:
            continue
        *to, last = draw.choice(
            places(functools.reduce(lambda each, name: each[name], way, found), way)
        )
        part = functools.reduce(lambda each, name: each[name], to, found)
        how = draw.randrange(10)
        if how == 0:
            del part[last]
        elif how == 1 and isinstance(part, list):
            part.append(copy.deepcopy(part[last]))
        elif how == 2:
            part[last] = mark = f"<{len(spelt)}>"
            spelt[json.dumps(mark)] = draw.choice(SPELT)
        elif how == 3 and isinstance(part, dict):
            part[draw.choice("aä\0")] = part.pop(last)
        elif how > 6 and isinstance(part[last], int | float):
            part[last] = draw.choice(
                [draw.choice(HUGE), draw.uniform(-9, 9), draw.randrange(-9, 9)]
            )
        else:
            part[last] = copy.deepcopy(draw.choice(ODD))
    text = json.dumps(found)
    for mark, odd in spelt.items():
        text = text.replace(mark, odd)
    return text


def damaged(text: str, draw: random.Random) -> str:
    """Return a text that was cut, doubled or overwritten somewhere."""
    i, j = sorted(draw.choices(range(len(text)), k=2))
    return draw.choice(
        [text[:i], text + text, text[i:], text[:i] + text[j:], text[:i] + "\0" + text[i + 1 :]]
    )


def looked_at(release: Released) -> None:
    """Show, write and compare a release in all the ways there are."""
    text = release.to_json()
    again = hn.Release.from_json(text)
    assert again.to_json() == text
    assert repr(again) == repr(release)
    assert release._repr_html_()
    assert release.to_html(charts=False).count("<h1>") == 1
    for write in (FORMATS[".csv"], FORMATS[".md"], FORMATS[".jsonl"]):
        assert write(release)
    release.rounded().to_json()
    if len(text) % 8 == 0:  # as it takes long
        release.intervals(level=0.5, simultaneous=True)
    assert pickle.loads(pickle.dumps(release)).to_json() == text
    one = release
    if isinstance(release, GroupedRelease):
        keys = release.keys()
        for name in (*release.names[:2], *release.template.means[:1]):
            for key in keys[-1:]:
                release.difference(name, keys[0], key)
        if not keys:
            return
        one = release.total()
    assert isinstance(one, hn.Release)
    a, *_, b = [*one.names, *one.names]
    one.difference(a, b)
    one.ratio(a, b)
    if one.has_size and one.questions[0].kind == "count":
        one.share(a)
    for each in one.tables:
        table = one.table(*each.labels, of=each.of)
        first, *_, last = [*itertools.product(*table.categories)] * 2
        table.difference(first, last)
        table.total({each.labels[0]: table.categories[0][:1]})
        assert table.text(digits=1)
        if table.kind != "mean":
            table.shares()
            table.linear(table.estimates)


def all_tried(
    many: int,
    reader: Callable[[str], Released],
    *,
    limit: float = LIMIT,
    same: bool = True,
    look: Callable[[Released], None] = looked_at,
) -> Tried:
    """Read so many documents; what is taken for a release is looked at as one."""
    tried = Tried("documents")

    def work(seed: int) -> None:
        text = changed(random.Random(seed))
        release = tried.call(lambda: reader(text), text, limit=limit)
        if release is not None:
            with within(limit):
                look(release)

    fuzz(work, SEEDS, many, same=same)
    return tried


def test_any_document() -> None:
    """What is no release is refused; what is read can be shown, written and compared."""
    many = 400 * MORE if SOAKS else 240
    tried = all_tried(many, hn.Release.from_json, same=not SOAKS)
    tried.told(many * 7 // 8)
    assert tried.ends["accepted"] >= many // 10  # or nothing was looked at


@pytest.mark.parametrize("error", [RecursionError, ArithmeticError, LookupError])
def test_an_error_of_python_is_seen(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that lets one through is caught: too deep, too large, a part that is not there."""
    kinds = tuple(each for each in reading._BROKEN if each is not error)
    monkeypatch.setattr(reading, "_BROKEN", kinds)
    with pytest.raises(error):
        all_tried(10_000, hn.Release.from_json, look=lambda _: None)


def test_a_lax_reader_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that takes what cannot be shown is caught where it is shown."""
    monkeypatch.setattr(reading, "_hold", lambda _: None)
    with pytest.raises((*reading._BROKEN, AssertionError, Warning)):
        all_tried(400, hn.Release.from_json)


def test_a_reader_that_hangs_is_seen() -> None:
    """A reader that never comes back from one input, a text that was cut, is caught."""
    hung = []

    def hangs(text: str) -> Released:
        while not text.endswith("}"):
            hung.append(text)
            time.sleep(0.01)
        raise hn.DataError

    with pytest.raises(Hang):
        all_tried(400, hangs, limit=1.0)
    assert hung
