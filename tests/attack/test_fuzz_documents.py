"""Whatever is called the JSON of a release: it is one, with all that follows, or it is refused."""

import copy
import functools
import json
import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest

import halfnoise as hn
from halfnoise.results import document
from halfnoise.results.formats import FORMATS
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.workload.groups import By
from support.fixed_workloads import KINDS
from support.fuzz import MORE, Hang, Tried, fuzz
from support.grouped import EVERY_TYPE, PEOPLE, made, two_level
from support.replay import many

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
    discovery = hn.DiscoveryDP(kept=hn.GaussianDP(mu=0.2), delta=1e-7)
    grouped = [
        made(EVERY_TYPE, people=PEOPLE).rounded(),
        replace(two_level(3), by=(By("visited", every="month"),)),
        made(discovered=True, guarantee=discovery),
        made(privacy=hn.PureDP(epsilon=1)),
    ]
    return [each.to_json() for each in (*alone, *grouped, grouped[1].total())]


def places(part: Any, way: Place = ()) -> list[Place]:
    """Return the ways to all parts of a document."""
    inside = part.items() if isinstance(part, dict) else enumerate(part if isinstance(part, list) else ())
    return [way, *(each for name, one in inside for each in places(one, (*way, name)))]


ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 10**6, 10**18, 10**400, -(10**30), 0.5, -0.5, 1e308, -1e308),
    *(1e-320, 1e15, "", "a", "\ud800", "1", "count", "mean", "sum", "x" * 5000, [], {}, [[]], [None]),
    *([0.0], [1e308], {"a": 1}, {"kind": "GaussianDP", "mu": 1}, {"number": "nan"}, {"day": "x"}),
    *({"number": "1e400"}, {"moment": "2026-01-01"}, ["a"], ["a", "a"], {"kind": None}, [1, 2, 3]),
]
# What JSON has no word for, or Python no room.
SPELT = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000, "[" * 9000 + "]" * 9000]
SPELT += ['{"a":' * 9000 + "1" + "}" * 9000, "1e-999", "-0", '"\\ud800"', "tru", "", '"\\u0000"']


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw a release with a part or two changed, dropped, doubled, or taken from elsewhere."""
    text = draw(st.sampled_from(sound()))
    if not draw(st.integers(0, 14)):
        return damaged(text, random.Random(draw(st.integers())))
    found = json.loads(text)
    spelt: dict[str, str] = {}
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        among = "values" if draw(st.integers(0, 2)) and isinstance(found.get("values"), dict) else None
        ways = places(found["values"], ("values",)) if among else places(found)[1:]
        if not ways:
            break
        *way, last = draw(st.sampled_from(ways))
        part = functools.reduce(lambda each, name: each[name], way, found)
        how = draw(st.integers(0, 9))
        if how == 0:
            del part[last]
        elif how == 1 and isinstance(part, list):
            part.append(copy.deepcopy(part[last]))
        elif how == 2 and isinstance(part[last], int | float):
            part[last] = draw(st.one_of(st.floats(allow_nan=False), st.integers()))
        elif how == 3:
            part[last] = mark = f"<{len(spelt)}>"
            spelt[json.dumps(mark)] = draw(st.sampled_from(SPELT))
        elif how == 4 and isinstance(part, dict):
            part[draw(st.text(max_size=9))] = part.pop(last)
        else:
            part[last] = copy.deepcopy(draw(st.sampled_from(ODD)))
    text = json.dumps(found)
    for mark, odd in spelt.items():
        text = text.replace(mark, odd)
    return text


def damaged(text: str, draw: random.Random) -> str:
    """Return a text that was cut, doubled or overwritten somewhere."""
    i, j = sorted(draw.choices(range(len(text)), k=2))
    return draw.choice([text[:i], text + text, text[i:], text[:i] + text[j:], text[:i] + "\0" + text[i + 1 :]])


def looked_at(release: Released) -> None:
    """Show, write and compare a release in all the ways there are."""
    text = release.to_json()
    again = hn.Release.from_json(text)
    assert again.to_json() == text
    assert repr(again) == repr(release)
    assert release._repr_html_()
    for write in (FORMATS[".csv"], FORMATS[".md"], FORMATS[".jsonl"]):
        assert write(release)
    release.rounded().to_json()
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


def read(text: str, tried: Tried, reader: Callable[[str], Released], limit: float = 20.0) -> None:
    """Read a document; what is taken for a release is looked at as one."""
    release = tried.call(lambda: reader(text), limit=limit)
    if release is not None:
        tried.call(lambda: looked_at(release), limit=limit)


def test_any_document() -> None:
    """What is no release is refused; what is read can be shown, written and compared."""
    tried = Tried("documents")
    fuzz(lambda text: read(text, tried, hn.Release.from_json), documents(), 150 * MORE)
    tried.told(150 * MORE)
