"""Whatever is typed: the command does it, or refuses in a sentence, in time, and spends nothing."""

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest

from halfnoise import GaussianDP, Ledger
from halfnoise.cli import commands, releasing
from halfnoise.cli.options import OPTIONS, PLAN, RELEASE, Word
from halfnoise.data.quiet import quietly
from halfnoise.ledger.terms import Bill
from halfnoise.mechanism import carry_out
from halfnoise.spec.words import read
from support.fuzz import MORE, Hang, Meter, Tried, fuzz, spent
from support.odd_words import AMOUNT, COLUMN, CONDITION, LIST, NUMBER, ODD, lay_out

KINDS: dict[str, st.SearchStrategy[str]] = {
    **dict.fromkeys(("count", "where"), CONDITION),
    **dict.fromkeys(("sum", "mean"), AMOUNT),
    **dict.fromkeys(("choice", "bins", "items", "groups", "missing", "names"), LIST),
    **dict.fromkeys(("importance", "set"), AMOUNT),
    **dict.fromkeys(("unit", "by"), COLUMN),
    **dict.fromkeys(("epsilon", "delta", "mu", "rho", "at-most", "counts", "level"), NUMBER),
    **dict.fromkeys(("max-groups", "releases", "margin", "known-size", "size-dial"), NUMBER),
}
GOOD: dict[str, list[str]] = {
    "noise": ["gaussian", "laplace"],
    "neighbors": ["add-remove", "replace"],
    "split": [";", "tab", "\\n", " ", ""],
    "delimiter": [",", ";", "tab", "\\t", "::"],
    "quote": ["none", '"', "'", '""'],
    "encoding": ["utf-8", "latin-1", "utf-16", "cp1252", "big5", "klingon", "rot13", "idna"],
    "decimal": [".", ",", "x"],
    "dialect": ["de", "fr", "en-us", "klingon"],
    "thousands": [".", ",", "'", "space", "narrow", "none", "x"],
    "dates": ["dd.mm.yyyy", "mm/dd/yyyy", "yyyymmdd", "yyyy-dd-mm", "dd.mm.yy"],
    "yes": ["ja,wahr", "si", "no", "2"],
    "no": ["nein", "si", "yes", "@list.txt"],
    "rdp": ["8:1", "1:1", "8", "8:", ":", "2:1e-9"],
    "other": ["none", "other", "A"],
    "names": ["a,b,c", "person_id,smoker,age,visits,blood,income,day,q_a,q_b"],
    "groups": ["A,B", "discover", "3", "3,", "2026-01", "2026-01-01,2026-02-01"],
    "by": ["blood", "day:month", "day:week", "day,blood", "age", "person_id"],
    "out": ["table.csv", "table.json", "table.jsonl", "table.parquet", "table.md", "-", "x.xls"],
    "spec": ["spec.toml", "broken.toml", "survey.csv", "gone.toml"],
    "save-spec": ["saved.toml", "folder", "list.txt"],
}
SOUND = [
    "--count smoker --unit person_id --mu 1",
    "--sum visits=0:20 --choice blood=A,B --row-is-person --epsilon 1",
    "--mean income=0:500 --bins age=0,18,65 --unit person_id --rho 0.5",
    "--items blood=A,B,O --at-most 2 --unit person_id --rdp 8:1",
    "--items blood=A,B* --split ; --row-is-person --mu 1",
    "--count q_* --by blood --groups A,B --unit person_id --mu 1",
    "--count smoker --by day:month --groups discover --unit person_id --epsilon 1 --delta 1e-6",
    "--spec spec.toml --set name=1 --unit person_id",
]


@st.composite
def options(draw: st.DrawFn) -> list[str]:
    """Draw an option with a value: mostly of its kind, in any of the ways to say it."""
    word: Word = draw(st.sampled_from([*OPTIONS, *PLAN, *RELEASE]))
    said = f"--{word.word}"
    if not draw(st.integers(0, 19)):
        said = said[: draw(st.integers(1, len(said)))]  # misspelt
    if word.metavar is None and draw(st.integers(0, 9)):
        return [said]
    good = st.sampled_from(GOOD[word.word]) if word.word in GOOD else KINDS.get(word.word, ODD)
    value = draw(good if draw(st.integers(0, 2)) else st.one_of(KINDS.get(word.word, ODD), ODD))
    return draw(st.sampled_from([[said, value]] * 4 + [[f"{said}={value}"], [said]]))


@st.composite
def requests(draw: st.DrawFn) -> list[str]:
    """Draw a whole command: a sound one, of which some words are changed, left out or added."""
    command = draw(st.sampled_from(["release", "release", "release", "plan", "plan"]))
    table = ["survey.csv"] if draw(st.integers(0, 9)) else [draw(ODD)]
    words = draw(st.sampled_from(SOUND)).split()
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
        i = draw(st.integers(0, len(words) - 1))
        if draw(st.integers(0, 1)):
            del words[i - i % 2 : i - i % 2 + 2]  # an option and its value
        else:
            words[i : i + 1] = draw(st.sampled_from([[], [words[i]] * 2, [draw(ODD)]]))
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 3]))):
        i = 2 * draw(st.integers(0, len(words) // 2))
        words[i:i] = draw(options())
    if not draw(st.integers(0, 19)):
        command = draw(ODD)
    return [command, *table, *words]


def all_tried(meter: Meter, many: int, *, same: bool = True) -> Tried:
    """Run the command on so many requests."""
    lay_out(meter.folder)
    tried = Tried("words of the command")
    fuzz(lambda words: tried.command(meter, *words), requests(), many, same=same)
    return tried


def test_any_words(meter: Meter) -> None:
    """No words lead to a traceback, a hang, a charge that was for nothing, or an engine's words."""
    all_tried(meter, 100 * MORE, same=MORE == 1).told(80 * MORE)


def test_a_traceback_is_seen(meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that lets a KeyError through, which the command hides in a sentence, is caught."""

    def careless(words: Any, *others: Any, **more: Any) -> Any:
        return read(words, *others, **more) if words["mu"] else None

    for module in (commands, releasing):
        monkeypatch.setattr(module, "read", careless)
    with pytest.raises(AssertionError, match="not foreseen"):
        all_tried(meter, 100)


def test_a_spend_is_seen(meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that charges before it checks is caught."""

    def hasty(*given: Any, **named: Any) -> Any:
        meter.charge(None)
        return carry_out(*given, **named)

    monkeypatch.setattr(releasing, "carry_out", hasty)
    lay_out(meter.folder)
    refused = ("release", "survey.csv", *SOUND[0].split()[:2], "--mu", "1")  # of whom is not said
    with pytest.raises(AssertionError, match="name the column"):
        Tried("words of the command").command(meter, *refused)
    monkeypatch.undo()
    assert Tried("words of the command").command(meter, *refused).status == 2


def test_a_hang_is_seen(meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that never ends is caught, also where somebody takes the alarm for a failure."""
    hung = []

    def hangs(_: object) -> None:
        hung.append(True)
        while True:
            pass

    for work in (hangs, lambda words: quietly(lambda: hangs(words), "it failed")):
        monkeypatch.setattr(commands, "text_format", work)
        with pytest.raises(Hang):
            Tried("").command(meter, "plan", "--counts", "3", limit=0.2)
    assert len(hung) == 2


def test_charges_in_ledgers_are_counted(tmp_path: Path) -> None:
    """What ledgers hold is counted by the kind of an entry; where there is none, nothing is."""
    assert spent(tmp_path) == 0
    ledger = Ledger.create(tmp_path / "a.csv.ledger")
    ledger.charge(Bill(guarantee=GaussianDP(mu=1), request="", what=""))
    assert spent(tmp_path) == 1
