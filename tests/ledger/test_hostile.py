"""Ledgers that somebody made otherwise: under two names, or with a right chain of wrong entries."""

import contextlib
import hashlib
import json
import os
import sqlite3
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from halfnoise.errors import BudgetError, DataError
from halfnoise.ledger import entries, ledger, one_name, plain, sqlite_file, store
from halfnoise.ledger.entries import START, Charge, History, Row, digest
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.terms import Bill
from halfnoise.privacy.account import Account
from halfnoise.privacy.definitions import GaussianDP, PureDP

LIMIT, FIT = GaussianDP(mu=1), 4


def bill(name: str | None = None) -> Bill:
    """Return a bill for half a mu."""
    return Bill(guarantee=GaussianDP(mu=0.5), request="asked", what="a", name=name)


def fill(path: Path) -> int:
    """Charge as often as the limit allows; return how often that was."""
    made = 0
    with contextlib.suppress(BudgetError, DataError):
        while True:
            Ledger(path).charge(bill())
            made += 1
    return made


def charged(one: Path, other: Path, patch: pytest.MonkeyPatch) -> int:
    """Return how many charges two names take, if whoever used the first dies with a full log."""
    with contextlib.closing(sqlite3.connect(one)) as reader, patch.context() as slow:
        reader.execute("select * from head").fetchall()
        slow.setattr(sqlite_file, "_checkpoint", lambda _: None)
        made = fill(one)
        left = {path: path.read_bytes() for path in one.parent.glob("a.ledger*")}
    for path, content in left.items():
        path.write_bytes(content)
    return made + fill(other)


def test_a_second_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who charges under another name does not see the log; a symbolic link leads to it."""
    path, other = tmp_path / "a.ledger", tmp_path / "b.ledger"
    Ledger.create(path, limit=LIMIT)
    other.symlink_to(path)
    Ledger(other).charge(bill())
    other.unlink()
    os.link(path, other)
    for each in map(Ledger, (path, other)):
        for work in (each.history, each.verify, lambda each=each: each.charge(bill())):
            with pytest.raises(DataError, match="a second name") as caught:
                work()
            assert caught.value.status == 3
    assert charged(path, other, monkeypatch) == 0
    monkeypatch.setattr(sqlite_file, "check_one_name", lambda *_: None)
    assert 1 + charged(path, other, monkeypatch) > FIT  # a limit that is passed


def test_a_file_that_is_mounted_alone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder may be mounted, as then its log is the same one."""
    (folder := tmp_path / "of an office").mkdir()
    ledger, mounts = Ledger.create(folder / "a.ledger"), tmp_path / "mounts"
    monkeypatch.setattr(one_name, "MOUNTS", mounts)
    for place, fine in ((folder, True), (folder / "a.ledger", False)):
        told = os.fsencode(place).replace(b" ", rb"\040")
        mounts.write_bytes(b"22 27 0:21 / /proc rw - proc\n36 35 98:0 /a %b rw - ext3\n" % told)
        if fine:
            ledger.charge(bill())
        else:
            with pytest.raises(DataError, match="mount its folder instead"):
                ledger.charge(bill())
    mounts.unlink()  # a system that does not tell
    assert len(ledger.history().charges) == 1


def test_who_dies_while_a_ledger_is_made_leaves_a_name_that_does_no_harm(tmp_path: Path) -> None:
    """For a moment it has two names; the one that it was written under goes, and no other."""
    path, others = tmp_path / "a.ledger", ["mine.partial", f".{'0' * 16}.partial"]
    Ledger.create(path)
    os.link(path, tmp_path / f".{'a' * 16}.partial")
    for name in others:
        (tmp_path / name).write_text("somebody else's")
    Ledger(path).charge(bill())
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["a.ledger", *others])


NOTHING = {"pure": "0", "squares": "0", "delta": "0"}
SOME = NOTHING | {"squares": "1/100"}
OPENED: dict[str, Any] = json.loads(
    """{"entry": 0, "time": "2026", "kind": "opened", "format": 1, "data_set": "d", "unit": [],
    "neighbors": "add-remove", "limit": null, "pure": null, "delta": null}"""
)
CHARGED: dict[str, Any] = json.loads(
    """{"entry": 1, "time": "2026", "kind": "charged", "name": "a", "request": "r", "what": "w",
    "times": 1, "terms": {}, "box": {"pure": "0", "delta": "0"}}"""
) | {"cost": SOME, "price": SOME}
DRAWN: dict[str, Any] = {"entry": 2, "time": "2026", "kind": "drawn", "charge": 1, "sha256": "x"}
EPSILON = {"kind": "ApproxDP", "epsilon": 3.0, "delta": 1e-6}
MU = {"kind": "GaussianDP", "mu": 1.0}
NINES = "9" * 4000


def chain(*said: Any) -> list[Row]:
    """Return entries that say anything, under hashes that are right."""
    rows = list[Row]()
    for number, each in enumerate(said):
        body = each if isinstance(each, str) else json.dumps(each)
        rows.append(Row(number, body, digest(rows[-1].hash if rows else START, body)))
    return rows


def forged(path: Path, *said: Any, results: dict[str, bytes] | None = None) -> Ledger:
    """Write a ledger that says anything, under hashes that are right."""
    found, (first, *more) = Ledger(path), chain(*said)
    found.store.create(first)
    with found.store.writing() as written:
        for row in more:
            written.append(row)
        for hashed, content in (results or {}).items():
            written.execute("insert into documents values (?, ?)", (hashed, content))
    return found


def opened(**other: Any) -> list[Any]:
    """Return a first entry that is otherwise, and a charge."""
    return [OPENED | other, CHARGED]


def charge(**other: Any) -> list[Any]:
    """Return a ledger with a limit, and a charge that is otherwise."""
    return [OPENED | {"limit": EPSILON}, CHARGED | other]


def drawn(**other: Any) -> list[Any]:
    """Return a charge, and another entry about it that is otherwise."""
    return [OPENED, CHARGED, DRAWN | other]


LINES = {
    "two lines": "a\nb",
    "a steered terminal": "\x1b[2J",
    "half a pair": "\ud800",
    "a number": 7,
    "a list": ["a"],
    "nothing": None,
}
AMOUNTS = {
    "a power": "1e999999999",
    "a small power": "1e-999999999",
    "many digits": NINES,
    "many below": f"1/{NINES}",
    "less than nothing": "-1",
    "parts of nothing": "1/0",
    "a decimal": "0.5",
    "other digits": "\u0661",
    "a number": 1,
    "nothing": "",
}
FORGED: dict[str, list[Any]] = {
    "deep": [OPENED, "[" * 200_000],
    "deep below": [OPENED, '{"entry": 1, "kind": "charged", "name": ' + "[" * 200_000],
    "a long number": [OPENED, f'{{"entry": {NINES * 2}}}'],
    "a list": [OPENED, "[]"],
    "no JSON": [OPENED, "charged"],
    "another kind": [OPENED, CHARGED | {"kind": "refunded"}],
    "a unit that is text": opened(unit="ab"),
    "what is no neighbour": opened(neighbors=["add-remove"]),
    "a limit of none": opened(limit={"kind": "none"}),
    "a limit that is text": opened(limit="ApproxDP"),
    "a limit of too much": opened(limit=EPSILON | {"mu": 1.0}),
    "a limit that is no number": opened(limit=EPSILON | {"epsilon": float("nan")}),
    "a limit without end": opened(limit=MU | {"mu": float("inf")}),
    "two together": opened(
        limit={"kind": "MixedDP", "gaussian": MU, "pure": {"kind": "PureDP", "epsilon": 1.0}}
    ),
    "discovering": opened(limit={"kind": "DiscoveryDP", "kept": MU, "delta": 1e-6}),
    "Laplace in mu": opened(limit=MU, pure="1"),
    **{
        f"beyond any {kind}": charge(cost=SOME | {kind: "9" * 2999}, price=SOME) for kind in NOTHING
    },
    "beyond any together": [
        *opened(),
        *(
            CHARGED | {"entry": n, "name": str(n), "price": NOTHING | {"pure": str(2**1000)}}
            for n in (2, 3)
        ),
    ],
    "no box": [OPENED | {"limit": EPSILON}, {n: CHARGED[n] for n in CHARGED if n != "box"}],
    "drawn twice": [OPENED, CHARGED, DRAWN, DRAWN | {"entry": 3}],
    "drawn for nothing": drawn(charge=7),
    "terms that are none": charge(terms=7),
    **{f"times {x!r:.9}": charge(times=x) for x in (0, -1, 1.0, True, "1", None, [1])},
    **{f"{n} of {each}": opened(**{n: x}) for each, x in LINES.items() for n in ("data_set",)},
    **{f"unit of {each}": opened(unit=[x]) for each, x in LINES.items()},
    **{
        f"{name} of {each}": charge(**{name: x})
        for each, x in LINES.items()
        for name in ("name", "time", "what", "request")
    },
    **{f"a hash of {each}": drawn(sha256=x) for each, x in LINES.items()},
    **{f"pure of {each}": opened(limit=EPSILON, pure=x) for each, x in AMOUNTS.items()},
    **{
        f"{part} of {each}": charge(**{part: SOME | {"squares": x}})
        for each, x in AMOUNTS.items()
        for part in ("cost", "price")
    },
    **{f"box of {each}": charge(box={"pure": x, "delta": "0"}) for each, x in AMOUNTS.items()},
}


def end(*said: Any) -> str:
    """Say how reading such a ledger ends."""
    try:
        History().read(chain(*said))
    except DataError as error:
        return str(error).partition(";")[0]
    return "read"


def test_what_no_entry_may_hold_is_damage(tmp_path: Path) -> None:
    """However well its hashes follow: one sentence, soon, and none of the words that are there."""
    ends = {how: end(*said) for how, said in FORGED.items()}
    told = {f"the ledger is damaged: entry {n} cannot be read" for n in (0, 1, 2, 3)}
    assert {how: found for how, found in ends.items() if found not in told} == {}
    for how in ("deep", "cost of a power", "data_set of a steered terminal"):
        found = forged(tmp_path / f"{how}.ledger", *FORGED[how])
        for work in (found.history, found.verify, lambda found=found: found.charge(bill())):
            with pytest.raises(DataError, match=r"damaged: entry \d cannot be read"):
                work()


def test_what_may_be_in_an_entry_is_read(tmp_path: Path) -> None:
    """The same that is refused where one word of it is otherwise."""
    assert {end(*said) for said in (opened(), charge(), drawn(), opened(limit=MU))} == {"read"}
    assert forged(tmp_path / "a.ledger", *charge()).verify().spent.squares == Fraction(1, 100)


def test_amounts_that_are_read_as_any_number_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fractions take powers, which take forever if they are large."""
    said = charge(cost=SOME | {"squares": "1e99"})
    assert end(*said) != "read"
    monkeypatch.setattr(plain, "amount", Fraction)
    assert end(*said) == "read"
    entries._read_account.cache_clear()


LESS, MORE = "was charged less than it cost", "more was charged than its limit allows"
LAPLACE = NOTHING | {"pure": "1"}
TOO_MUCH: dict[str, tuple[str, list[Any]]] = {
    "more than all": (MORE, charge(cost=SOME | {"squares": "9"}, price=SOME | {"squares": "9"})),
    "cheaper than it is": (LESS, charge(price=SOME | {"squares": "1/101"})),
    "for nothing": (LESS, charge(price=NOTHING)),
    "Laplace for nothing": (LESS, charge(cost=LAPLACE, price=NOTHING)),
    "Laplace without a place": (
        LESS,
        [*charge(), CHARGED | {"entry": 2, "name": "b", "cost": LAPLACE, "price": LAPLACE}],
    ),
    "a box beyond the limit": (MORE, charge(box={"pure": "3", "delta": "0"})),
    "a delta beyond it": (MORE, charge(box={"pure": "0", "delta": "1/1000"})),
    "cheaper without a limit": (LESS, [OPENED, CHARGED | {"price": NOTHING}]),
    "too much kept": (MORE, [OPENED | {"limit": EPSILON, "pure": "4", "delta": "0"}]),
}


def test_verify_admits_each_charge_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A price that nobody would have asked, or more than the limit allows, is damage."""
    for number, (told, said) in enumerate(TOO_MUCH.values()):
        found = forged(tmp_path / f"{number}.ledger", *said)
        with pytest.raises(DataError, match=told):
            found.verify()
        with monkeypatch.context() as blind:
            blind.setattr(ledger, "replay", lambda _: None)
            found.verify()


def test_a_result_that_would_fill_all_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not unpacked any further, nor is such a one kept; what is torn is none either."""
    monkeypatch.setattr(store, "LARGEST", 1000)
    sizes = {1000: None, 1001: "not the one that was drawn"}
    for size, refusal in sizes.items():
        result = b"0" * size
        hashed, packed = hashlib.sha256(result).hexdigest(), zlib.compress(result)
        said = drawn(sha256=hashed)
        whole = forged(tmp_path / f"{size}.ledger", *said, results={hashed: packed})
        torn = forged(tmp_path / f"torn{size}.ledger", *said, results={hashed: packed[:-1]})
        for found, fine in ((whole, refusal is None), (torn, False)):
            if fine:
                assert len(found.verify().charges) == 1
            else:
                with pytest.raises(DataError, match="not the one that was drawn"):
                    found.verify()
        new = Ledger.create(tmp_path / f"new{size}.ledger")
        with contextlib.nullcontext() if refusal is None else pytest.raises(DataError):
            new.keep(new.charge(bill()), result)


def test_more_than_a_ledger_can_hold_is_refused(tmp_path: Path) -> None:
    """Nothing is written that could not be read again, also where there is no limit."""
    found = Ledger.create(tmp_path / "a.ledger")
    large, most = (
        Bill(guarantee=PureDP(epsilon=x), request="r", what="w") for x in (2.0**999, 2.0**1000)
    )
    found.charge(large)
    with pytest.raises(BudgetError, match="more than a ledger can hold"):
        found.charge(most)
    found.charge(large)
    assert len(found.verify().charges) == 2


def test_words_are_kept_as_one_line(tmp_path: Path) -> None:
    """A column may be called anything; what its ledger says stays one line, and no damage."""
    found = Ledger.create(tmp_path / "a.ledger")
    found.charge(Bill(guarantee=LIMIT, request="r", what="count of a\nb\x1b[2J"))
    (made,) = found.verify().charges.values()
    assert made.what == "count of a\ufffdb\ufffd[2J"


def test_a_plan_that_cannot_be_read_is_damage() -> None:
    """Whoever goes on with a charge needs what it was planned with."""
    some = {"privacy": {"kind": "GaussianDP", "mu": 1.0}, "noise": "gaussian"}
    whole = some | {"discover_delta": None}
    made: dict[str, Any] = {"entry": 1, "name": "a", "time": "", "request": "", "what": ""}
    made |= {"cost": Account(), "price": Account()}
    assert Charge(**made, terms=whole).agreed[1:] == ("gaussian", None)
    for terms in ({}, some, whole | {"privacy": {"kind": "None"}}, whole | {"privacy": 7}):
        with pytest.raises(DataError, match="the plan behind entry 1 cannot be read"):
            _ = Charge(**made, terms=terms).agreed
