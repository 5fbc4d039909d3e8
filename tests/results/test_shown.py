import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from halfnoise.results.formats import FORMATS, as_markdown
from halfnoise.results.release import Released
from halfnoise.results.shown import error, places, shown, texts, written
from support.grouped import made
from support.tabled import everything


@pytest.mark.parametrize(
    ("x", "std", "kind", "said"),
    [
        (1234.567, 0.4, "sum", "1,234.6"),
        (1234.567, 0.3, "sum", "1,234.57"),
        (1234.567, 0.4, "count", "1,235"),
        (1234.567, 0.4, "size", "1,235"),
        (1234.567, 0.4, "table", "1,235"),
        (1234.567, 99.0, "count", "1,235"),
        (1234.567, 100.0, "count", "1,230"),
        (1234567.8, 400.0, "mean", "1,234,600"),
        (1234567.8, 300.0, "mean", "1,234,570"),
        (-0.3, 50.0, "count", "0"),
        (-30.0, 5000.0, "sum", "0"),
        (0.5, 0.0, "mean", "0.5"),
        (200000.0, 0.0, "size", "200,000"),
        (12345678901.0, 0.0, "size", "12,345,678,901"),
        (math.inf, 1.0, "mean", "∞"),
        (-math.inf, 1.0, "mean", "-∞"),
        (3.0, math.inf, "mean", "3"),
        (1.2345e25, 1e21, "sum", "12,345,000,000,000,000,000,000,000"),
    ],
)
def test_digits_that_the_noise_leaves(x: float, std: float, kind: str, said: str) -> None:
    """A number is shown to the digit that its standard error leaves meaningful, people whole."""
    assert shown(x, std, kind) == said


def test_what_was_rounded_is_shown_to_the_last_person() -> None:
    """Whole numbers that were asked for are all shown; other numbers as ever."""
    assert shown(1234.0, 400.0, "count", ones=True) == "1,234"
    assert shown(1234.0, 400.0, "sum", ones=True) == "1,200"
    assert error(math.inf) == "∞"


def test_no_digit_is_lost_that_the_error_supports() -> None:
    """Rounding for the eye moves a number by a seventh of its standard error at most."""
    random = np.random.default_rng(5)
    for std, x in zip(10 ** random.uniform(-6, 9, 2000), random.normal(size=2000), strict=True):
        value = float(1000 * std * x)
        assert abs(float(shown(value, std).replace(",", "")) - value) <= std / 7
        people = float(shown(value, std, "count").replace(",", ""))
        assert abs(people - value) <= max(0.5, 0.05 * std * (1 + 1e-9))
        at = places(std, "count")
        assert at is not None
        assert at <= 0
        assert re.fullmatch(r"-?[\d,]+", written(value, at))


def cells(line: str) -> list[str]:
    """Return the cells of a line of Markdown."""
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("release", [everything(), everything().rounded(), made()])
def test_every_place_shows_the_same_numbers(release: Released) -> None:
    """Terminal, notebook and Markdown show people without decimals; JSON keeps every digit."""
    listed = texts(release.columns(tables=False), ones=release.rounded_values)
    lines = as_markdown(release).split("\n\n")[0].splitlines()[2:]
    printed, markup = release.table(), release._repr_html_()
    stored = json.loads(FORMATS[".json"](release))
    numbers = {str(x) for x in re.findall(r'"estimate": ([^,]+),', json.dumps(stored))}
    for place, line in enumerate(lines):
        kind, x, std = (listed[name][place] for name in ("kind", "estimate", "std"))
        assert cells(line)[-5:-3] == [x, std]
        assert "." not in x or kind not in ("size", "count")
        assert f"  {x}  " in printed
        assert f"<td>{x}</td>" in markup or kind == "sum"  # of a mean it is not shown there
        assert repr(float(release.columns(tables=False)["estimate"][place])) in numbers


def test_tables_to_the_digit_of_their_least_error() -> None:
    """A table with large errors is shown in tens or hundreds that add up, and rounded whole."""
    release = everything()
    coarse = replace(
        release, errors=replace(release.errors, copies=10**4), values=release.values * 1000
    )
    table = coarse.table("sex", "region")
    least = min(float(table.std.min()), *(float(each.std.min()) for each in table.margins()))
    assert least >= 100
    at = places(least, "table")
    rows = table.wide().lines
    grid = np.array([[int(x.replace(",", "")) for x in line] for _, line in rows])
    assert at is not None
    assert not (grid % 10**-at).any()
    assert np.array_equal(grid[:, :-1].sum(axis=1), grid[:, -1])
    assert np.abs(grid[:-1, :-1] - table.estimates).max() <= 2 * 10**-at
    whole = coarse.rounded().table("sex", "region")
    assert [
        int(x.replace(",", "")) for _, line in whole.wide().lines[:-1] for x in line[:-1]
    ] == whole.estimates.ravel().tolist()
