"""Whatever stands in a spec, in a condition or in a list: it is read, or refused in a sentence."""

import json
import random
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest

from halfnoise.request import Request
from halfnoise.spec import queries, toml
from halfnoise.spec.header import Header
from halfnoise.spec.toml import read_spec, write_spec
from halfnoise.spec.vocabulary import WORDS
from halfnoise.spec.words import read, text_format
from support.fuzz import MORE, Meter, Tried, fuzz
from support.odd_words import AMOUNT, COLUMN, COLUMNS, CONDITION, LIST, NUMBER, ODD, lay_out

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
    [
        *("nan", "-inf", "1e999", "2026-01-05", "2026-13-05", "07:32:00", "0xffff", "{a = 1}"),
        *("'''a\nb'''", '"\\u0000"', '"\\ud800"', '"{name}"', '"{{name}}"', "{name}"),
        *("1979-05-27T07:32:00Z", '"\\U0010ffff"', "[1, 'a', []]"),
    ]
)
HUGE = ("9" * 4301, "[" * 3000 + "]" * 3000, "{a=" * 3000, '"' + "x" * 9000 + '"')
TEXT = st.one_of(CONDITION, AMOUNT, LIST, NUMBER, ODD)
VALUES = st.recursive(
    st.one_of(
        TEXT.map(lambda text: json.dumps(text, ensure_ascii=True)),
        st.booleans().map(lambda yes: str(yes).lower()),
        NUMBER,
        SPELT,
    ),
    lambda inside: st.lists(inside, max_size=3).map(lambda each: f"[{', '.join(each)}]"),
    max_leaves=4,
)
NAMES = st.one_of(
    st.sampled_from(WORDS), st.sampled_from([*WORDS, "mμ", "beside", "joined", "spec"])
)
LINES = st.one_of(
    st.builds("{} = {}".format, NAMES, VALUES),
    st.builds("{} = {}".format, NAMES, st.integers(0, 3).map(HUGE.__getitem__)),
    st.builds("{} = [{}]".format, NAMES, TEXT.map(json.dumps)),
    st.builds("{}.{} = {}".format, NAMES, NAMES, VALUES),
    st.sampled_from(
        ["[count]", "[[count]]", "# \x00", "", "=", "count", "\ufeffcount = 1", "[a", "]"]
    ),
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
    return draw.choice(
        [text[:i], text * 2, text[:i] + bytes([draw.randrange(256)]) + text[i + 1 :]]
    )


def as_request(path: Path, filled: dict[str, str]) -> Request:
    """Read a spec as the library does, and write it anew."""
    words = read_spec(path, filled, ["survey.csv"])
    text_format(words)
    request = read(words, Header(COLUMNS[:-1], is_line=True), ["survey.csv"])
    write_spec(words, request, path.parent)
    return request


def specs_tried(meter: Meter, many: int, *, same: bool = True) -> Tried:
    """Read so many specs, and release by some."""
    lay_out(meter.folder)
    tried, path = Tried("specs"), meter.folder / "fuzzed.toml"

    def alone(content: bytes) -> None:
        path.write_bytes(content)
        filled = {"name": "1"} if b"{name}" in content else {}
        tried.call(lambda: as_request(path, filled), repr(content))

    def whole(content: bytes) -> None:
        path.write_bytes(content)
        tried.command(meter, "release", "survey.csv", "--spec", "fuzzed.toml")

    fuzz(alone, specs(), many, same=same)
    fuzz(whole, specs(), many // 20, same=same)
    return tried


def test_any_spec(meter: Meter) -> None:
    """A spec of any structure, types or bytes is read or refused, and so is what it asks for."""
    specs_tried(meter, 300 * MORE, same=MORE == 1).told(250 * MORE)


def test_a_spec_too_deep_is_seen(meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that lets a RecursionError through is caught."""
    # What it takes for the name of that error is that of another.
    monkeypatch.setattr(toml, "RecursionError", KeyError, raising=False)
    with pytest.raises(RecursionError):
        specs_tried(meter, 300)


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


def conditions_tried(meter: Meter, many: int, *, same: bool = True) -> Tried:
    """Read so much of the grammar, and release by some."""
    lay_out(meter.folder)
    tried, header = Tried("conditions and lists"), Header(COLUMNS[:-1], is_line=True)

    def whole(words: dict[str, Any]) -> None:
        texts = {name: said if isinstance(said, list) else [said] for name, said in words.items()}
        said = [f"--{name}={text}" for name, each in texts.items() for text in each]
        tried.command(meter, "release", "survey.csv", *said)

    fuzz(
        lambda words: tried.call(lambda: read(words, header), repr(words)),
        grammar(),
        many,
        same=same,
    )
    fuzz(whole, grammar(), many // 20, same=same)
    return tried


def test_any_condition(meter: Meter) -> None:
    """Queries, conditions and lists of any spelling are read or refused."""
    conditions_tried(meter, 300 * MORE, same=MORE == 1).told(250 * MORE)


def test_a_number_that_is_none_is_seen(meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grammar that lets Python's own error through is caught."""
    monkeypatch.setattr(queries, "number", lambda _, text: float(text))
    with pytest.raises(ValueError, match="could not convert"):
        conditions_tried(meter, 300)
