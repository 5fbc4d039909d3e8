"""What can be said: text and flags, and nothing is loaded to read it."""

import atexit
import gc
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import pytest
import typer

from halfnoise.cli import app as commands_of_ours
from halfnoise.cli.app import app, ledgers, main
from halfnoise.cli.options import Once
from support.commands import run

AS_SAID = (str, str | None, list[str], list[str] | None, bool)


def commands(*apps: typer.Typer) -> Iterator[Callable[..., Any]]:
    """Yield what each command calls."""
    for each in apps:
        yield from (one.callback for one in each.registered_commands if one.callback is not None)


def strange(command: Callable[..., Any]) -> list[str]:
    """Return the parameters of a command that are neither text nor flags."""
    found = inspect.signature(command, eval_str=True).parameters.values()
    return [each.name for each in found if get_args(each.annotation)[0] not in AS_SAID]


def test_all_that_is_said_is_text_or_a_flag() -> None:
    """No parameter is of another type, as values reach the commands as they were said."""
    every = list(commands(app, ledgers))
    assert len(every) >= 8
    assert [name for command in every for name in strange(command)] == []


def test_a_number_would_be_found() -> None:
    """The check sees a parameter that typer would have to convert."""

    def wrong(times: Annotated[int, typer.Option()] = 1) -> None: ...

    assert get_origin(inspect.signature(wrong).parameters["times"].annotation) is Annotated
    assert strange(wrong) == ["times"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing argument 'DATA'"),
        (["--mu"], "Option '--mu' requires an argument"),
        (["x.csv", "--mue", "1"], "No such option: --mue"),
        (["x.csv", "--row-is-person=yes"], "does not take a value"),
    ],
)
def test_wrong_words_are_told(words: list[str], said: str) -> None:
    """What is missing, unknown or too much is said as ever, with the status of wrong use."""
    ran = run("release", *words)
    assert ran.status == 2
    assert said in " ".join(ran.err.split())


def test_what_is_said_arrives_as_it_is() -> None:
    """Spaces, dashes and empty text are kept; what is not said is None, and a flag is a flag."""
    got: dict[str, Any] = {}
    own = typer.Typer()

    @own.command(cls=Once)
    def take(
        one: Annotated[str | None, typer.Option()] = None,
        many: Annotated[list[str] | None, typer.Option()] = None,
        rest: Annotated[list[str] | None, typer.Argument()] = None,
        *,
        flag: Annotated[bool, typer.Option("--flag")] = False,
    ) -> None:
        got.update(one=one, many=many, rest=rest, flag=flag)

    for words, expected in {
        "": (None, None, None, False),
        "--one= |--flag": (" ", None, None, True),
        "--one=|--many=1|--many=-x|--|--y|0": ("", ["1", "-x"], ["--y", "0"], False),
    }.items():
        own(args=[word for word in words.split("|") if word], standalone_mode=False)
        assert tuple(got.values()) == expected


@pytest.mark.parametrize("name", [*(each.name for each in app.registered_commands), "-h", "--help"])
def test_a_command_alone_says_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Help, and what is said of a wrong word, are those of the app with all commands."""
    words = ([name, "--help"], [name, "--no-such-word"])
    alone = [run(*each) for each in words]
    assert commands_of_ours._said(name) is not app
    monkeypatch.setattr(commands_of_ours, "_said", lambda _: app)
    assert [run(*each) for each in words] == alone


@pytest.mark.parametrize("word", ["", "ledger", "releas", "--version"])
def test_what_names_no_command_is_said_to_all(word: str) -> None:
    """Only then can typer say which commands there are."""
    assert commands_of_ours._said(word) is app


def test_only_a_process_of_its_own_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever calls it with words goes on afterwards, and has garbage looked for as before."""

    def gone(status: int) -> None:
        done.append(status)
        raise SystemExit  # for the process that tests share

    done: list[object] = []
    monkeypatch.setattr(gc, "set_threshold", lambda *often: done.append(often[0]))
    monkeypatch.setattr(os, "_exit", gone)
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: done.append("told"))
    ended = [commands_of_ours.MADE, "told", 0]
    for arguments, expected in ((["--version"], []), (None, ended)):
        monkeypatch.setattr(sys, "argv", ["halfnoise", "--version"])
        with pytest.raises(SystemExit):
            main(arguments)
        assert done == expected


@pytest.mark.parametrize("many", [1, 20_000])
def test_all_that_is_said_is_written_before_the_end(many: int, tmp_path: Path) -> None:
    """However much goes into a pipe: the last line arrives, and so does what is said at the end."""
    (tmp_path / "d.csv").write_text("a\n1\n")
    listed = "\n".join(f"g{i}" for i in range(many))
    (tmp_path / "groups.txt").write_text(listed)
    words = ["d.csv", "--count=a", "--by=a", "--groups=@groups.txt", "--mu=1", "--row-is-person"]
    code = "import atexit; atexit.register(print, 'told'); import halfnoise.cli as c; c.main()"
    command = [sys.executable, "-c", code, "release", *words, "--no-ledger", "--out=-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    header, *lines, told = done.stdout.decode().splitlines()
    assert told == "told"
    assert len({line.partition(",")[0] for line in lines}) >= many
    assert {line.count(",") for line in lines} == {header.count(",")}
    assert b"Intervals cover" in done.stderr


def test_a_process_ends_without_a_word_of_the_engine(tmp_path: Path) -> None:
    """What a command printed is all: DuckDB's bindings tell what was not taken apart at the end."""
    (tmp_path / "d.csv").write_text("a\n1\n")
    for words in (["d.csv", "--count=a", "--mu=1"], ["d.csv.gz", "--count=a", "--mu=1"]):
        command = [sys.executable, "-m", "halfnoise", "release", *words]
        (tmp_path / "d.csv.gz").write_bytes(b"no gzip")
        rest = ["--row-is-person", "--no-ledger", "--out=-"]
        done = subprocess.run([*command, *rest], cwd=tmp_path, capture_output=True, check=False)
        assert b"leaked" not in done.stderr
