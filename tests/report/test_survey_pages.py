"""Pages of surveys: shares as Python gives them, and words that are true of this release."""

import re
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.report.columns import Columns
from halfnoise.results.sampled import numbers_of
from halfnoise.text import short
from halfnoise.workload.weights import HEADS, SQUARES
from support.pages import Page, number
from support.surveys import QUERIES, SURVEYS, sampled, surveyed

FLAT = [name for name in SURVEYS if name != "places"]


def groups_of(release: Any) -> list[hn.Release]:
    """Return the releases of all groups, or the one that there is."""
    return [each for _, each in release.items()] if hasattr(release, "items") else [release]


@pytest.mark.parametrize("name", FLAT)
def test_shares_on_a_page_are_those_of_python(name: str) -> None:
    """With the error of a sample, too, in each group; and so is what there is per person."""
    release = SURVEYS[name]()
    columns, groups = Columns(release), groups_of(release)
    for question in columns.one.questions:
        if question.is_mean or question.name in (HEADS, SQUARES):
            continue
        shown = columns.per_person(question) if question.is_sum else columns.shares(question)
        for column in shown:
            one = hn.Release.mean if question.is_sum else hn.Release.share
            factor = 1 if question.is_sum else 100
            wanted = [factor * numbers_of(one(group, column.name)) for group in groups]
            np.testing.assert_allclose(column.numbers, np.stack(wanted, axis=1), rtol=1e-9)


@pytest.mark.parametrize("name", SURVEYS)
def test_a_page_says_one_thing(name: str) -> None:
    """What margins cover, and of what numbers of people are, is the same all over it."""
    release = SURVEYS[name]()
    seen = Page(release.to_html(charts=False))
    said = " ".join([*seen.words, release.to_json()])
    sampled, weighted = release.sampling is not None, "weight" in release.facts
    assert ("by that noise and by who was asked, in 95%" in said) is sampled
    assert ("the sample and the noise drawn again" in said) is sampled
    assert ("the data give without noise" in said) is not sampled
    assert ("are those of the sample" in said) is (sampled and not weighted)
    assert ("sums of weights over the sample" in said) is (sampled and weighted)
    assert ("the measured effect of weights" in said) is (sampled and weighted)
    if not hasattr(release, "items"):
        assert ("People whose weights add up to" in said) is weighted


@pytest.mark.parametrize("name", [name for name in SURVEYS if "weights" in name])
def test_what_is_of_weights_stands_with_the_number_of_people(name: str) -> None:
    """Not among sums, not per person, not in the title; and the effective size with them."""
    release = SURVEYS[name]()
    seen, one = Page(release.to_html(charts=False)), groups_of(release)[0]
    beside = {HEADS, SQUARES, "effective sample size"}
    first, *others = seen.tables
    heads = [heads[0] for heads, _ in first.rows]
    both = HEADS in one
    wanted = ["number of people", *((HEADS, SQUARES, "effective sample size") if both else ())]
    assert heads == [*wanted, "smoker"]
    assert not beside & {heads[0] for table in others for heads, _ in table.rows}
    assert not any(name in seen.headings[0].lower() for name in beside)
    assert "each value kept within 0 to 5" not in " ".join(seen.words)
    if both:
        assert one.effective_size is not None
        assert number(first.rows[3][1][0]) == pytest.approx(one.effective_size.estimate, abs=5)


def test_intervals_of_discovered_groups_promise_less() -> None:
    """A page says what it means that groups passed a threshold."""
    release = surveyed(by="region", groups="discover", discover_delta=1e-7)
    assert "Of small groups fewer hold it" in release.to_html(charts=False)


def crossed() -> Any:
    """Return a table whose cells have errors of their own, some of nearly nobody."""
    rare = hn.Choice("region", ["north", "nowhere"])
    return sampled(queries=(hn.Table([QUERIES[1], rare]),))


def anew() -> Any:
    """Return it with noise of its own."""
    surveyed.cache_clear()
    return crossed()


def margins(text: str) -> list[float]:
    """Return the numbers behind a plus-minus."""
    return [float(each.replace(",", "")) for each in re.findall(r"±([\d.,]*\d)", text)]


def test_captions_are_of_what_is_shown() -> None:
    """The range of errors is that of cells that are there, on pages and on a terminal."""
    plain = crossed()
    flagged = plain.flagged(0.1, suppress=0.3)
    table = plain.table("blood", "region")
    kept = np.where(table.estimates > 0, table.std / table.estimates, np.inf) < 0.3
    assert kept.any()
    assert not kept.all()
    far = np.maximum(table.estimates - table.low, table.high - table.estimates)
    for release, some in ((plain, far), (flagged, far[kept])):
        said = next(x for x in Page(release.to_html(charts=False)).words if "cells ±" in x)
        wanted = [float(f"{each:.3g}") for each in (some.min(), some.max())]
        assert margins(said.split(", totals")[0]) == wanted
        shown = release.table("blood", "region")
        least = table.std.min() if release is plain else table.std[kept].min()
        assert f"cells {short(least)} to {short(table.std.max())}," in repr(shown)
    said = repr(flagged.table("blood", "region"))
    assert "over 100%" not in said
    assert "over 100%" in repr(table)
    columns = Columns(SURVEYS["groups with weights"]().flagged(0.05, suppress=0.1))
    (smoker,) = columns.of(columns.one.questions[0])
    gone = [text == ".." for text in smoker.texts()]
    assert any(gone)
    x, _, low, high = smoker.numbers[:, [not each for each in gone]]
    far = np.maximum(x - low, high - x)
    assert margins(smoker.margin()) == [float(f"{each:.3g}") for each in sorted({*far})]


def test_shares_of_nearly_nobody_are_left_open() -> None:
    """A dash, and errors of what can be told, as on the page."""
    drawn = (anew().table("region", "blood").shares("row") for _ in range(20))
    shares = next(each for each in drawn if each.open.all(axis=1).any())  # noise may look like more
    empty = shares.open.all(axis=1)
    assert not shares.open.all()
    lines = {head[0]: cells for head, cells in shares.wide().lines}
    for region, nothing in zip(shares.categories[0], empty, strict=True):
        assert (lines[region] == ["\N{EN DASH}"] * 4) is bool(nothing)
    said = repr(shares)
    most = 100 * shares.std[~shares.open].max()
    assert f"to {short(most)} per cent." in said
    assert "too few people to tell" in said


def test_how_many_were_asked_is_no_matter_of_the_sample() -> None:
    """The grand total of a table of people has the interval of their number."""
    for release in (crossed(), sampled(queries=(QUERIES[0], hn.Table([QUERIES[1]])))):
        labels = ("blood", "region") if len(release.questions) > 3 else ("blood",)
        table = release.table(*labels)
        total, size = table.total(), release.size
        np.testing.assert_allclose(numbers_of(total), numbers_of(size), rtol=1e-6)
        some = table.total(blood=["A", "B"])
        assert some.std > 3 * total.std


def test_people_with_weights_are_whole_numbers() -> None:
    """How many there are is shown without decimals, though it is kept as a sum."""
    release = SURVEYS["a sample with weights"]()
    (line,) = [each for each in repr(release).splitlines() if each.startswith(HEADS)]
    x, *_, low, _, high = line.removeprefix(HEADS).split()
    assert "." not in x + low + high
    assert number(x) == pytest.approx(release[HEADS].estimate, abs=0.5)
