"""The command run in this process, and a small survey to run it on."""

import contextlib
import csv
import functools
import io
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import typer.main

from halfnoise.cli.app import main

SURVEY = """\
person_id,smoker,age,visits,blood,income,day,q_a,q_b
p1,1,70,3,A,100,2026-01-05,yes,no
p2,2,30,25,B,-99,2026-02-05,no,no
p3,Yes,64,0,AB,300,2026-03-05,yes,yes
p4,no,65,5,O,N/A,2026-04-05,1,0
p5,1,18,,?,500,2026-05-05,0,1
p6,0,80,10,A,200,,t,f
p6,1,80,15,A,400,2026-06-05,,
"""
PEOPLE = ("--unit", "person_id")
# Noise is then below 1e-3 whatever is asked here: rounding it away fails never, not rarely.
EXACT = (*PEOPLE, "--mu", "1e6")


# A process makes the command once, and so do all runs in this one: it takes as long as a run.
made_once = functools.cache(typer.main.get_command)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a run of the command left behind."""

    status: int
    out: str
    err: str
    stopped: SystemExit | None = field(default=None, compare=False, repr=False)

    @property
    def table(self) -> dict[str, float]:
        """The printed CSV: estimates by name, without their noise."""
        return estimates(self.out)


class Terminal(io.StringIO):
    """A terminal, which gets a table where a pipe gets data."""

    def isatty(self) -> bool:
        """Say yes."""
        return True


def run(*words: str | Path, terminal: bool = False) -> Ran:
    """Run ``halfnoise`` with these words."""
    out, err = Terminal() if terminal else io.StringIO(), io.StringIO()
    left: SystemExit | None = None
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch("typer.main.get_command", made_once),
    ):
        try:
            main([str(word) for word in words])
        except SystemExit as stopped:
            left = stopped
    status = int(str((left and left.code) or 0))
    return Ran(status=status, out=out.getvalue(), err=err.getvalue(), stopped=left)


def refused(*words: str | Path, status: int = 2) -> str:
    """Run ``halfnoise``, which must refuse with one sentence, and return the sentence."""
    ran = run(*words)
    assert ran.status == status, ran
    assert ran.out == ""
    assert ran.err.startswith("halfnoise: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    assert "not foreseen" not in ran.err
    return ran.err.removeprefix("halfnoise: ").removesuffix("\n")


def estimates(text: str) -> dict[str, float]:
    """Read a table in CSV: estimates by name, without their noise."""
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    return {row["name"]: round(4 * float(row["estimate"])) / 4 for row in rows}


def write_survey(folder: Path) -> Path:
    """Write the survey of six people, one of whom has two rows."""
    path = folder / "survey.csv"
    path.write_text(SURVEY, encoding="utf-8")
    return path
