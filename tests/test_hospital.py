"""A hospital's sheet: what it holds in a strange way is counted right, and its page is true."""

import importlib.util
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.totals import prepared
from halfnoise.spec.header import Header
from halfnoise.spec.toml import read_spec
from halfnoise.spec.words import read, text_format
from support import reference
from support.commands import run
from support.measured import grid_for

FOLDER = Path(__file__).parents[1] / "examples" / "hospital"


def made() -> Any:
    """Return the script that makes the sheet."""
    spec = importlib.util.spec_from_file_location("hospital", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["hospital"] = module  # where its classes look for their names
    spec.loader.exec_module(module)
    return module


MADE = made()
IN_TABLE = [stay for stay in MADE.stays() if stay.day is not None]
PEOPLE = {stay.patient for stay in IN_TABLE}


def patients(holds: Callable[[Any], bool]) -> int:
    """Count the patients of whom something holds in one of their stays."""
    return len({stay.patient for stay in IN_TABLE if holds(stay)})


def begins(stay: Any, *codes: str) -> bool:
    """Whether a stay has a diagnosis that begins with one of these."""
    return any(own.startswith(codes) for own in stay.codes)


COUNTED = {
    "Raucher": patients(lambda stay: stay.smoker is True),
    "im_Winter": patients(lambda stay: stay.day.month <= 3),
    "Diagnosen=J45*": patients(lambda stay: begins(stay, "J45")),
    "Diagnosen=E11*": patients(lambda stay: begins(stay, "E11")),
    "Diagnosen=I10": patients(lambda stay: begins(stay, "I10")),
    "Station=Innere": patients(lambda stay: stay.ward == "Innere"),
    "Größe answered": patients(lambda stay: stay.height is not None),
}


def clean(stay: Any) -> dict[str, Any]:
    """Return a row that says what is true in plain values."""
    return {
        "Aufnahme": stay.day,
        "Patient": stay.patient,
        "Raucher": stay.smoker,
        "Diagnosen": ";".join(stay.codes),
        "Kosten": stay.cost,
        "Alter": stay.age,
        "Größe": stay.height,
        "Station": stay.ward,
    }


@pytest.mark.parametrize(("name", "more"), [("xlsx", {}), ("csv", {"encoding": "cp1252"})])
def test_every_strange_value_is_counted_right(name: str, more: dict[str, str]) -> None:
    """The exact totals of the sheet are those of what it means."""
    words = read_spec(FOLDER / "hospital.toml", {}) | more
    with open_source(FOLDER / f"aufnahmen.{name}", text=text_format(words)) as source:
        request = read(words, Header.of(source))
        workload = request.workload
        assert request.privacy is not None
        grid = grid_for(hn.plan(workload, privacy=request.privacy))
        exact = prepared(source, workload, grid.blocks, request.unit)()
    rows = [clean(stay) for stay in MADE.stays()]
    right, people = reference.totals(rows, workload, grid, request.unit)
    assert [block[0].view(np.int64).tolist() for block in exact.sums] == right
    assert exact.people[0] == people == len(PEOPLE)


def test_the_totals_are_those_that_a_list_of_patients_gives(tmp_path: Path) -> None:
    """The command without noise to speak of says what counting by hand says."""
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    budget = ("--mu", "1e6", "--i-know", "--at-most", "3")
    ran = run("release", tmp_path / "aufnahmen.xlsx", "--spec", tmp_path / "hospital.toml", *budget)
    assert {name: ran.table[name] for name in COUNTED} == COUNTED
    assert ran.table["number of people"] == len(PEOPLE)
    assert min(COUNTED.values()) > 50


def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command works as it stands, and makes a page and a table like those that are shown."""
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^ +halfnoise (.+)$", page, re.MULTILINE)
    assert len(commands) == 3
    for line in commands:
        ran = run(*shlex.split(line))
        assert ran.status == 0, ran.err
    kept, made = (hn.read(tmp_path / name) for name in ("page.html", "mine.html"))
    assert [each.name for each in kept] == [each.name for each in made]
    both = [(tmp_path / name).read_text(encoding="utf-8") for name in ("table.md", "mine.md")]
    assert both[0] == both[1]


def test_the_script_makes_the_files(tmp_path: Path) -> None:
    """What is kept is what the script writes."""
    MADE.write_csv(tmp_path / "aufnahmen.csv")
    assert (tmp_path / "aufnahmen.csv").read_bytes() == (FOLDER / "aufnahmen.csv").read_bytes()
    sheet = openpyxl.load_workbook(FOLDER / "aufnahmen.xlsx").active
    kept = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=4)]
    days = [[str(cell)[:10] if i == 2 else cell for i, cell in enumerate(row)] for row in kept]
    assert days == [
        [str(cell)[:10] if i == 2 else cell for i, cell in enumerate(row)] for row in MADE.typed()
    ]
