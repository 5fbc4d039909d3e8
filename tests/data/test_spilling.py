"""More than fits into memory: it is spilled where only we look, and nothing of it stays."""

import contextlib
import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.cli.progress import _Line
from halfnoise.data.handed import Handed
from halfnoise.data.sources import connection
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.progress import Progress
from halfnoise.data.sources.room import Room
from halfnoise.request import Request
from support.commands import run

ROWS, PEOPLE = 2_400_000, 1_600_000
MU = hn.GaussianDP(mu=1e6)
ITEMS = [f"item{i}" for i in range(7)]
JOBS: dict[str, dict[str, Any]] = {
    "people": {"queries": [hn.Count("q"), hn.Choice("item", ITEMS)], "unit": "person"},
    "items": {"queries": [hn.Items("item", ITEMS, at_most=1)], "unit": "person"},
    "keys": {
        "queries": [hn.Count("q")],
        "by": "person",
        "groups": "discover",
        "row_is_person": True,
        "privacy": hn.ApproxDP(epsilon=5, delta=1e-6),
    },
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write rows whose people and keys take more than 100 MB."""
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    person = f"'Kanarienvogel ' || lpad(((range * 7919) % {PEOPLE})::varchar, 9, '0') as person"
    row = f"{person}, range % 2 = 0 as q, 'item' || (range % 7) as item"
    with duckdb.connect() as made:
        made.execute(f"copy (select {row} from range({ROWS})) to '{path}' (format parquet)")
    return path


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Make a place to spill to."""
    (scratch := tmp_path / "scratch").mkdir()
    return scratch


def spilled(scratch: Path) -> list[Path]:
    """Return the files that DuckDB has put there, beside the one that says whose they are."""
    found = scratch.glob("halfnoise-*/duckdb_temp*")
    return [path for path in found if not path.name.endswith("owner")]


@contextlib.contextmanager
def looked_at(scratch: Path) -> Iterator[set[tuple[str, int]]]:
    """Look again and again at what is spilled: yield names, with the modes of their folders."""
    seen, done = set[tuple[str, int]](), threading.Event()

    def look() -> None:
        while not done.wait(0.005):
            for each in spilled(scratch):
                with contextlib.suppress(OSError):
                    seen.add((each.name, stat.S_IMODE(each.parent.stat().st_mode)))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def released(path: Path, job: str, **room: Any) -> Any:
    """Do a job."""
    asked: dict[str, Any] = {"privacy": MU, "ledger": None, "i_know": True} | JOBS[job] | room
    return hn.release(str(path), **asked)


@pytest.mark.parametrize("job", JOBS)
def test_what_does_not_fit_is_spilled(path: Path, scratch: Path, job: str) -> None:
    """The totals are those of rows that fit; files lie in a folder of ours, and are gone."""
    with looked_at(scratch) as seen:
        found = released(path, job, memory="100MB", scratch=scratch)
    assert seen
    assert {mode for _, mode in seen} == {0o700}
    assert not list(scratch.iterdir())
    if job == "people":
        assert round(found["q"].estimate) == PEOPLE // 2
    if job == "items":
        assert round(found["item=item3"].estimate) == _of_item(3)


def _of_item(number: int) -> int:
    """Return how much an item counts: a half for who has two, which are never the same."""
    ends = (0, ROWS - PEOPLE, PEOPLE, ROWS)
    first, alone, again = (sum(i % 7 == number for i in range(*each)) for each in pairwise(ends))
    return round((first + again) / 2 + alone)


def test_a_full_disk_says_what_to_do(
    path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what is spilled has no room, the error says so in our words, and nothing stays."""
    little = f"{connection.QUIET}; set max_temp_directory_size = '1MB'"
    monkeypatch.setattr(connection, "QUIET", little)
    with pytest.raises(hn.TryAgainError, match=r"a disk is full.*\(--scratch DIR") as failed:
        released(path, "keys", memory="100MB", scratch=scratch)
    assert failed.value.__cause__ is failed.value.__context__ is None
    assert not re.search("Kanarienvogel|offload|max_temp|MiB", str(failed.value))
    assert not list(scratch.iterdir())


def test_memory_that_nothing_can_spill_says_what_to_do(
    path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where memory does not suffice, more of it is the remedy."""
    connect = connection._connect
    monkeypatch.setattr(
        connection, "_connect", lambda **config: connect(**config | {"temp_directory": ""})
    )
    with pytest.raises(hn.TryAgainError, match=r"memory is full.*\(--memory 4GB"):
        released(path, "keys", memory="100MB", scratch=scratch)
    assert not list(scratch.iterdir())


@contextlib.contextmanager
def spilling(path: Path, scratch: Path, stderr: int = subprocess.PIPE) -> Iterator[Any]:
    """Start a command, and yield it once it has spilled."""
    words = ["release", str(path), "--count=q", "--unit=person", "--mu=1", "--no-ledger"]
    words += [f"--items=item={','.join(ITEMS)}", f"--scratch={scratch}", "--memory=100MB"]
    with subprocess.Popen(
        [sys.executable, "-m", "halfnoise", *words],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    ) as process:
        try:
            while process.poll() is None and not spilled(scratch):
                time.sleep(0.002)
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_nothing_spilled(
    path: Path, scratch: Path, number: signal.Signals, status: int
) -> None:
    """However the command is asked to end while it spills; no progress is told to a pipe."""
    with spilling(path, scratch) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (status, "")
    assert err == "halfnoise: stopped\n"
    assert not list(scratch.iterdir())


def test_what_a_killed_command_spilled_is_removed(path: Path, scratch: Path) -> None:
    """By the next one with the same place."""
    with spilling(path, scratch) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert spilled(scratch)
    with own_connection(room=Room.of(scratch=scratch)):
        assert not spilled(scratch)
    assert not list(scratch.iterdir())


def test_a_terminal_sees_how_much_is_done(path: Path, scratch: Path) -> None:
    """Shares grow, and no number of rows or people is told."""
    terminal, inside = pty.openpty()
    with spilling(path, scratch, stderr=inside) as process:
        os.close(inside)
        shown = b""
        with contextlib.suppress(OSError):  # the end of what a terminal shows
            while select.select([terminal], [], [], 60)[0] and (some := os.read(terminal, 4096)):
                shown += some
        process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == 0
    shares = [int(share) for share in re.findall(rb"adding up, (\d+)% done", shown)]
    assert len({*shares}) > 1
    assert shares == sorted(shares)
    assert b"left" in shown
    said = shown.partition(b"number of people")[0]
    assert not re.search(rb"\d{4}|Kanarienvogel", re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", said))


def test_progress_is_a_share_of_all_looks() -> None:
    """Each look counts alike; what cannot tell says nothing, also once it is closed."""
    progress = Progress(lambda: 0.5)
    progress.begin(4)
    progress.done += 1
    assert progress.share == 0.375
    engine = duckdb.connect()
    assert Progress.of(engine).share is None
    one = nw.from_native(engine.sql("select 1 as a")).lazy()
    handed = Handed([one, one], progress)
    assert (progress.share, handed.rows(one)) == (0.25, [(1,)])
    assert (progress.share, len(handed.columns(one, 0)[1])) == (0.75, 1)
    engine.close()
    assert Progress.of(engine).share is None


@pytest.mark.parametrize(
    ("said", "rules", "rows"),
    [
        ({"row_is_person": True, "known_size": 200_000_000}, {}, 200_000_000),
        ({"row_is_person": True}, {}, None),
        ({"unit": ("id",), "known_size": 900}, {}, None),
        (
            {"row_is_person": True, "known_size": 900},
            {"where": [hn.Where("a", at_least=3)]},
            None,
        ),
        (
            {"row_is_person": True, "known_size": 900},
            {"weight": hn.Weight("w", bounds=(0, 5))},
            None,
        ),
    ],
)
def test_rows_are_told_where_the_request_says_how_many_there_are(
    said: dict[str, Any], rules: dict[str, Any], rows: int | None
) -> None:
    """Of as many as it says, whatever there are; elsewhere how many were read is a true total."""
    request = Request(workload=hn.Workload([hn.Count("q")], **rules), **said)
    assert request.rows == rows
    progress = Progress(lambda: 0.617)
    line = _Line("adding up", progress, request.rows)
    some = ", about 120,000,000 of 200,000,000 rows" if rows else ""
    assert str(line.__rich__()).endswith(f"61% done, 1 s left{some}")
    progress.begin(2)
    assert str(line.__rich__()).endswith(f"30% done, 1 s left{some}{', look 1 of 2' * bool(some)}")


@pytest.mark.parametrize("said", ["x" * 5_000, "a/" * 3_000, "a\0b", "\udcff", "gone", __file__])
def test_a_place_that_cannot_be_one(said: str) -> None:
    """Whatever is said, it is refused by its rule, and no error of the system comes through."""
    with pytest.raises(hn.InvalidParameterError, match="a folder in which you may write"):
        Room.of(scratch=said)


def test_no_place_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no temporary folder can be made, as where all disks are for reading, that is told."""
    (data := tmp_path / "t.csv").write_text("a\n1\n", encoding="utf-8")
    asked = ("release", data, "--count", "a", "--row-is-person", "--mu", "1", "--no-ledger")

    def refused(**_: Any) -> str:
        raise PermissionError(30, "Read-only file system")

    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory")

    for name, fails in (("mkdtemp", refused), ("gettempdir", nowhere)):
        with monkeypatch.context() as patch:
            patch.setattr("tempfile." + name, fails)
            ran = run(*asked)
            assert ran.status == 3
            assert "no temporary folder could be made; name one: --scratch DIR" in ran.err


def test_room_is_what_was_said(scratch: Path) -> None:
    """Memory in the usual units; threads are fewer where it is little."""
    settings = "select current_setting('memory_limit'), current_setting('threads')"
    for said, shown, threads in (("250 MB", "238.4 MiB", 2), ("128MiB", "128.0 MiB", 1)):
        with own_connection(room=Room.of(said, scratch)) as (engine, folder):
            ((limit, number),) = engine.execute(settings).fetchall()
            assert folder.parent == scratch
        assert limit == shown
        assert number <= threads
    assert Room.of(10**9) == Room.of("1GB") == Room(memory=10**9)


@pytest.mark.parametrize("said", ["99MB", "1 PB", "GB", "-1GB", "nan", True, 5, "1e9", ""])
def test_what_is_no_memory_is_refused(said: object, path: Path) -> None:
    """With what it should look like, before any row is read."""
    with pytest.raises(hn.InvalidParameterError, match="memory must be at least 100MB"):
        released(path, "people", memory=said)


def test_what_is_no_place_is_refused(path: Path, tmp_path: Path) -> None:
    """A folder that is not there, and a file."""
    for place in (tmp_path / "nowhere", path):
        with pytest.raises(hn.InvalidParameterError, match="scratch must be a folder"):
            released(path, "people", scratch=place)
        words = ("release", path, "--count", "q", "--row-is-person", "--mu", "1", "--no-ledger")
        ran = run(*map(str, words), "--scratch", str(place))
        assert ran.status == 2
        assert "scratch must be a folder" in ran.err


@pytest.mark.parametrize("room", [{"memory": "1GB"}, {"scratch": "."}])
def test_engines_that_have_their_own_are_not_told(room: dict[str, str]) -> None:
    """Where Polars or Spark reads, nothing is promised that would not hold."""
    people = pl.DataFrame({"q": [True]})
    with pytest.raises(hn.InvalidParameterError, match="left out where Polars reads"):
        hn.release(people, [hn.Count("q")], row_is_person=True, privacy=MU, **room)  # type: ignore[call-overload]
    words = ["people.parquet", "--count=q", "--row-is-person", "--mu=1", "--no-ledger"]
    words += ["--engine=spark", "--spark-master=local", *(f"--{k}={v}" for k, v in room.items())]
    assert "left out where Spark reads" in run("release", *words).err


def test_room_is_no_part_of_what_is_asked(path: Path, scratch: Path, tmp_path: Path) -> None:
    """A spec that is saved is the same with and without it."""
    for i, room in enumerate(([], [f"--scratch={scratch}", "--memory=200MB"])):
        words = ["plan", str(path), "--count=q", "--row-is-person", "--mu=1", *room]
        assert run(*words, f"--save-spec={tmp_path}/{i}.toml").status == 0
    assert (tmp_path / "0.toml").read_bytes() == (tmp_path / "1.toml").read_bytes()
