"""The page of results is what was kept, and the figures behind it are worked out rightly."""

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bench import errors, results, scale, slopes, table_errors
from bench.__main__ import NARROWED, WHOLE
from bench.cluster import Cluster, chance_given_up, simulate
from bench.peers.answers import Answers, parsed, program, run
from bench.peers.environments import PEERS, reason
from bench.processes import run as watched
from bench.sheet import Part, Sheet
from bench.slopes import Point

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
COSTS = scale.Costs(row=6e-8, query=5e-9, grouped=1.5e-7, launch=1e-3, cell=4e-6, held=300)


def test_the_pages_are_what_was_kept() -> None:
    """Nobody typed a number into the pages, or forgot to write them anew."""
    kept = results.kept()
    assert {"errors", "ends", "slopes", "costs"} <= {*kept}
    assert results.written(kept) == PAGE
    page = results.SCALE.read_text(encoding="utf-8")
    assert results.filled(page, kept) == page


def test_the_commands_of_the_page_exist() -> None:
    """Each command that repeats a table names a bench, or a part of the page."""
    found = re.findall(r"`python -m bench (\w+)(?: (\w+))?`", PAGE)
    assert len(found) > 5
    for bench, part in found:
        assert bench in (*WHOLE, *NARROWED, "results", "page")
        assert not part or part in results.CHAPTERS


def test_what_falls_short_is_said() -> None:
    """A line that misses its bar stands at the top of the page too."""
    sheet = Sheet("speed", ("what", "measured", ""), [("us", "9 s", "OVER"), ("them", "1 s", "ok")])
    peaks = Sheet("peaks", ("what", "", "MB"), [("us", "OVER", "5000"), ("less", "ok", "9")])
    about = {"machine": "one", "load": 0.1, "versions": {"a": "1"}}
    page = results.written({"ends": Part([sheet, peaks]).plain() | about})
    assert "- speed: us, 9 s\n- peaks: us, 5000" in page
    assert "- speed: them" not in page
    assert "- peaks: less" not in page


def test_a_sheet_survives_json() -> None:
    """What is kept and read again shows the same."""
    part = Part([Sheet("a | b", ("x", "y"), [("1 | 2", "3")], "note")], {"f": 0.1}, {"v": "1"})
    again = Part.read(json.loads(json.dumps(part.plain())))
    assert [each.markdown() for each in again.sheets] == [each.markdown() for each in part.sheets]
    assert "| 1 \\| 2 | 3 |" in part.sheets[0].markdown()
    assert (again.facts, again.versions) == (part.facts, part.versions)
    assert Sheet.of(part.sheets[0].grid()).rows == [("1 | 2", "3")]


def _grown(law: Callable[[int], float]) -> list[Point]:
    return [Point(10**i, 1.0, law(10**i), 100.0 + law(10**i)) for i in range(3, 7)]


def test_slopes_tell_a_square_from_a_line() -> None:
    """What grows in step passes, and what grows with the square does not."""
    line, square = _grown(lambda n: n / 1e5), _grown(lambda n: (n / 1e5) ** 2)
    assert slopes.of_time(line) == pytest.approx(1)
    assert slopes.of_time(square) == pytest.approx(2)
    sheet, _ = slopes.tabulated({"line": line, "square": square}).sheets
    assert [row[-1] for row in sheet.rows] == ["ok", "OVER"]
    ended = [*line, Point(10**7, 600, 1, 1, "over 600 s")]
    assert slopes.tabulated({"queries": ended}).sheets[0].rows[0][-1] == "OVER"
    assert slopes.EXPLAINED["queries"] in slopes.tabulated({"queries": ended}).sheets[0].note


def test_slopes_of_nearly_nothing_are_not_told() -> None:
    """Where sizes take no time beyond the start, there is no slope, and a failure has none."""
    assert math.isnan(slopes.of_time([Point(1, 1, 0.001, 1), Point(10, 1, 0.002, 1)]))
    assert math.isnan(slopes.of_time([Point(1, 1, 1.0, 1), Point(10, 1, 1.0, 1, "over 120 s")]))


def test_the_formula_for_tables_is_the_published_one() -> None:
    """ResidualPlanner's own figures for two data sets, to three digits."""
    found = [round(table_errors.planned(table_errors.LEVELS["CPS"], (k,)), 3) for k in (1, 2, 3)]
    assert found == [1.744, 2.035, 2.048]
    adult = [round(table_errors.planned(table_errors.LEVELS["Adult"], (k,)), 3) for k in (1, 2)]
    assert adult == [3.047, 6.359]


def test_tables_are_measured_without_their_margins() -> None:
    """Measured over releases, a cell has the error of the formula: within seven standard errors."""
    levels = (2, 2, 2, 9)
    formula, found = table_errors.planned(levels, (3,)), table_errors.ours(levels, (3,), 40)
    assert found == pytest.approx(formula, rel=0.1)


def test_the_standard_gaussian_is_the_analytic_one() -> None:
    """Its noise for one count at epsilon 1 and delta 1e-6, and that it grows with the root."""
    assert errors.standard(1) == pytest.approx(4.2247, abs=1e-4)
    assert errors.standard(100) == pytest.approx(10 * errors.standard(1))


def test_errors_are_measured_from_the_truth() -> None:
    """Both the spread and a bias count; whoever misses what is asked is told so."""
    assert Answers([[9.0, 11.0], [10.0, 10.0]]).error(10) == pytest.approx(math.sqrt(0.5))
    assert Answers([[12.0, 12.0]]).error(10) == 2
    assert math.isnan(Answers(()).error(10))
    usual = {d: Answers([[10 + errors.standard(d)]]) for d in errors.REPEATS}
    half = {d: Answers([[10 + errors.standard(d) / 2]]) for d in errors.REPEATS}
    for found, verdict in ((usual, "OVER"), (half, "ok")):
        assert {row[-1] for row in errors.tabulated(found, {}).sheets[-1].rows} == {verdict}


def test_answers_of_a_program_that_is_stopped_count() -> None:
    """Whole lines count, a line that is cut does not, and why there are no more is said."""
    assert parsed(["warning\n", "[1, 2]\n", "[3, 4"]) == [[1.0, 2.0]]
    program = (
        "import time; print([1.5], flush=True); print('[2', end='', flush=True); time.sleep(60)"
    )
    found = run([sys.executable, "-c", program], patience=1)
    assert (found.releases, found.why_no_more) == ([[1.5]], "stopped after 1 s")
    failed = run([sys.executable, "-c", "raise ValueError('no such peer')"], patience=30)
    assert (failed.releases, failed.why_no_more) == ([], "ValueError: no such peer")


def test_peers_are_pinned_and_have_a_program() -> None:
    """Every peer names versions, and none of them is part of this project."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name, peer in PEERS.items():
        assert program(name).exists()
        own, *_ = peer.packages
        assert "==" in own
        assert f"{own.partition('==')[0]}>=" not in project
        newer = replace(peer, packages=(own + ".1",))
        assert newer.folder != peer.folder


def test_an_installer_says_why() -> None:
    """The last error counts, and else the last line."""
    assert reason("WARNING: a\nERROR: Ignored b\nERROR: No matching c\n") == "No matching c"
    assert reason("a\nb\n") == "b"
    assert reason("") == "fails without a word"


def test_memory_is_that_of_all_processes() -> None:
    """What a process starts counts as well."""
    hold = "import time; x = b'1' * 60_000_000; time.sleep(0.7)"
    both = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {hold!r}]); {hold}"
    assert watched([sys.executable, "-c", both]).peak > 120_000_000


def test_a_cluster_without_weather_is_arithmetic() -> None:
    """Tasks run in rounds, and a slow driver is what they wait for."""
    calm = Cluster(cores=10)
    assert simulate(95, 2.0, calm).seconds == pytest.approx(20)
    assert simulate(95, 2.0, calm).busy == pytest.approx(190)
    assert simulate(1000, 0.01, replace(calm, launch=0.1)).seconds >= 100


@pytest.mark.parametrize("seed", range(5))
def test_a_cluster_conserves_work(seed: int) -> None:
    """No core works twice at once, nothing is faster than work over cores, weather only adds."""
    calm, rough = Cluster(cores=20), Cluster(cores=20, straggling=0.05, failing=0.05, attempts=9)
    quiet, found = simulate(2000, 1.0, calm, seed), simulate(2000, 1.0, rough, seed)
    assert found.busy / 20 <= found.seconds + 10 / 20
    assert found.seconds > quiet.seconds == 100
    assert found.failures > 0
    late = simulate(2000, 1.0, replace(rough, failing=0.0, late=3.0), seed)
    assert 0 < late.copies < 200
    assert late.seconds < simulate(2000, 1.0, replace(rough, failing=0.0), seed).seconds


def test_a_job_is_given_up_as_often_as_it_should() -> None:
    """The share of simulated jobs that are given up is the chance that is worked out."""
    cluster = Cluster(cores=10, failing=0.1, attempts=3)
    given_up = [simulate(500, 1.0, cluster, seed).given_up for seed in range(300)]
    expected = chance_given_up(500, cluster)  # 0.39
    assert abs(sum(given_up) / 300 - expected) < 5 * math.sqrt(expected * (1 - expected) / 300)
    assert not simulate(500, 1.0, replace(cluster, attempts=50)).given_up


def test_the_asked_release_breaks_the_driver() -> None:
    """10^6 groups of 10^5 queries fit no driver; of 20 queries, they do."""
    asked, less = scale.Shape(10**12, 10**6, 10**5), scale.Shape(10**12, 10**6, 20)
    assert asked.cells == 10**6 * (10**5 + 1)
    assert asked.scans == 250
    assert "driver's memory" in scale.broken(asked, COSTS, 0.0)
    assert not scale.broken(less, COSTS, 0.0)
    cheap = replace(COSTS, held=1e-3, cell=1e-9)
    assert "driver's memory" not in scale.broken(asked, cheap, 0.0)


def test_limits_stand_in_order() -> None:
    """The narrowest limit comes first, and follows from what a cell costs."""
    cells = [number for _, number in scale.limits(COSTS)]
    assert cells == sorted(cells)
    found = dict(scale.limits(COSTS))
    assert found["an hour of the driver"] == pytest.approx(3600 / COSTS.cell)
    assert found["the memory of a driver with 64 GiB"] == pytest.approx(64 * 2**30 / COSTS.held)
