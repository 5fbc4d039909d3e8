"""Outputs: nothing can lie in wait where they are written, and only their owner reads them."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
import halfnoise.cli.releasing
from halfnoise.cli import demo
from halfnoise.cli.demo import write_survey as write_made_up
from halfnoise.files import append, write_whole
from halfnoise.mechanism import carry_out
from halfnoise.scratch import own_folder
from support.commands import EXACT, refused, run, write_survey

WORDS = ("--count", "smoker", *EXACT)
VICTIM = "another file, which nobody may overwrite"


@pytest.fixture(autouse=True)
def everybody_may_read() -> Iterator[None]:
    """Let new files be readable and writable by everybody, unless whoever makes them says no."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a small survey."""
    return write_survey(tmp_path)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Return a file that links lead to."""
    (folder := tmp_path / "elsewhere").mkdir()
    (path := folder / "victim").write_text(VICTIM, encoding="utf-8")
    return path


def mode(path: Path) -> int:
    """Return who may do what with a file."""
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t.jsonl", "t.parquet", "t.md", "t.html"])
def test_a_link_that_lies_in_wait_is_not_followed(
    survey: Path, victim: Path, tmp_path: Path, name: str
) -> None:
    """Neither the name of the output nor one that can be guessed leads to another file."""
    (out := tmp_path / name).symlink_to(victim)
    out.with_name(f".{name}.partial").symlink_to(victim)
    ran = run("release", survey, *WORDS, "--out", out, "--overwrite")
    assert ran.status == 0, ran.err
    assert victim.read_text(encoding="utf-8") == VICTIM
    assert not out.is_symlink()
    assert mode(out) == 0o600


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_a_link_is_no_new_file(
    survey: Path, victim: Path, tmp_path: Path, name: str, *, there: bool
) -> None:
    """A link, also one that leads nowhere, is refused before anything is spent."""
    (out := tmp_path / name).symlink_to(victim if there else tmp_path / "nowhere")
    said = refused("release", survey, *WORDS, "--out", out)
    assert "not a link" in said if name.endswith("l") else "exists; name another" in said
    assert victim.read_text(encoding="utf-8") == VICTIM
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        append(out, b"x")


@pytest.mark.parametrize("old", [0o644, 0o666])
def test_outputs_are_for_their_owner_alone(survey: Path, tmp_path: Path, old: int) -> None:
    """New files, files that take the place of others, saved specs and made-up surveys."""
    spec, out = tmp_path / "saved.toml", tmp_path / "table.csv"
    for path in (spec, out):
        path.write_text("old", encoding="utf-8")
        path.chmod(old)
    words = ("release", survey, *WORDS, "--out", out, "--save-spec", spec, "--overwrite")
    assert run(*words).status == 0
    assert run("release", survey, *WORDS, "--out", tmp_path / "new.jsonl").status == 0
    for path in (spec, out, tmp_path / "new.jsonl"):
        assert mode(path) == 0o600, path.name
    with own_folder() as folder:
        assert mode(folder) == 0o700


def test_a_made_up_survey_follows_no_link(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the demonstration writes where it was told to, and nowhere else."""
    monkeypatch.setattr(demo, "PEOPLE", 10)
    (tmp_path / "made-up-survey.csv").symlink_to(victim)
    path, _ = write_made_up(tmp_path)
    assert victim.read_text(encoding="utf-8") == VICTIM
    assert (path.is_symlink(), mode(path)) == (False, 0o600)


def test_figures_follow_no_link(tmp_path: Path, victim: Path) -> None:
    """Pictures and their numbers neither."""
    pytest.importorskip("vl_convert")
    from halfnoise.report.density import density_picture

    picture = density_picture()
    for ending in ("svg", "png", "csv"):
        (tmp_path / f"{picture.name}.{ending}").symlink_to(victim)
    for path in picture.save(tmp_path):
        assert (path.is_symlink(), mode(path)) == (False, 0o600)
    assert victim.read_text(encoding="utf-8") == VICTIM


@pytest.mark.parametrize("call", ["fsync", "write", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_failure_leaves_all_as_it_was(
    survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """A full disk is worth another try, and says so by its status; nothing half is left."""

    def fails(*_: object, **__: object) -> None:
        raise OSError(number, "Kanarienvogel")

    (out := tmp_path / "t.csv").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, call, fails)
    ran = run("release", survey, *WORDS, "--out", out, "--overwrite")
    monkeypatch.undo()
    assert ran.status == (5 if number == errno.ENOSPC else 3)
    assert "could not be written" in ran.err
    assert "Kanarienvogel" not in ran.err
    assert out.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["survey.csv", "t.csv"]


def test_appending_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a line at the end would spoil the lines of releases to come."""
    append(path := tmp_path / "t.jsonl", b"one\n")
    write = os.write

    def half(handle: int, content: memoryview) -> int:
        write(handle, content[:2])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="full"):
        append(path, b"two\n")
    monkeypatch.undo()
    append(path, b"three\n")
    assert path.read_bytes() == b"one\nthree\n"


def test_names_of_unfinished_files_cannot_be_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They differ each time, are made anew without links, and synced before they are moved."""
    calls = list[tuple[str, object]]()
    opened, replaced, synced = os.open, os.replace, os.fsync

    def note_open(path: Path, flags: int, *rest: int) -> int:
        calls.append((path.name, flags))
        return opened(path, flags, *rest)

    def note_sync(handle: int) -> None:
        calls.append(("sync", handle))
        synced(handle)

    def note_move(one: Path, other: Path) -> None:
        calls.append(("move", other))
        replaced(one, other)

    monkeypatch.setattr(os, "open", note_open)
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_move)
    for _ in range(2):
        write_whole(tmp_path / "t.csv", b"x")
    monkeypatch.undo()
    first, second = calls[: len(calls) // 2], calls[len(calls) // 2 :]
    steps = [name for name, _ in first if name in ("sync", "move")]
    assert steps == ["sync", "move", "sync"]
    (one, flags), (other, _) = first[0], second[0]
    assert one != other
    assert isinstance(flags, int)
    assert flags & os.O_EXCL
    assert flags & os.O_NOFOLLOW


@pytest.mark.parametrize("name", ["x" * 251, "ü" * 125, "🙂" * 62])
def test_a_long_name_is_no_hindrance(survey: Path, tmp_path: Path, name: str) -> None:
    """A name as long as the system allows, which counts bytes, can be written."""
    for out in (tmp_path / f"{name}.csv", tmp_path / f"{name}.md"):
        for more in ((), ("--overwrite",)):
            assert run("release", survey, *WORDS, "--out", out, *more).status == 0
        assert b"smoker" in out.read_bytes()
    assert issubclass(hn.TryAgainError, hn.DataError)


@pytest.mark.parametrize("name", ["x" * 300, "ü" * 130, "f" * 300 + "/x", "a\0b"])
def test_a_name_that_is_too_long(survey: Path, tmp_path: Path, name: str) -> None:
    """It is refused in plain words, before anything is spent."""
    for flag in ("--out", "--save-spec"):
        said = refused("release", survey, *WORDS, flag, f"{tmp_path}/{name}.csv")
        assert "a name that the system allows" in said or "a folder that exists" in said


@pytest.mark.parametrize("name", ["new.csv", "old.csv", "new.jsonl"])
def test_a_folder_that_cannot_be_written(
    survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Writing whole needs a new name in the folder, so it is looked at, not the file alone."""
    for old in ("old.csv", "old.jsonl"):
        (tmp_path / old).touch()
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, how: path != tmp_path and access(path, how))
    said = refused("release", survey, *WORDS, "--out", tmp_path / name, "--overwrite")
    assert "in a folder that you may write to" in said
    assert run("release", survey, *WORDS, "--out", tmp_path / "old.jsonl").status == 0


def test_a_sticky_folder_keeps_the_files_of_others(
    survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder such as /tmp nobody may replace what is not theirs."""
    (out := tmp_path / "t.csv").touch()
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    words = ("release", survey, *WORDS, "--overwrite", "--out")
    assert "yours to replace" in refused(*words, out)
    assert run(*words, tmp_path / "new.csv").status == 0
    tmp_path.chmod(0o777)
    assert run(*words, out).status == 0


def test_what_is_no_file_is_no_output(survey: Path, tmp_path: Path) -> None:
    """A pipe or a device is not replaced by a file."""
    os.mkfifo(pipe := tmp_path / "t.csv")
    assert "a file in a folder" in refused("release", survey, *WORDS, "--out", pipe, "--overwrite")
    assert "a file in a folder" in refused("plan", *WORDS, "--save-spec", pipe, "--overwrite")


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("name", ["t.csv", "t.toml"])
def test_what_appears_meanwhile_stays(
    survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, links: bool
) -> None:
    """Without --overwrite nothing is replaced, also not what came during the run."""

    def late(*given: Any, **more: Any) -> Any:
        (tmp_path / name).write_text(VICTIM, encoding="utf-8")
        return carry_out(*given, **more)

    def cannot(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(halfnoise.cli.releasing, "carry_out", late)
    if not links:
        monkeypatch.setattr(os, "link", cannot)
    (folder := tmp_path / "other").mkdir()
    words = ("--out", tmp_path / "t.csv", "--save-spec", tmp_path / "t.toml")
    ran = run("release", survey, *WORDS, *words)
    assert ran.status == 3
    assert "by now there is another file" in ran.err
    assert (tmp_path / name).read_text(encoding="utf-8") == VICTIM
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]
    words = ("--out", folder / "t.csv", "--save-spec", folder / "t.toml")
    assert run("release", survey, *WORDS, *words).status == 0
    assert sorted(each.name for each in folder.iterdir()) == ["t.csv", "t.toml"]
    assert mode(folder / "t.csv") == 0o600


def test_a_line_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a new empty one, nor less of one that was there."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    (old := tmp_path / "old.jsonl").touch()
    monkeypatch.setattr(os, "write", full)
    for path in (old, tmp_path / "new.jsonl"):
        with pytest.raises(OSError, match="full"):
            append(path, b"x\n")
    assert [path.name for path in tmp_path.iterdir()] == ["old.jsonl"]
