"""The house (docs/house.md): layers, cycles, what stays in its room, and the length of files."""

from pathlib import Path

import pytest

from support.house import LATE, RULES, read_sources

SOURCES = read_sources(Path(__file__).parents[1] / "src" / "halfnoise")


def broken(rule: str, sources: dict[str, str]) -> set[str]:
    """Return what breaks a rule."""
    return set(RULES[rule](sources))


@pytest.mark.parametrize("rule", RULES)
def test_the_house_holds(rule: str) -> None:
    """No source breaks a rule."""
    assert not broken(rule, SOURCES)


LAYERS, CYCLES, LATE_ONES, HELP, PACKAGES, LINES = RULES
INSIDE = "def f() -> None:\n    "
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
PLANTED = {
    "a lower room imports an upper one": (LAYERS, {"privacy.x": "import halfnoise.results.table"}),
    "of a package": (LAYERS, {"noise.x": "from halfnoise import design"}),
    "data imports design": (LAYERS, {"data.x": "from halfnoise.design.grid import on_grid"}),
    "planning imports results": (LAYERS, {"planning.x": "from halfnoise.results import table"}),
    "by a relative path": (LAYERS, {"noise.x": "from ..data import totals"}),
    "for types alone": (LAYERS, {"design.x": TYPES + "from halfnoise.data.totals import Totals"}),
    "inside a function": (LAYERS, {"spec.x": INSIDE + "import halfnoise.cli.commands"}),
    "by a name": (LAYERS, {"proof": "import_module('halfnoise.noise.law')"}),
    "the face": (LAYERS, {"results.x": "from halfnoise import plan"}),
    "a room that is not planned": (LAYERS, {"attic.x": "import halfnoise.errors"}),
    "two modules of a room": (
        CYCLES,
        {"noise.x": "import halfnoise.noise.y", "noise.y": "from halfnoise.noise import x"},
    ),
    "three, one late": (
        CYCLES,
        {
            "data.x": "from . import y",
            "data.y": "from halfnoise.data.z import a",
            "data.z": INSIDE + "from halfnoise.data import x",
        },
    ),
    "a cycle for types": (
        CYCLES,
        {
            "cli.x": "import halfnoise.cli.y",
            "cli.y": TYPES + "import halfnoise.cli.x",
        },
    ),
    "a package's own face": (
        CYCLES,
        {"design": "from halfnoise.design import x", "design.x": "from halfnoise.design import y"},
    ),
    "ours, late": (LATE_ONES, {"planning.x": INSIDE + "import halfnoise.errors"}),
    "ours, in a method": (LATE_ONES, {"data.x": "class A:\n def f(self):\n  from . import totals"}),
    "ours, late in the command": (LATE_ONES, {"cli.books": INSIDE + "import halfnoise.errors"}),
    "a reader opens another": (
        LATE_ONES,
        {"data.sources.texts": INSIDE + "import halfnoise.data.sources.sheets"},
    ),
    "who opens adds up": (
        LATE_ONES,
        {"data.sources.files": INSIDE + "import halfnoise.data.totals"},
    ),
    "help plans": (HELP, {"cli.app": "from halfnoise.planning.outlook import plan"}),
    "help brings numpy": (HELP, {"": "import halfnoise.errors", "errors": "import numpy"}),
    "help by another way": (
        HELP,
        {
            "cli.app": "from halfnoise.cli.options import PLAN",
            "cli.options": "from halfnoise.spec.words import read",
        },
    ),
    "the face is eager": (HELP, {"": "from halfnoise.workload.numbers import Count"}),
    **{
        f"{by} has {of} late in two places": (
            LATE_ONES,
            {by.removeprefix("halfnoise."): f"{INSIDE}import {of}\n{INSIDE}import {of}"},
        )
        for by, of in LATE
    },
    "what is drawn imports what draws": (LAYERS, {"views": "import halfnoise.report.views"}),
    "and more of that room": (LAYERS, {"views": INSIDE + "import halfnoise.report.page"}),
    "another room imports what draws": (
        LAYERS,
        {"results.published": INSIDE + "import halfnoise.report.views"},
    ),
    **{
        f"{package} in {room}": (PACKAGES, {f"{room}.x": f"import {package}"})
        for package, room in {
            "duckdb": "design",
            "ibis": "results",
            "pandas": "results",
            "polars": "report",
            "pyarrow": "spec",
            "pyspark": "cli",
            "narwhals": "workload",
            "typer": "spec",
            "rich": "results",
            "altair": "cli",
            "vl_convert": "results",
        }.items()
    },
    "narwhals in design": (PACKAGES, {"design.x": TYPES + "from narwhals import Expr"}),
    "more of narwhals": (PACKAGES, {"workload.x": "from narwhals.stable.v2 import Expr, col"}),
    "an engine late": (PACKAGES, {"mechanism": INSIDE + "from pyspark.sql import functions"}),
    "an engine by a name": (PACKAGES, {"results.x": "importlib.import_module('pandas')"}),
    "an engine by any name": (PACKAGES, {"planning.x": "importlib.import_module(name)"}),
    "a long file": (LINES, {"noise.x": "\n" * 301}),
    "many files": (LINES, {f"noise.x{i}": "\n" * 300 for i in range(150)}),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_violation_is_refused(planted: str) -> None:
    """Each rule sees what it is there for, in a house that is whole without it."""
    rule, sources = PLANTED[planted]
    empty = dict.fromkeys(SOURCES, "")
    assert not any(broken(each, empty) for each in RULES)
    assert broken(
        rule, empty | {f"halfnoise.{name}".rstrip("."): sources[name] for name in sources}
    )


ALLOWED = {
    "the face imports anything": {
        "": TYPES + "from halfnoise.cli import main",
        "__main__": "import halfnoise\nfrom halfnoise.cli.demo import demonstrate",
    },
    "the face asks by name": {"": INSIDE + "importlib.import_module(name)"},
    "an upper room imports a lower one": {"cli.x": "from halfnoise.noise import law\nimport typer"},
    "the ground imports itself": {"checks": "from halfnoise.errors import HalfnoiseError"},
    "the command is lazy": {"cli.app": INSIDE + "from halfnoise.report import draw_figures"},
    **{
        f"{by} is shown by {of}": {
            by.removeprefix("halfnoise."): f"{INSIDE}import {of}",
            of.removeprefix("halfnoise."): f"import {by}",
        }
        for by, of in LATE
    },
    "a reader is imported late": {
        "data.sources.frames": INSIDE + "import halfnoise.data.sources.ibis_tables"
    },
    "an expression as a type": {
        "workload.x": "from narwhals.stable.v2 import Expr\n" + TYPES + "import narwhals as nw"
    },
    "an engine in data": {"data.sources.x": INSIDE + "import duckdb"},
}


@pytest.mark.parametrize("case", ALLOWED)
def test_what_is_allowed(case: str) -> None:
    """What the plan allows breaks no rule."""
    sources = {f"halfnoise.{name}".rstrip("."): text for name, text in ALLOWED[case].items()}
    assert not any(broken(rule, dict.fromkeys(SOURCES, "") | sources) for rule in RULES)
