"""The ledger where nothing goes wrong: charges, names, limits, places, and who may look."""

import contextlib
import datetime as dt
import hashlib
import json
import math
import os
import pickle
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.ledger import entries, sqlite_file
from halfnoise.ledger import ledger as ledger_module
from halfnoise.ledger.booking import NO_LEDGER
from halfnoise.ledger.entries import History, Row
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.pricing import priced
from halfnoise.ledger.sqlite_file import ENDING
from halfnoise.ledger.terms import Bill
from halfnoise.privacy.definitions import Privacy
from support.cheap import Job, claims, without_engine
from support.commands import EXACT, PEOPLE, refused, run, write_survey

MU = hn.GaussianDP(mu=0.5)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Give a release that needs no engine, with a ledger that is there."""
    without_engine(monkeypatch)
    made = Job(folder=tmp_path)
    made.begin()
    return made


def bill(name: str | None = None, **terms: Any) -> Bill:
    """Return a bill for half a mu."""
    said: dict[str, Any] = {"guarantee": MU, "request": "asked", "what": "count of a"}
    return Bill(name=name, **said | terms)


def test_a_charge(tmp_path: Path) -> None:
    """It has a name, an entry, and a price; the next has another name; both add up exactly."""
    ledger = Ledger.create(tmp_path / "a.ledger", limit=hn.GaussianDP(mu=1))
    first, second = ledger.charge(bill()), ledger.charge(bill())
    assert (first.name, second.name) == ("release-1", "release-2")
    history = Ledger(tmp_path / "a.ledger").history()
    assert [charge.entry for charge in history.charges.values()] == [1, 2]
    assert history.spent.squares == Fraction(1, 2)
    assert [charge.state for charge in history.charges.values()] == 2 * ["charged, not drawn"]
    assert history.last is not None
    assert history.head == history.last.hash


def test_a_name_is_charged_once(tmp_path: Path) -> None:
    """The same request finds its charge; another under that name is refused and spends nothing."""
    ledger = Ledger.create(tmp_path / "a.ledger", limit=hn.GaussianDP(mu=0.5))
    first = ledger.charge(bill("monday"))
    again = ledger.charge(bill("monday"))  # which the limit would not allow twice
    assert (again.name, again.entry) == (first.name, first.entry)
    with pytest.raises(hn.InvalidParameterError, match="stands for another request"):
        ledger.charge(bill("monday", request="something else"))
    with pytest.raises(hn.InvalidParameterError, match="stands for another request"):
        ledger.find("monday", "something else")
    assert ledger.find("tuesday", "asked") is None
    assert len(ledger.history().charges) == 1


def test_names_that_were_not_given_are_free(tmp_path: Path) -> None:
    """Also where somebody took the one that comes next."""
    ledger = Ledger.create(tmp_path / "a.ledger")
    ledger.charge(bill("release-2"))
    names = [ledger.charge(bill()).name for _ in range(3)]
    assert len({*names, "release-2"}) == 4


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "\x1b[2J", "x" * 201])
def test_a_name_is_a_line(tmp_path: Path, name: str) -> None:
    """What would not be one line to read is no name."""
    survey = write_survey(tmp_path)
    said = refused("release", survey, "--count", "smoker", *EXACT, "--name", name)
    assert "letters on one line" in said


def test_who_one_person_is_stays(tmp_path: Path) -> None:
    """Amounts about other people, or under another rule, do not add up."""
    ledger = Ledger.create(tmp_path / "a.ledger", unit="person_id")
    with pytest.raises(hn.InvalidParameterError, match="unit must be 'person_id'"):
        ledger.charge(bill())
    with pytest.raises(hn.InvalidParameterError, match="unit must be 'person_id'"):
        ledger.charge(bill(unit=("person_id", "day")))
    with pytest.raises(hn.InvalidParameterError, match="neighbors must be 'add-remove'"):
        ledger.charge(bill(unit=("person_id",), neighbors=hn.Neighbors.REPLACE))
    assert not ledger.history().charges
    ledger.charge(bill(unit=("person_id",)))


@pytest.mark.parametrize("units", [(("a", "b"), ("a, b",)), ((), ("one row",)), (("a",), ("b",))])
def test_units_are_compared_as_they_are(
    tmp_path: Path, units: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    """Not as a message writes them."""
    for number, (one, other) in enumerate([units, units[::-1]]):
        ledger = Ledger.create(tmp_path / f"{number}.ledger", unit=one)
        ledger.charge(bill(unit=one))
        with pytest.raises(hn.InvalidParameterError, match="unit must be"):
            ledger.charge(bill(unit=other))
        assert len(ledger.history().charges) == 1


def test_one_that_is_made_anew_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with the same words in the same second: whoever has the old one open is told."""
    now = SimpleNamespace(now=lambda _: dt.datetime(2026, 11, 15, tzinfo=dt.UTC))
    monkeypatch.setattr(entries, "dt", SimpleNamespace(UTC=dt.UTC, datetime=now))
    path = tmp_path / "a.ledger"

    def made_anew() -> None:
        path.unlink(missing_ok=True)
        ledger = Ledger.create(path)
        ledger.history()
        path.unlink()
        Ledger.create(path)
        ledger.charge(bill())

    with pytest.raises(hn.DataError, match="not the one that was open"):
        made_anew()
    same = SimpleNamespace(token_hex=lambda _: "0")
    monkeypatch.setattr(ledger_module, "secrets", same)
    made_anew()  # and nobody would be told


def test_a_limit(tmp_path: Path) -> None:
    """More than is left is refused with the amounts, and nothing is spent; the rest fits."""
    ledger = Ledger.create(tmp_path / "a.ledger", limit=hn.ConcentratedDP(rho=0.3))
    tenth = hn.GaussianDP(mu=hn.ConcentratedDP(rho=0.1).mu)
    for _ in range(3):
        ledger.charge(bill(guarantee=tenth))
    before = ledger.history().head
    with pytest.raises(hn.BudgetError, match=r"rho 0.3 of 0.3 is spent; nothing was spent"):
        ledger.charge(bill(guarantee=hn.GaussianDP(mu=1e-6)))
    assert ledger.history().head == before


def test_all_of_a_pure_limit_is_for_all(tmp_path: Path) -> None:
    """Of pure epsilon nothing is kept for anything: a refusal does not say so."""
    ledger = Ledger.create(tmp_path / "a.ledger", limit=hn.PureDP(epsilon=1))
    for _ in range(2):
        ledger.charge(bill(guarantee=hn.PureDP(epsilon=0.4)))
    with pytest.raises(hn.BudgetError, match=r"epsilon 0.8 of 1 is spent; nothing was spent"):
        ledger.charge(bill(guarantee=hn.PureDP(epsilon=0.4)))


def test_the_first_release_decides_the_box(tmp_path: Path) -> None:
    """What it takes of pure epsilon and of delta, times how many, is kept for the likes of it."""
    limit = hn.ApproxDP(epsilon=3, delta=1e-6)
    laplace = Ledger.create(tmp_path / "laplace.ledger", limit=limit)
    assert laplace.history().allowance is None
    laplace.charge(bill(guarantee=hn.PureDP(epsilon=0.5), times=4))
    allowance = laplace.history().allowance
    assert allowance is not None
    assert [allowance.pure, allowance.delta] == [Fraction(2), Fraction("1e-7")]
    gaussian = Ledger.create(tmp_path / "gaussian.ledger", limit=limit)
    gaussian.charge(bill())
    allowance = gaussian.history().allowance
    assert allowance is not None
    assert [allowance.pure, allowance.delta] == [Fraction(0), Fraction("1e-7")]
    found = gaussian.charge(bill(guarantee=hn.PureDP(epsilon=0.1)))
    assert [found.cost.pure, found.price.pure] == [Fraction(0.1), Fraction(0)]
    assert found.price.squares > 0


def test_one_result_for_each_charge(tmp_path: Path) -> None:
    """Whoever comes second gets the first one's, and throws the own away."""
    ledger = Ledger.create(tmp_path / "a.ledger")
    charge = ledger.charge(bill("monday"))
    assert ledger.result(charge) is None
    assert ledger.keep(charge, b"first") == b"first"
    assert Ledger(tmp_path / "a.ledger").keep(charge, b"second") == b"first"
    assert ledger.result(charge) == b"first"
    other = ledger.charge(bill("tuesday"))
    assert ledger.keep(other, b"first") == b"first"  # by chance the same
    history = ledger.released(charge, b"as CSV")
    assert history.charges["monday"].state == "released"
    assert history.charges["tuesday"].state == "drawn, not handed over"
    last = ledger.released(charge, b"as CSV").head
    assert last == history.head  # nothing new
    again = ledger.released(charge, b"as JSON").charges["monday"]
    assert again.outputs == tuple(hashlib.sha256(x).hexdigest() for x in (b"as CSV", b"as JSON"))


@pytest.mark.parametrize("ending", [".csv", ".json", ".jsonl", ".md", ".parquet", ""])
def test_the_same_name_returns_the_same_bytes(job: Job, ending: str) -> None:
    """In each format, and the ledger does not grow; the first one read it from no ledger."""
    first = job.run(out=str(job.folder / f"a{ending}") if ending else None)
    head = job.ledger.history().head
    second = job.run(out=str(job.folder / f"b{ending}") if ending else None)
    assert (first.status, second.status) == (0, 0), second
    assert first.out == second.out
    if ending:
        assert (job.folder / f"a{ending}").read_bytes() == (job.folder / f"b{ending}").read_bytes()
    assert "nothing was charged: 'monday'" in second.err
    assert job.ledger.history().head == head
    assert head in second.err
    tuesday = job.run(name="tuesday")
    assert tuesday.status == 0
    assert tuesday.out != first.out or ending


def test_another_request_under_a_name_is_refused(job: Job) -> None:
    """Another budget, another query, another format of the same is not."""
    assert job.run().status == 0
    for other in ({"mu": "0.25"}, {"count": ["old"]}, {"level": "0.9"}):
        ran = job.run(**other)
        assert (ran.status, ran.out) == (2, "")
        assert "stands for another request" in ran.err
    assert job.run(out=str(job.folder / "a.json")).status == 0
    assert len(job.ledger.history().charges) == 1


def test_resume_never_charges(job: Job) -> None:
    """A name that does not stand is refused; one that stands goes on; both words are too many."""
    ran = job.run(name=None, resume="monday")
    assert (ran.status, ran.out) == (2, "")
    assert "the name of a charge that stands" in ran.err
    assert not job.ledger.history().charges
    first = job.run()
    resumed = job.run(name=None, resume="monday")
    assert resumed.out == first.out
    unnamed = job.run(name=None)
    (name,) = claims(unnamed)
    assert job.run(name=None, resume=name).out == unnamed.out
    assert len(job.ledger.history().charges) == 2
    assert job.run(resume="monday").status == 2


def test_an_output_that_is_there_is_left_alone(job: Job) -> None:
    """The very same is not written again; another one is not replaced, but by --overwrite."""
    out = job.folder / "a.csv"
    assert job.run(out=str(out)).status == 0
    before = out.stat()
    assert job.run(out=str(out)).status == 0
    assert out.stat().st_ino == before.st_ino
    content = out.read_bytes()
    out.write_text("mine")
    ran = job.run(out=str(out))
    assert ran.status == 2
    assert "exists and is another" in ran.err
    assert out.read_text() == "mine"
    assert job.run(out=str(out), overwrite=True).status == 0
    assert out.read_bytes() == content
    for name in (job.ledger.store.name, f"{job.ledger.store.name}-wal"):
        Path(name).touch()
        assert job.run(out=name, overwrite=True).status == 2


def test_365_of_a_limit_fit_and_no_more(job: Job, tmp_path: Path) -> None:
    """Each takes its share exactly; the last one too many is refused with status 4."""
    share: dict[str, Any] = {"mu": None, "one-of": "365"}
    limits: list[Privacy] = [hn.GaussianDP(mu=1), hn.ApproxDP(epsilon=1, delta=1e-6)]
    for number, limit in enumerate(limits):
        share["ledger"] = str(tmp_path / f"year{number}.ledger")
        ledger = Ledger.create(share["ledger"], limit=limit, unit="person_id")
        assert job.run(**share).status == 0
        first = ledger.history().charges["monday"]
        mu = hn.GaussianDP(mu=float(first.cost.squares) ** 0.5)
        assert (Fraction(mu.mu) ** 2, first.times) == (first.cost.squares, 365)
        with ledger.store.writing() as rows:  # as many more in one go, each checked as ever
            history = ledger._read(rows)
            for _ in range(363):
                row, _ = priced(history, bill(guarantee=mu, times=365, unit=("person_id",)))
                history.read([row])
                rows.append(row)
        assert job.run(**share, name="the last one").status == 0
        ran = job.run(**share, name="one more")
        assert (ran.status, ran.out) == (4, "")
        assert len(ledger.verify().charges) == 365


@pytest.mark.usefixtures("ledgers")
def test_the_ledger_beside_a_file(tmp_path: Path) -> None:
    """It is made with the first release, under the real name of the file, for its owner alone."""
    (data := tmp_path / "data").mkdir()
    survey = write_survey(data)
    (link := tmp_path / "link.csv").symlink_to(survey)
    (folder := tmp_path / "folder").symlink_to(data)
    ask = ("--count", "smoker", *PEOPLE, "--mu", "1")
    names: list[str | Path] = [survey, link, folder / "survey.csv"]
    for number, path in enumerate(names):
        ran = run("release", path, *ask)
        assert ran.status == 0, ran
        assert f"Charged: 'release-{number + 1}' in {survey}{ENDING}." in ran.err
    assert [path.name for path in tmp_path.rglob("*.ledger*")] == ["survey.csv.ledger"]
    ledger = Ledger(f"{survey}{ENDING}")
    opening = ledger.history().opening
    assert opening is not None
    assert (opening.data_set, opening.unit, opening.limit) == ("survey.csv", ("person_id",), None)
    assert stat.S_IMODE(Path(ledger.store.name).stat().st_mode) == 0o600
    assert ran.err.splitlines()[-1] == f"Head of the ledger: {ledger.history().head}"
    without = run("release", survey, *ask, "--no-ledger")
    assert without.status == 0
    assert without.err.splitlines()[-1] == NO_LEDGER
    hn.release(survey, [hn.Count("smoker")], unit="person_id", privacy=MU)
    hn.release(survey, [hn.Count("smoker")], unit="person_id", privacy=MU, ledger=None)
    assert len(ledger.history().charges) == 4


def test_a_frame_has_no_place_of_its_own(tmp_path: Path) -> None:
    """There a ledger is named; the same name returns the same release."""
    import polars as pl

    people = pl.DataFrame({"a": [True, False] * 10})
    place = Ledger.create(tmp_path / "a.ledger")
    ask: dict[str, Any] = {"row_is_person": True, "privacy": MU}
    one = hn.release(people, [hn.Count("a")], **ask, ledger=place, name="monday")
    two = hn.release(
        people, [hn.Count("a")], **ask, ledger=str(tmp_path / "a.ledger"), name="monday"
    )
    assert one.to_json() == two.to_json()
    assert len(place.history().charges) == 1
    with pytest.raises(hn.InvalidParameterError, match="needs a ledger"):
        hn.release(people, [hn.Count("a")], **ask, name="monday")


def test_files_are_for_their_owner_and_last(tmp_path: Path) -> None:
    """The log and its index too, whatever the mask is; what is set is read back from SQLite."""
    before, seen = os.umask(0), dict[str, int]()
    try:
        ledger = Ledger.create(tmp_path / "a.ledger")
        with ledger.store.writing() as rows:
            rows.execute("update head set entry = entry", ())
            seen |= {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
            (mode,) = rows.execute("pragma journal_mode", ())
            (level,) = rows.execute("pragma synchronous", ())
    finally:
        os.umask(before)
    assert seen == {"a.ledger": 0o600, "a.ledger-wal": 0o600, "a.ledger-shm": 0o600}
    assert (mode, level) == (("wal",), (2,))


def test_entries_are_only_ever_added(tmp_path: Path) -> None:
    """SQLite itself refuses to change or to remove one."""
    ledger = Ledger.create(tmp_path / "a.ledger")
    ledger.keep(ledger.charge(bill()), b"result")
    with closing(sqlite3.connect(tmp_path / "a.ledger")) as connection:
        for table in ("entries", "documents"):
            for change in (f"delete from {table}", f"update {table} set hash = ''"):
                with pytest.raises(sqlite3.IntegrityError, match="only added to"):
                    connection.execute(change)


def test_two_who_have_it_open(tmp_path: Path) -> None:
    """Each sees what the other charged, and neither lets the limit be passed."""
    one = Ledger.create(tmp_path / "a.ledger", limit=hn.GaussianDP(mu=1))
    two = Ledger(tmp_path / "a.ledger")
    for ledger in (one, two, two, one):
        ledger.charge(bill())
    for ledger in (one, two):
        with pytest.raises(hn.BudgetError):
            ledger.charge(bill())
    assert one.history().head == two.history().head


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger that is open checks each entry once, and one that is opened checks all of them."""
    ledger, seen = Ledger.create(tmp_path / "a.ledger"), list[int]()
    for _ in range(20):
        ledger.charge(bill())
    take = History._take

    def watched(history: History, body: Any, number: int, news: Any) -> None:
        seen.append(number)
        take(history, body, number, news)

    ledger.history()
    monkeypatch.setattr(History, "_take", watched)
    before = ledger.history()
    assert not seen
    ledger.charge(bill())
    assert len(before.charges) == 20  # what somebody looks at does not change under their eyes
    assert len(ledger.history().charges) == 21
    assert seen == [21]
    Ledger(tmp_path / "a.ledger").history()
    assert seen == [21, *range(22)]


def test_pickled(tmp_path: Path) -> None:
    """The place travels, and nothing of what was read."""
    ledger = Ledger.create(tmp_path / "a.ledger")
    ledger.charge(bill())
    there = pickle.loads(pickle.dumps(ledger))
    assert there.store == ledger.store
    assert there._seen.last is None
    there.charge(bill())
    assert len(ledger.history().charges) == 2
    assert str(tmp_path) in repr(there)


def test_threads_share_one(tmp_path: Path) -> None:
    """Charges of many threads follow one another, and fit exactly."""
    ledger = Ledger.create(tmp_path / "a.ledger", limit=hn.GaussianDP(mu=2))
    ends = list[str]()

    def work() -> None:
        for _ in range(4):
            try:
                ends.append(ledger.keep(charge := ledger.charge(bill()), b"x").decode())
                ledger.released(charge, b"x")
            except hn.BudgetError:
                ends.append("refused")

    threads = [threading.Thread(target=work) for _ in range(5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (ends.count("x"), ends.count("refused")) == (16, 4)
    assert len(Ledger(tmp_path / "a.ledger").verify().charges) == 16


def test_time_is_told_and_never_used(tmp_path: Path) -> None:
    """A ledger whose entries stand in any order of time says the same."""
    ledger = Ledger.create(tmp_path / "a.ledger")
    ledger.charge(bill())
    history = ledger.history()
    with closing(sqlite3.connect(tmp_path / "a.ledger", isolation_level=None)) as connection:
        rows = connection.execute("select * from entries order by entry").fetchall()
    times = ("2999-01-01", "1900-01-01")
    told, last = list[Row](), None
    for (_, body, _), time in zip(rows, times, strict=True):
        said = json.loads(body) | {"time": time}
        row = Row.after(last, **{k: v for k, v in said.items() if k != "entry"})
        told.append(last := row)
    other = History()
    other.read(told)
    assert other.spent == history.spent
    assert [charge.time for charge in other.charges.values()] == ["1900-01-01"]


def test_a_ledger_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if another makes it in the same moment, whose it then is."""
    path = tmp_path / "a.ledger"
    Ledger.create(path, limit=MU)
    with pytest.raises(hn.InvalidParameterError, match="made once"):
        Ledger.create(path)
    for work in (lambda: Ledger.create(path), lambda: Ledger(path, new=True).charge(bill())):
        not_yet = iter([False])
        monkeypatch.setattr(sqlite_file.SqliteFile, "exists", lambda _, x=not_yet: next(x, True))
        with contextlib.suppress(hn.InvalidParameterError):
            work()
    assert Ledger(path).limit == MU
    assert len(Ledger(path).history().charges) == 1


def keeping(part: str, amount: Any) -> Callable[[Path], object]:
    """Return what makes a ledger that keeps so much for something."""
    limit, said = hn.ApproxDP(epsilon=1, delta=1e-6), {part: amount}
    return lambda path: Ledger.create(path, limit=limit, **said)


TERMS: dict[str, Callable[[Path], object]] = {
    "limit": lambda path: Ledger.create(path, limit=3),  # type: ignore[arg-type]  # refused
    "unit twice": lambda path: Ledger.create(path, unit=["a", "a"]),
    "unit": lambda path: Ledger.create(path, unit=[""]),
    "laplace alone": lambda path: Ledger.create(path, laplace=1),
    "laplace in mu": lambda path: Ledger.create(path, laplace=1, limit=MU),
    "less than nothing": lambda path: Ledger.create(
        path, laplace=-1, limit=hn.ApproxDP(epsilon=1, delta=1e-6)
    ),
    "more than all": lambda path: Ledger.create(
        path, discover_delta=1e-5, limit=hn.ApproxDP(epsilon=1, delta=1e-6)
    ),
    "a class": lambda path: Ledger.create(path, limit=hn.GaussianDP),  # type: ignore[arg-type]  # refused
    "a guarantee": lambda path: Ledger.create(
        path,
        limit=hn.DiscoveryDP(kept=MU, delta=1e-7),  # type: ignore[arg-type]  # refused
    ),
    "no unit": lambda path: Ledger.create(path, unit=None),  # type: ignore[arg-type]  # refused
    "numbers": lambda path: Ledger.create(path, unit=b"id"),  # type: ignore[arg-type]  # refused
    "no name": lambda path: Ledger.create(path, data_set=""),
    "two lines": lambda path: Ledger.create(path, data_set="a\nb"),
    "a steered terminal": lambda path: Ledger.create(path, data_set="\x1b[2J"),
    "a unit of two lines": lambda path: Ledger.create(path, unit="a\nb"),
    **{
        f"{kept} {amount}": keeping(kept, amount)
        for kept in ("laplace", "discover_delta")
        for amount in ("x", True, math.nan, math.inf)
    },
    "place": lambda _: Ledger(7),  # type: ignore[arg-type]  # refused
}


@pytest.mark.parametrize("terms", TERMS)
def test_terms_that_make_no_sense(tmp_path: Path, terms: str) -> None:
    """They are refused, and nothing is made."""
    with pytest.raises(hn.InvalidParameterError):
        TERMS[terms](tmp_path / "a.ledger")
    assert not list(tmp_path.iterdir())
