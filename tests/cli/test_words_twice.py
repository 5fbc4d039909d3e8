"""Options that are said twice join, or are refused: none keeps the last in silence."""

from pathlib import Path

import pytest
from typer.core import TyperOption
from typer.main import get_command

from halfnoise.cli.app import app
from support.commands import EXACT, refused, run, write_survey

COMMANDS = getattr(get_command(app), "commands")  # noqa: B009  # of a group, which all apps are
OPTIONS = [
    (command, option)
    for command, each in COMMANDS.items()
    for option in each.params
    if isinstance(option, TyperOption) and not option.is_flag
]


def test_there_are_options_to_look_at() -> None:
    """The list is made from the commands themselves, and is long."""
    assert len(OPTIONS) > 70
    assert {option.name for _, option in OPTIONS} >= {"where", "mu", "folder", "out", "spec"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_said_twice_joins_or_is_refused(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the command: an option that takes a value keeps both, or says that it cannot."""
    monkeypatch.chdir(tmp_path)  # whatever it writes
    needed = command in ("release", "check", "spec", "figures")
    data = [str(tmp_path / "none.csv")] if needed else []
    for option in (option for name, option in OPTIONS if name == command):
        (word,) = option.opts
        for twice in ([word, "1", word, "2"], [f"{word}=1", word, "1"]):
            ran = run(command, *data, *twice)
            refusal = f"{word} is said twice, and only the last would count"
            assert (refusal in ran.err) is not option.multiple, (word, ran.err)
            assert option.multiple or ran.status == 2


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a small survey."""
    return write_survey(tmp_path)


def test_conditions_join_by_and(survey: Path) -> None:
    """Both conditions hold, in either order."""
    two = ("--where", "age:at-least:65"), ("--where", "blood:is:A")
    words = ("release", survey, "--count", "smoker", "--size-importance", "1", *EXACT)
    both = run(*words, *two[0], *two[1]).table
    assert both == run(*words, *two[1], *two[0]).table == {"number of people": 2, "smoker": 2}
    assert run(*words, *two[0]).table == {"number of people": 3, "smoker": 2}


def test_codes_accumulate(survey: Path) -> None:
    """Codes for no answer are all those that were said."""
    words = ("release", survey, "--mean", "income=-1000:1000", *EXACT)
    together = run(*words, "--missing", "-99,500").table
    assert run(*words, "--missing", "500", "--missing", "-99").table == together
    assert together["income answered"] == 3


def test_what_is_said_twice_inside_an_option(survey: Path, tmp_path: Path) -> None:
    """An importance and a place to fill are said once for each name."""
    words = ("release", survey, "--count", "smoker", *EXACT)
    twice = ("--importance", "smoker=1", "--importance", "smoker=2")
    assert "once for each query" in refused(*words, *twice)
    spec = tmp_path / "s.toml"
    spec.write_text('count = "{c}"', encoding="utf-8")
    both = ("--set", "c=smoker", "--set", "c=age")
    assert "said once for each name" in refused("release", survey, "--spec", spec, *both)
