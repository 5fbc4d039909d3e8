import html
import math
import pickle
import sys
from dataclasses import FrozenInstanceError, asdict, replace

import numpy as np
import pytest

from halfnoise import (
    Choice,
    Count,
    GaussianDP,
    InvalidParameterError,
    Items,
    Mean,
    MissingExtraError,
    NotSupportedError,
    Release,
    Sum,
    UnknownNameError,
    Workload,
)
from halfnoise.results.sampling import NOISE_ONLY
from halfnoise.workload.question import SIZE
from support.replay import many

MIXTURE = Workload(
    [
        Count("smoker"),
        Count("<b>&\"'"),
        Sum("visits", bounds=(0, 20)),
        Mean("age", bounds=(18, 90)),
        Choice("blood", ("A", "B")),
        Items("drug", ("x", "y", "z"), at_most=1),
    ]
)


def made(people: int = 1000, mu: float = 1.0, workload: Workload = MIXTURE) -> Release:
    """Release a table of fixed totals."""
    return many(workload, GaussianDP(mu=mu), people=people, rows=1).one


def shifted(release: Release, **values: float) -> Release:
    """Return a release with some of its values set by name."""
    moved = release.values.copy()
    for name, value in values.items():
        moved[release.names.index(name) if name != "size" else -1] = value
    return replace(release, values=moved)


def test_names_in_order() -> None:
    """Estimates stand in the order of the blocks, the categories of a choice by their names."""
    assert made().names == (
        "smoker",
        "<b>&\"'",
        "visits",
        "age sum",
        "age answered",
        "blood=A",
        "blood=B",
        "blood=other",
        "drug=x",
        "drug=y",
        "drug=z",
    )


def test_every_way_to_an_estimate_gives_the_same() -> None:
    """By name, one after the other and as rows the estimates are equal."""
    for release in (made(), made().rounded(), made().with_known_size(1000)):
        rows = list(release.rows())
        assert rows[0] == ("size", release.size)
        assert [each for kind, each in rows if kind != "size"] == list(release)
        for kind, each in rows[1:]:
            assert release[each.name] == each
            assert kind == ("mean" if each.name == "age" else named_kind(each.name))


def named_kind(name: str) -> str:
    """Return which kind of estimate has a name."""
    return "sum" if name in ("visits", "age sum") else "count"


def test_an_unknown_name_is_refused() -> None:
    """The error for a name that is not there lists names that are."""
    with pytest.raises(InvalidParameterError, match=r"one of 'smoker'.*got 'smokers'"):
        made()["smokers"]
    for ask in (Release.mean, Release.share):
        with pytest.raises(UnknownNameError, match="got 'smokers'; did you mean 'smoker'"):
            ask(made(), "smokers")


def test_a_query_may_be_called_like_the_size() -> None:
    """A query with the name of the number of people is found under it."""
    release = made(workload=Workload([Count(f"c{i}") for i in range(8)] + [Count(SIZE)]))
    assert release[SIZE].estimate == release.values[8]
    assert release.size is not None
    assert release.size.estimate == release.values[9]


def test_values_are_read_only() -> None:
    """Neither a value nor a field of a release can be changed."""
    release = made()
    with pytest.raises(ValueError, match="read-only"):
        release.values[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        release.level = 0.5  # type: ignore[misc]


def test_levels() -> None:
    """Intervals widen with their level, and all at once are wider than one by one."""
    release = made()
    narrow, usual, wide = (release.intervals(level=level) for level in (0.5, 0.95, 0.999))
    together = release.intervals(level=0.95, simultaneous=True)
    for a, b, c, d in zip(narrow, usual, wide, together, strict=True):
        assert a.high - a.low < b.high - b.low < c.high - c.low
        assert b.high - b.low < d.high - d.low
    assert usual == list(release)
    with pytest.raises(InvalidParameterError, match="level"):
        release.intervals(level=1.0)


def test_differences() -> None:
    """A difference cancels what is shared; with itself it is nothing."""
    release = made()
    a, b = release["smoker"], release["<b>&\"'"]
    found = release.difference("smoker", "<b>&\"'")
    assert found.estimate == pytest.approx(a.estimate - b.estimate)
    assert found.std < math.hypot(a.std, b.std)
    same = release.difference("smoker", "smoker")
    assert (same.estimate, same.std, same.low, same.high) == (0, 0, 0, 0)


def test_shares_and_means_are_of_their_kind() -> None:
    """A share is of a count and a mean of amounts; the other way round is refused."""
    release = made()
    assert 0 <= release.share("smoker").low <= release.share("smoker").high <= 1
    assert 0 <= release.mean("visits").low <= release.mean("visits").high <= 20
    assert release.share("age answered").estimate == pytest.approx(2 / 3, abs=0.1)
    for name in ("visits", "age sum", "age"):
        with pytest.raises(InvalidParameterError, match="that of a count"):
            release.share(name)
    with pytest.raises(InvalidParameterError, match="that of a Mean or a Sum"):
        release.mean("smoker")


def test_a_share_outside_its_bounds_stays_an_interval() -> None:
    """Noise that takes a share far below zero leaves an interval in order, size known or not."""
    below = shifted(made(mu=10), smoker=-800.0)
    for release in (below, below.with_known_size(1000)):
        found = release.share("smoker")
        assert (found.low, found.estimate, found.high) == (0, 0, 0)


def test_without_size_there_is_no_share() -> None:
    """Where the number of people is neither measured nor given, a share is refused."""
    release = made(workload=Workload([Count("a"), Count("b")], at_most=1))
    assert release.size is None
    with pytest.raises(NotSupportedError, match="does not give the number of people"):
        release.share("a")
    with pytest.raises(NotSupportedError, match="no estimate of the number"):
        release.with_known_size(10)


def test_a_known_size_is_a_positive_number() -> None:
    """Nobody is not a number of people to divide by."""
    with pytest.raises(InvalidParameterError, match="n must be a positive number"):
        made().with_known_size(0)


def test_a_known_size_moves_by_the_centre() -> None:
    """Knowing that there is one person more adds each centre to its estimate, or near it."""
    release = made()
    one, two = release.with_known_size(1000), release.with_known_size(1001)
    moved = dict(zip(release.names, two.values - one.values, strict=True))
    assert moved["smoker"] == pytest.approx(0.5, rel=0.05)
    assert moved["visits"] == pytest.approx(10, rel=0.05)
    assert moved["age sum"] == pytest.approx(54 * moved["age answered"])
    assert moved["blood=A"] == pytest.approx(1 / 3)
    for each in one:
        assert each.std <= release[each.name].std * (1 + 1e-12)
    assert one.size is not None
    assert (one.size.estimate, one.size.std) == (1000, 0)


def test_rounding() -> None:
    """Rounded counts are whole and within [0, size]; sums, means and raw values stay."""
    raw = shifted(made(people=10, mu=0.1), smoker=-50.0, size=7.4)
    release = raw.rounded()
    assert release.size is not None
    assert release.size.estimate == 7
    for kind, each in release.rows():
        assert each.low <= each.estimate <= each.high
        if kind in ("count", "size"):
            assert each.estimate == round(each.estimate)
            assert 0 <= each.estimate <= 7
        else:
            assert each == raw[each.name]
    assert release["smoker"].estimate == 0
    assert np.array_equal(release.values, raw.values)
    assert "rounded" in repr(release)
    assert "rounded" not in repr(raw)


def test_a_known_size_is_not_rounded() -> None:
    """A number of people that was given stays as it is, and no rounded count is above it."""
    release = shifted(made(mu=10), smoker=2000.0).with_known_size(999.6).rounded()
    assert next(release.rows()) == ("size", release.size)
    assert release.size is not None
    assert release.size.estimate == 999.6
    counts = {each.name: each for kind, each in release.rows() if kind == "count"}
    assert counts["smoker"] == release["smoker"]
    assert counts["smoker"].estimate == 1000


def test_much_other_is_worth_a_note() -> None:
    """A large category for all others is named, with its share; a small one is not."""
    release = shifted(made(), **{"blood=A": 600.0, "blood=B": 280.0, "blood=other": 120.0})
    note = "blood=other is 12% of blood: check the spelling of the categories"
    assert release.notes() == [note]
    assert note in repr(release)
    assert note in release._repr_html_()
    assert note in release.to_dict()["notes"]
    assert shifted(release, **{"blood=other": 20.0}).notes() == []


def test_it_reads_well() -> None:
    """The text names everything with its interval, the promise and what intervals cover."""
    release = made()
    text = repr(release)
    for word in (*release.names, SIZE, "age", "95% interval", NOISE_ONLY, "mu 1", "50%", "Design:"):
        assert word in text
    assert str(release) == text
    assert "nan" not in text.lower()
    assert all(len(line.rstrip()) == len(line) for line in text.splitlines())


def test_markup_is_escaped() -> None:
    """A name cannot bring markup of its own into a notebook."""
    markup = made()._repr_html_()
    assert "<b>" not in markup
    assert html.escape("<b>&\"'") in markup
    assert markup.count('scope="row"') == 13 - 2  # a mean, its sum and who answered are one


def test_a_long_table_is_cut_off_on_the_screen() -> None:
    """Of 1,000 items 200 rows are shown, and the number of the others; a frame holds all."""
    release = made(workload=Workload([Items("x", tuple(range(1000)), at_most=3)]))
    total = len(list(release.rows()))
    assert f"... and {total - 200} more" in release.table()
    assert f"and {total - 1 - 200} more rows" in release._repr_html_()
    assert len(release.table().splitlines()) == 202
    assert len(release.to_polars()) == total


def test_an_infinite_error_reads_well() -> None:
    """Where nobody seems to have answered, the mean may be anything within its bounds."""
    release = shifted(made(), **{"age sum": 0.0, "age answered": 0.0})
    assert (release["age"].low, release["age"].high) == (18, 90)
    line = next(line for line in release.table().splitlines() if line.startswith("age  "))
    assert line.split()[1:] == ["18", "∞", "over", "100%", "18", "to", "90"]


def test_frames_hold_the_rows() -> None:
    """Both kinds of frame hold kind, name and numbers of every row, unrounded."""
    release = made()
    expected = [{"kind": kind} | asdict(each) for kind, each in release.rows()]
    assert release.to_polars().to_dicts() == expected
    assert release.to_pandas().to_dict("records") == expected


@pytest.mark.parametrize(
    ("method", "package"),
    [
        (Release.to_polars, "polars"),
        (Release.to_pandas, "pandas"),
        (Release.dp_event, "dp_accounting"),
    ],
)
def test_a_missing_package_is_named(
    method: object, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an optional package the error says what to install."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=f"pip install {package.replace('_', '-')}"):
        method(made())  # type: ignore[operator]


def test_it_can_be_pickled() -> None:
    """A pickled release comes back with the same values and conclusions."""
    release = made()
    again = pickle.loads(pickle.dumps(release))
    assert again.to_json() == release.to_json()
