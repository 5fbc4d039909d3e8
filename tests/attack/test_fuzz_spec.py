"""Whatever stands in a spec, in a condition or in a list: it is read, or refused in a sentence."""

import json
import random
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest

import halfnoise as hn
from halfnoise.request import Request
from halfnoise.spec import lists, queries, toml
from halfnoise.spec.header import Header
from halfnoise.spec.toml import read_spec, write_spec
from halfnoise.spec.words import WORDS, YES, read, text_format
from support.fuzz import MORE, Hang, Meter, Tried, fuzz, meter
from support.odd_words import AMOUNT, COLUMN, COLUMNS, CONDITION, LIST, NUMBER, ODD, lay_out

__all__ = ["meter"]  # a fixture

SOUND = """\
count = ["smoker", "old=age:at-least:65"]
sum = ["visits=0:20"]
choice = ["blood=A,B,AB,O"]
where = ["age:at-least:18"]
by = ["blood"]
groups = ["A", "B"]
unit = ["person_id"]
epsilon = "1"
delta = 1e-6
importance = ["smoker=4"]
level = 0.9
row-is-person = false
"""
SPELT = st.sampled_from(
    ["nan", "-inf", "1e999", "2026-01-05", "2026-13-05", "07:32:00", "0xffff", "{a = 1}"]
    + ["'''a\nb'''", '"\\u0000"', '"\\ud800"']
    + ['"{name}"', '"{{name}}"', "{name}", "1979-05-27T07:32:00Z", '"\\U0010ffff"', "[1, 'a', []]"]
)
HUGE = ("9" * 4301, "[" * 3000 + "]" * 3000, "{a=" * 3000, '"' + "x" * 9000 + '"')
TEXT = st.one_of(CONDITION, AMOUNT, LIST, NUMBER, ODD).filter(lambda text: "\ud7ff" not in text)
VALUES = st.recursive(
    st.one_of(
        TEXT.map(lambda text: json.dumps(text, ensure_ascii=True)),
        st.booleans().map(lambda yes: str(yes).lower()),
        NUMBER,
        SPELT,
        st.integers(0, 3).map(HUGE.__getitem__),
    ),
    lambda inside: st.lists(inside, max_size=3).map(lambda each: f"[{', '.join(each)}]"),
    max_leaves=4,
)
NAMES = st.one_of(st.sampled_from(WORDS), st.sampled_from([*WORDS, "mμ", "beside", "joined", "spec"]))
LINES = st.one_of(
    st.builds("{} = {}".format, NAMES, VALUES),
    st.builds("{} = [{}]".format, NAMES, TEXT.map(json.dumps)),
    st.builds("{}.{} = {}".format, NAMES, NAMES, VALUES),
    st.sampled_from(["[count]", "[[count]]", "# \x00", "", "=", "count", "\ufeffcount = 1", "[a", "]"]),
)


@st.composite
def specs(draw: st.DrawFn) -> bytes:
    """Draw a spec: a sound one with lines changed, lines of any sort, damaged text, or bytes."""
    kept = [line for line in SOUND.splitlines() if draw(st.integers(0, 5))]
    own = draw(st.lists(LINES, max_size=3))
    taken = {line.partition(" ")[0] for line in own}
    lines = [line for line in kept if line.partition(" ")[0] not in taken] + own
    if not draw(st.integers(0, 9)):
        lines = own
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    if not draw(st.integers(0, 9)):
        text = damaged(text, random.Random(draw(st.integers())))
    return text


def damaged(text: bytes, draw: random.Random) -> bytes:
    """Return bytes that were cut, doubled, or overwritten somewhere."""
    i = draw.randrange(len(text) + 1)
    return draw.choice([text[:i], text * 2, text[:i] + bytes([draw.randrange(256)]) + text[i + 1 :]])


def as_request(path: Path, filled: dict[str, str]) -> Request:
    """Read a spec as the library does, and write it anew."""
    words = read_spec(path, filled, ["survey.csv"])
    text_format(words)
    request = read(words, Header(COLUMNS[:-1], is_line=True), ["survey.csv"])
    write_spec(words, request, path.parent)
    return request


def test_any_spec(meter: Meter) -> None:
    """A spec of any structure, types or bytes is read or refused, and so is what it asks for."""
    lay_out(meter.folder)
    tried, path = Tried("specs"), meter.folder / "fuzzed.toml"

    def work(content: bytes) -> None:
        path.write_bytes(content)
        filled = {"name": "1"} if b"{name}" in content else {}
        tried.call(lambda: as_request(path, filled), repr(content))

    fuzz(work, specs(), 400 * MORE)

    def whole(content: bytes) -> None:
        path.write_bytes(content)
        tried.command(meter, "release", "survey.csv", "--spec", "fuzzed.toml")

    fuzz(whole, specs(), 20 * MORE)
    tried.told(350 * MORE)


KINDS: dict[str, st.SearchStrategy[str]] = {
    "count": CONDITION,
    "where": CONDITION,
    "sum": AMOUNT,
    "bins": LIST,
    "choice": LIST,
    "items": LIST,
    "missing": LIST,
    "groups": LIST,
    "by": st.one_of(COLUMN, st.builds("{}:{}".format, COLUMN, COLUMN)),
    "unit": COLUMN,
    "importance": AMOUNT,
}


@st.composite
def grammar(draw: st.DrawFn) -> dict[str, Any]:
    """Draw words of the grammar of queries, conditions and lists: one or two, beside sound ones."""
    words: dict[str, Any] = {"count": ["smoker"], "unit": ["person_id"], "mu": "1"}
    for name in draw(st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=2)):
        words[name] = draw(st.lists(KINDS[name], min_size=1, max_size=2))
    return words


def test_any_condition(meter: Meter) -> None:
    """Queries, conditions and lists of any spelling are read or refused."""
    lay_out(meter.folder)
    tried, header = Tried("conditions and lists"), Header(COLUMNS[:-1], is_line=True)
    fuzz(lambda words: tried.call(lambda: read(words, header), repr(words)), grammar(), 500 * MORE)

    def whole(words: dict[str, Any]) -> None:
        said = [f"--{w}={x}" for w, all_of in words.items() for x in ([all_of] if w == "mu" else all_of)]
        tried.command(meter, "release", "survey.csv", *said)

    fuzz(whole, grammar(), 40 * MORE)
    tried.told(450 * MORE)
