from dataclasses import replace

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from halfnoise.noise.staircase import (
    GAUSSIAN,
    HAIR,
    LAPLACE,
    Density,
    Layout,
    Table,
    certify,
    fit,
    gaussian_table,
    laplace_table,
)

TABLES = {"gaussian": gaussian_table, "laplace": laplace_table}


def strip_of_entry(table: Table) -> NDArray[np.int64]:
    """Return the strip that a word beginning with each index falls on."""
    places = table.layout.place_bits
    return ((np.arange(len(table.offset)) << places) + table.offset) >> places


def boxes(table: Table) -> dict[int, list[int]]:
    """Return the levels of the boxes over each strip, read off the table; sure ones are -1."""
    strips = strip_of_entry(table).tolist()
    levels = [int(n) for n in table.level] + [-1] * (len(strips) - len(table.level))
    found: dict[int, list[int]] = {}
    for strip, level in list(zip(strips, levels, strict=True))[2 * table.staircase.tail :]:
        found.setdefault(strip, []).append(level)
    return found


def faults(table: Table) -> list[int]:
    """Return the strips whose boxes do not add up to the density; proved anew, in balls.

    A strip is right if its boxes have levels 0, 1, 2, ... up to at least the density, the sure ones
    being the lowest and below the density.
    """
    wrong = []
    strips = len(table.staircase.steps)
    found = boxes(table)
    for strip in range(-strips, strips):
        levels = found.pop(strip, [])
        sure = levels.count(-1)
        listed = sorted(n for n in levels if n >= 0)
        unsure = [n for n in listed if n < table.staircase.top]
        inner = strip if strip >= 0 else -1 - strip
        near, far = (
            (-table.density.exponent(arb(edge) / table.layout.per_unit)).exp() * table.staircase.top
            for edge in (inner, inner + 1)
        )
        whole = unsure == list(range(sure, sure + len(unsure)))
        covered = sure + len(unsure) >= near or sure + len(unsure) >= table.staircase.top
        if not (whole and covered and sure <= far):
            wrong.append(strip)
    return wrong + list(found)


@pytest.mark.parametrize("name", TABLES)
def test_boxes_add_up_to_the_density_over_every_strip(name: str) -> None:
    """Every box stands on its strip at its level, both sides of zero alike."""
    table = TABLES[name]()
    assert faults(table) == []


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("strip", [-300, -1, 0, 5, 64, 200])
def test_audit_sees_a_weight_off_by_one(name: str, strip: int) -> None:
    """A single box that changes strips is found, in whatever strip it is missing."""
    table = TABLES[name]()
    places = table.layout.place_bits
    offset = table.offset.copy()
    offset[np.flatnonzero(strip_of_entry(table) == strip)[-1]] += 1 << places
    assert strip in faults(replace(table, offset=offset))


@pytest.mark.parametrize("shape", [GAUSSIAN, LAPLACE])
def test_certificate_refuses_any_step_or_threshold_off_by_one(shape: Density) -> None:
    """A step below the density, a sure box above it, or too small a tail is refused."""
    layout = Layout()
    good = fit(shape, layout)
    certify(good, shape, layout)
    for strip in (0, 1, 100, len(good.steps) - 1):
        one = np.zeros_like(good.steps)
        one[strip] = 1
        # A step may carry one box to spare where the density is a whole number, as at zero.
        with pytest.raises(ArithmeticError, match="not proved"):
            certify(replace(good, steps=good.steps - one - one), shape, layout)
        with pytest.raises(ArithmeticError, match="not proved"):
            certify(replace(good, sure=good.sure + one), shape, layout)
    with pytest.raises(ArithmeticError, match="not proved"):
        certify(replace(good, tail=0), shape, layout)


def test_too_few_boxes_are_refused() -> None:
    """A staircase that cannot fit says so."""
    with pytest.raises(ArithmeticError, match="no staircase fits"):
        fit(GAUSSIAN, Layout(index_bits=4))


@pytest.mark.parametrize("name", TABLES)
def test_tables_cannot_be_changed(name: str) -> None:
    """The cached arrays are read-only."""
    table = TABLES[name]()
    for array in (table.offset, table.level, table.margin):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("shape", [GAUSSIAN, LAPLACE])
def test_exp_is_far_better_than_it_is_trusted_to_be(shape: Density) -> None:
    """NumPy's exp stays within a thousandth of the trusted error over the whole range."""
    x = np.random.default_rng().uniform(-shape.reach, shape.reach, 20_000)
    exponent = shape.exponent(x)
    for h, value in zip((-exponent).tolist(), np.exp(-exponent).tolist(), strict=True):
        exact = arb(h).exp()
        assert abs(arb(value) - exact) < exact * (HAIR / 1000)


@pytest.mark.parametrize("name", TABLES)
def test_unsure_boxes_are_few(name: str) -> None:
    """Speed hangs on how few boxes need a second look: below one in twenty."""
    table = TABLES[name]()
    assert len(table.level) < 0.05 * len(table.offset)
