"""The page of results: each part is measured, kept as JSON, and written into docs/benchmarks.md.

``python -m bench results`` measures all but ``large``; with names of parts, only these, the others
stay as they were kept; ``python -m bench page`` measures nothing. A page is only what is kept.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import (
    costs,
    drawn,
    ends,
    errors,
    footprint,
    large,
    machine,
    noise,
    scale,
    slopes,
    spark,
    table_errors,
)
from bench.sheet import Part, Sheet

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).parent / "kept"
PAGE, PICTURE, SCALE = (
    ROOT / "docs" / name for name in ("benchmarks.md", "growth.svg", "scale.md")
)
ABOUT = (
    "This page is written by `python -m bench results`, from what it measured and keeps in "
    "`bench/kept`; parts may be of different runs, as each can be measured anew by itself. What "
    "is asked and what was found stand side by side: `OVER` says that it was missed."
)
BEGIN, END = "<!-- written by python -m bench page: {} -->", "<!-- end -->"


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of the page: its heading, what measures it, and what is said before its tables."""

    heading: str
    part: Callable[[], Part]
    said: str


CHAPTERS = {
    "errors": Chapter(
        "Error on the same job",
        errors.part,
        "How many of some people have each of d items; a person may have any of them, and may be "
        "added or removed. Every library gives the same guarantee.",
    ),
    "table_errors": Chapter(
        "Error of tables",
        table_errors.part,
        "All tables by one, two or three attributes of two data sets that others publish errors "
        "for, each cell as important as any other.",
    ),
    "noise": Chapter("Noise", noise.part, "Exact integers beside NumPy's floats and OpenDP."),
    "ends": Chapter(
        "End to end",
        ends.part,
        "From a file to released numbers, as whole processes with all that they start, medians.",
    ),
    "large": Chapter(
        "Larger than memory",
        large.part,
        "Half an hour, and 40 GB of a disk: measured only where it is named.",
    ),
    "spark": Chapter(
        "Spark beside its own aggregates",
        spark.part,
        "In one warm session; plain Spark counts no people, and adds no noise.",
    ),
    "slopes": Chapter(
        "Growth",
        slopes.part,
        "How time and memory grow. ![Time and memory against size](growth.svg)",
    ),
    "footprint": Chapter(
        "Start, plans and size", footprint.part, "What it takes before any row is read."
    ),
    "costs": Chapter(
        "Spark, by the row and by the task",
        costs.part,
        "What [past this machine](scale.md) is worked out from.",
    ),
    "suite": Chapter("Tests", footprint.suite, "What `make test` takes on this machine."),
}


def main(words: Sequence[str]) -> None:
    """Measure the named parts, or all, keep what was found and write the pages."""
    unknown = [word for word in words if word not in CHAPTERS]
    if unknown:
        raise SystemExit(f"a part must be one of {', '.join(CHAPTERS)}, got {unknown[0]}")
    for name in words or (name for name in CHAPTERS if name != "large"):
        before = os.getloadavg()[0]
        keep(name, CHAPTERS[name].part(), before)
    write()


def keep(name: str, part: Part, load: float) -> None:
    """Keep what was found, on which machine, how busy it was before, and with which versions."""
    KEPT.mkdir(exist_ok=True)
    versions = machine.versions() | {
        f"{peer} (its own environment)": said for peer, said in part.versions.items()
    }
    plain = part.plain() | {"machine": machine.described(), "versions": versions}
    plain["load"] = round(load, 1)
    text = json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
    (KEPT / f"{name}.json").write_text(text, encoding="utf-8")


def kept() -> dict[str, dict[str, Any]]:
    """Return all that is kept, in the order of the page."""
    paths = {name: KEPT / f"{name}.json" for name in CHAPTERS}
    return {
        name: json.loads(p.read_text(encoding="utf-8")) for name, p in paths.items() if p.exists()
    }


def write() -> None:
    """Write the pages and the picture from what is kept."""
    found = kept()
    PAGE.write_text(written(found), encoding="utf-8")
    if "slopes" in found:
        drawn.draw(found["slopes"]["facts"], PICTURE)
    if {"slopes", "costs"} <= {*found}:
        SCALE.write_text(filled(SCALE.read_text(encoding="utf-8"), found), encoding="utf-8")


def written(found: Mapping[str, dict[str, Any]]) -> str:
    """Return the page of what was found."""
    parts = {name: Part.read(plain) for name, plain in found.items()}
    chapters = [
        "# Benchmarks",
        ABOUT,
        *_machines(found),
        _short(parts),
    ]
    for name, part in parts.items():
        chapter = CHAPTERS[name]
        again = f"Again: `python -m bench results {name}`"
        chapters += [f"## {chapter.heading}", f"{chapter.said} {again}."]
        chapters += [sheet.markdown() for sheet in part.sheets]
    return "\n\n".join(chapters) + "\n"


def _machines(found: Mapping[str, dict[str, Any]]) -> list[str]:
    """Say on which machine, and with which versions; once where they are the same."""
    machines = dict.fromkeys(plain["machine"] for plain in found.values())
    versions: dict[str, list[str]] = {}
    for plain in found.values():
        for name, version in plain["versions"].items():
            versions.setdefault(name, [])
            if version not in versions[name]:
                versions[name].append(version)
    said = ", ".join(f"{name} {' and '.join(each)}" for name, each in versions.items())
    loads = [plain["load"] for plain in found.values()] or [0.0]
    busy = (
        f"Others used it as well: its load was {min(loads)} to {max(loads)} when parts began. "
        "Seconds of the clock are then longer than they would be, of all alike; seconds of the "
        "processor tell more."
    )
    quiet = max(loads) < 1
    return [
        f"**Machine:** {'; '.join(machines)}.{'' if quiet else ' ' + busy}",
        f"**Versions:** {said}.",
    ]


def _short(parts: Mapping[str, Part]) -> str:
    """List every line that misses its bar."""
    missed = [
        f"- {sheet.title}: {', '.join(cell for cell in row if cell not in ('', 'OVER'))}"
        for part in parts.values()
        for sheet in part.sheets
        for row in sheet.rows
        if "OVER" in row
    ]
    title = "**What falls short:**"
    return "\n".join([title, "", *missed]) if missed else f"{title} nothing that is asked."


def filled(page: str, found: Mapping[str, dict[str, Any]]) -> str:
    """Return the page about scale with its tables anew; its words stay."""
    costs_ = scale.Costs.of(found["costs"]["facts"], found["slopes"]["facts"])
    for sheet in scale.part(costs_).sheets:
        page = replaced(page, sheet)
    return page


def replaced(page: str, sheet: Sheet) -> str:
    """Return a page with the table of this title in the place that is kept for it."""
    begin = BEGIN.format(sheet.title)
    before, found, after = page.partition(begin)
    if not found:
        raise ValueError(f"the page keeps no place for the table {sheet.title!r}: add {begin!r}")
    _, _, rest = after.partition(END)
    return f"{before}{begin}\n\n{sheet.markdown()}\n\n{END}{rest}"
