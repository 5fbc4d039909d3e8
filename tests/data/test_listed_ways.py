"""Listed keys are told of all at once where they are plain: by the same rules as one by one."""

import datetime as dt
import random
from types import SimpleNamespace
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data import groups, keys
from halfnoise.data.cells import Cell
from halfnoise.data.spelling import PLAIN, SPACES, Spelling, folded
from halfnoise.values import replace
from halfnoise.workload import listing
from halfnoise.workload.by import By
from halfnoise.workload.groups import Grouping


class Named(str):
    """Text of a kind of its own."""

    __slots__ = ()


PLAINLY: list[Any] = [
    "a",
    "b",
    "b c",
    "north",
    "Zürich",
    "\U0001f600",
    "x" * 40,
    "1",
    "-0",
    "2024-01-31",
]
ODDLY: list[Any] = [
    "",
    " ",
    "a ",
    "\tb",
    "\xa0a",
    "\xa0",
    "\x85",
    "a\n",
    "a\nb",
    "\0",
    "a\0",
    "\ud83d",
    "True",
    "FALSE",
    "fals",
]
ODDLY += [
    "true ",
    "falsee",
    "\uff34rue",
    "tru\u0130",
    "\u017f",
    "e\u0301",
    "é",
    "other",
    "nan",
    "A",
    "B C",
]
NUMBERS: list[Any] = [0, 1, -1, -2, 2**53, 2**53 + 1, 2**62, 10**400, 0.0, -0.0, 1.0, 0.5]
NUMBERS += [True, False, np.int64(1), np.float64(1), np.float32(0.1), float("inf")]
OTHERS: list[Any] = [
    None,
    float("nan"),
    np.float64("nan"),
    b"a",
    Named("a"),
    np.str_("a"),
    ["a"],
    {},
    1j,
]
OTHERS += [dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 5, tzinfo=dt.UTC), np.datetime64("2024")]
KINDS = (nw.String(), nw.Int64(), nw.Float64(), nw.Float32(), nw.Boolean(), nw.Date())
SPELLINGS = (PLAIN, Spelling(ignore_case=True), Spelling(decimal=","))


def drawn(chance: random.Random, width: int) -> list[Any]:
    """Return some list of keys: mostly of one kind, and of one that is odd now and then."""
    pools = [PLAINLY, PLAINLY, [*PLAINLY, *ODDLY], NUMBERS, [*NUMBERS, *PLAINLY], OTHERS]
    own = chance.choice(pools)
    numbered = [f"{chance.choice('aAb')}{i}" for i in range(5)]
    pool = [*own, *(numbered if own is PLAINLY else [])]
    values = [[*pool] for _ in range(width)]
    for each in values:
        chance.shuffle(each)
    length = chance.randint(1, min(9, *map(len, values)))
    listed = [each[:length] for each in values]
    for each in listed:
        if chance.random() < 0.3:
            each.append(chance.choice([*ODDLY, *NUMBERS, *OTHERS, *each]))
        else:
            each.append(chance.choice(pool))
    return listed[0] if width == 1 else [*zip(*listed, strict=True)]


def outcome(said: list[Any], width: int, **rules: Any) -> Any:
    """Return the keys and what columns hold of them, to the last bit, or how it was refused."""
    kinds, spelling, missing = rules["kinds"], rules["spelling"], rules["missing"]
    by = [By(f"c{i}") for i in range(width)]
    cells = [
        Cell(name="c", dtype=k, label="c", spelling=spelling, inferred=rules["inferred"])
        for k in kinds
    ]
    try:
        found = Grouping.of(by, said, missing_group=missing)
        assert found is not None
        assert found.keys is not None
        columns = groups._columns(found, cells, [False] * width)
        read = groups._listed(found.keys, columns)
    except hn.InvalidParameterError as error:
        return str(error)
    exactly = [[(type(value), repr(value)) for value in part] for part in found.keys.columns]
    return exactly, [[(type(value), repr(value)) for value in part] for part in read]


def one_by_one(patch: pytest.MonkeyPatch) -> None:
    """Let nothing be told of all at once."""
    patch.setattr(listing, "_are_told", lambda _: False)
    patch.setattr(listing, "_surely_differ", lambda _: False)
    patch.setattr(keys, "_are_bare", lambda _: False)
    patch.setattr(groups, "operator", SimpleNamespace(is_=lambda *_: False))


def differing(cases: int, seed: int) -> tuple[list[Any], int]:
    """Return the lists that one way takes otherwise than the other, and how many were taken."""
    chance, wrong, taken = random.Random(seed), [], 0
    for _ in range(cases):
        width = chance.choice([1, 1, 2])
        said = drawn(chance, width)
        rules = {
            "kinds": [chance.choice([*KINDS, *KINDS[:1] * 6]) for _ in range(width)],
            "spelling": chance.choice(SPELLINGS),
            "missing": chance.choice([None, None, "none", "b"]),
            "inferred": chance.random() < 0.2,
        }
        at_once = outcome(said, width, **rules)
        with pytest.MonkeyPatch.context() as patch:
            one_by_one(patch)
            slowly = outcome(said, width, **rules)
        wrong += [] if at_once == slowly else [(said, at_once, slowly)]
        taken += not isinstance(slowly, str)
    return wrong, taken


def test_all_at_once_is_as_one_by_one() -> None:
    """The same keys in the same order, the same cells, and the same refusal in the same words."""
    wrong, taken = differing(3_000, seed=7)
    assert not wrong, wrong[0]
    assert 600 < taken < 2_400  # many are taken, and many refused


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        (listing, "_are_told", lambda values: {*map(type, values)} == {str}),
        (listing, "_are_told", lambda values: all(isinstance(v, str) for v in values)),
        (listing, "_surely_differ", lambda _: True),
        (keys, "_are_bare", lambda _: True),
        (groups, "operator", SimpleNamespace(is_=lambda *_: True)),
    ],
)
def test_a_hasty_rule_is_found(where: Any, name: str, broken: Any, monkeypatch: Any) -> None:
    """Each shortcut that says too much is seen."""
    monkeypatch.setattr(where, name, broken)
    wrong, _ = differing(1_500, seed=7)
    assert wrong


def named(text: str, *, ignore_case: bool) -> str:
    """Return which key a text is, by the rule in plain Python."""
    own = text.strip(SPACES)
    small = own.lower()
    if small in ("true", "false"):
        return small
    return folded(text) if ignore_case else own


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_cells_are_the_keys_that_they_say(engine: str, *, ignore_case: bool) -> None:
    """In any case and with any spaces around them, yes and no are words, and else text is text."""
    chance = random.Random(3)
    letters = "tTrRuUeEfFaAlLsS \u0130\u017f\u212aß"
    words = ["".join(chance.choice((c, c.upper())) for c in w) for w in ("true", "false") * 40]
    made = ["".join(chance.choices(letters, k=chance.randint(1, 7))) for _ in range(300)]
    around = [*SPACES, "", "", ""]
    texts = [chance.choice(around) + t + chance.choice(around) for t in (*words, *made, *PLAINLY)]
    texts = [text for text in texts if text.strip(SPACES)]
    frame: Any = pl.DataFrame({"c": texts, "i": range(len(texts))}).lazy()
    native = (
        duckdb.connect().from_arrow(frame.collect().to_arrow()) if engine == "duckdb" else frame
    )
    rows: Any = nw.from_native(native).lazy()
    cell = Cell(name="c", dtype=nw.String(), label="c", branches=engine == "duckdb")
    cell = replace(cell, spelling=Spelling(ignore_case=ignore_case))
    column = keys.key_column(cell, By("c"), listed=True)
    found, (_, value) = groups._with_keys(rows, [column])
    table = found.select("i", value).collect()
    told = dict(zip(table["i"].to_list(), table[value].to_list(), strict=True))
    assert [told[i] for i in range(len(texts))] == [
        named(t, ignore_case=ignore_case) for t in texts
    ]


@pytest.mark.parametrize("said", ["\xa0", "\x85", "\u3000", "\x1f"])
def test_what_a_cell_can_say_can_be_listed(said: str) -> None:
    """Only six spaces are none of a value: a cell of others is a group, a category and an item."""
    frame = pl.DataFrame({"k": ["x", said] * 50})
    rules: Any = {"by": "k", "row_is_person": True, "ledger": None}
    rules |= {"privacy": hn.ApproxDP(epsilon=8, delta=1e-3), "size_importance": 1}
    found = hn.release(frame, [hn.Choice("k", ["x", said])], groups="discover", **rules)
    listed = hn.release(frame, [hn.Choice("k", ["x", said])], groups=["x", said], **rules)
    assert {*found} == {"x", said}
    assert [*listed][:2] == ["x", said]
    assert hn.Choice("k", ["x", said]).categories[:2] == ("x", said)
    assert hn.Items("k", ["x", said], at_most=1).items == ("x", said)
    for blank in ("", " ", "\t\n"):
        with pytest.raises(hn.InvalidParameterError, match="what a cell can say"):
            hn.Choice("k", ["x", blank])
