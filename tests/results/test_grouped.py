import datetime as dt
import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from halfnoise import InvalidParameterError, PureDP, Release
from halfnoise.results.inference import NUMBERS
from halfnoise.results.render import DISCOVERED
from halfnoise.results.sampling import NOISE_ONLY
from halfnoise.results.table import COLUMNS
from halfnoise.results.together import simultaneous_level
from halfnoise.workload.by import By
from support.grouped import EVERY_TYPE, PEOPLE, made, two_level

TWO = (By("region"), By("sex"))
TWO_KEYS = (("north", "f"), ("north", "m"), ("other", "other"))


def test_a_group_is_a_release() -> None:
    """A group's release has its row of values and all else in common with the others."""
    release = made().intervals(level=0.8).rounded()
    for place, (key, each) in enumerate(release.items()):
        assert isinstance(each, Release)
        assert np.array_equal(each.values, release.values[place])
        assert np.array_equal(release[key].values, each.values)
        assert (each.level, each.rounded_values) == (0.8, True)
        assert each.guarantee == release.guarantee
        assert each.privacy == release.privacy
        assert each.facts == release.facts
        assert each.errors == release.errors
    assert list(release) == ["north", "south", "other"]
    assert len(release) == 3


def test_keys_keep_their_types() -> None:
    """True, 1 and 1.0 are three groups, and each value finds its own."""
    release = made(EVERY_TYPE)
    for place, (key,) in enumerate(EVERY_TYPE):
        assert np.array_equal(release[key].values, release.values[place])
        assert np.array_equal(release[(key,)].values, release.values[place])
        assert key in release
    assert [type(key) for key in release] == [type(key) for (key,) in EVERY_TYPE]


@pytest.mark.parametrize("wanted", [np.str_("north"), np.int64(7), 7.0, np.float64(2.5)])
def test_an_equal_key_will_do(wanted: object) -> None:
    """Where no key is exactly what is asked for, the only one equal to it is meant."""
    keys = (("north",), (7,), (2.5,))
    release = made(keys)
    (place,) = (i for i, (key,) in enumerate(keys) if key == wanted)
    assert np.array_equal(release[wanted].values, release.values[place])


def test_an_equal_key_must_be_the_only_one() -> None:
    """1.0 may be True or 1 where it is neither itself."""
    with pytest.raises(InvalidParameterError, match=r"group must be one of 1, True, got 1\.0"):
        made(((1,), (True,)))[1.0]


def test_several_columns_make_a_tuple() -> None:
    """Groups by several columns have tuples for keys; one value stands for all of them."""
    release = made(TWO_KEYS, TWO)
    assert list(release) == list(TWO_KEYS)
    assert np.array_equal(release["north", "m"].values, release.values[1])
    assert np.array_equal(release["other"].values, release.values[2])
    assert "north" not in release
    assert ("north",) not in release


@pytest.mark.parametrize("wanted", ["nroth", ("north", "f"), ["north"], None, {}])
def test_an_unknown_group_is_refused(wanted: object) -> None:
    """The error for a group that is not there lists groups that are."""
    release = made()
    with pytest.raises(InvalidParameterError, match="group must be one of 'north', 'south'"):
        release[wanted]
    assert wanted not in release


def test_ten_groups_are_named() -> None:
    """Of many groups the error names ten, and of none it says so."""
    with pytest.raises(InvalidParameterError, match="6, 7, 8, 9 and 10 more, got 99"):
        two_level(20)[99]
    with pytest.raises(InvalidParameterError, match="there is none, got 'x'"):
        made(())["x"]


def test_it_cannot_be_changed() -> None:
    """Neither a value nor a field can be changed, also through a group."""
    release = made()
    for values in (release.values, release["north"].values):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        release.most = 5  # type: ignore[misc]


def test_the_size_is_that_measured_on_top() -> None:
    """The number of all people has an interval at the level of the release; else there is none."""
    assert made().size is None
    release = made(people=PEOPLE)
    for level in (0.5, 0.95):
        size = release.intervals(level=level).size
        assert size is not None
        margin = norm.ppf((1 + level) / 2) * 3.0
        assert (size.low, size.high) == pytest.approx((2500 - margin, 2500 + margin))
    said = "All people, each counted once: 2,500, standard error 3, 95% interval 2,494 to"
    assert any(note.startswith(said) for note in release.notes())
    assert said in repr(release)
    noisy = replace(release, people=replace(PEOPLE, estimate=7.4)).rounded().size
    assert noisy is not None
    assert noisy.estimate == 7


def test_levels() -> None:
    """All intervals widen with their level, and all groups at once need wider ones."""
    release = made(people=PEOPLE)
    widths = [
        each.columns()["high"] - each.columns()["low"]
        for each in (
            release.intervals(level=0.5),
            release.intervals(level=0.95),
            release.intervals(level=0.95, simultaneous=True),
        )
    ]
    for narrow, wide in pairwise(widths):
        assert (narrow < wide).all()
    assert release.intervals(level=0.95).level == 0.95
    # Beside the queries and means the table shows the numbers of people, and of all people.
    fewer = simultaneous_level(release.errors, len(release.names), 1, 0.95 ** (1 / 3))
    assert release.intervals(level=0.95, simultaneous=True).level > fewer
    on_top = replace(release, people=None).intervals(level=0.95, simultaneous=True)
    assert release.intervals(level=0.95, simultaneous=True).level > on_top.level > fewer
    with pytest.raises(InvalidParameterError, match="level"):
        release.intervals(level=0)


def test_columns_are_the_rows_of_all_groups() -> None:
    """The long form holds each group's rows below those of the one before."""
    for release in (made(TWO_KEYS, TWO), made(TWO_KEYS, TWO).rounded(), made(TWO_KEYS[:1], TWO)):
        found = release.columns()
        assert list(found) == ["region", "sex", *COLUMNS]
        expected = [
            (*key, each.name, kind, *(getattr(each, title) for title in NUMBERS))
            for key, group in release.items()
            for kind, each in group.rows()
        ]
        assert list(zip(*(each.tolist() for each in found.values()), strict=True)) == expected


@pytest.mark.parametrize("privacy", [PureDP(epsilon=0.1), PureDP(epsilon=1)])
def test_columns_of_laplace_noise(privacy: PureDP) -> None:
    """With Laplace noise the means of all groups have the intervals that each has alone."""
    release = made(privacy=privacy)
    rows = [each for _, group in release.items() for _, each in group.rows()]
    for title in NUMBERS:
        assert release.columns()[title].tolist() == [getattr(each, title) for each in rows]


def test_titles_that_are_taken() -> None:
    """A column of keys never hides one of the table's, whatever it is called."""
    by = (By("name"), By("Low"), By("name (group)"))
    titles = list(made((("a", "b", "c"),), by).columns())
    assert titles == ["name (group) (group)", "Low (group)", "name (group)", *COLUMNS]


def test_no_group_at_all() -> None:
    """Where no group passed the threshold, tables are empty and nothing fails."""
    release = made((), discovered=True)
    assert len(release) == len(list(release)) == len(list(release.items())) == 0
    assert {len(each) for each in release.columns().values()} == {0}
    assert DISCOVERED in repr(release)
    assert len(release.intervals(level=0.9, simultaneous=True)) == 0
    assert "<tbody></tbody>" in release._repr_html_()
    assert len(release.to_polars()) == len(release.to_pandas()) == 0


def test_it_reads_well() -> None:
    """The text has a column for each key, left-aligned, and says all that is to say beside it."""
    release = made((*TWO_KEYS[:2], (None, True)), TWO, most=2)
    lines = release.table().splitlines()
    titles = "region sex estimate standard error relative 95% interval"
    assert lines[0].split() == titles.split()
    assert lines[1].startswith("north   f     number of people")
    assert any(line.startswith("(none)  true  smoker") for line in lines)
    text = repr(release)
    for word in (release.table(), NOISE_ONLY, "mu 1", "50%", "Design:", "counts once in each"):
        assert word in text
    assert "rounded" in repr(release.rounded())
    assert all(len(line.rstrip()) == len(line) for line in text.splitlines())


def test_a_long_table_is_cut_off_on_the_screen() -> None:
    """Of many groups 200 rows are shown, and the number of the others."""
    release = two_level(100)
    rows = len(release.columns()["name"])
    assert f"... and {rows - 200:,} more" in release.table()
    assert len(release.table().splitlines()) == 202
    assert "... and 50 more groups" in two_level(250)._repr_html_()


def test_markup_is_escaped() -> None:
    """Neither a key nor a title can bring markup of its own into a notebook."""
    markup = made((("<i>",),), (By("<b>"),))._repr_html_()
    assert "<b>" not in markup
    assert "<i>" not in markup
    assert 'dir="auto">&lt;i&gt;</th>' in markup
    assert "<bdi>&lt;b&gt;</bdi></th>" in markup


def test_much_other_is_worth_a_note() -> None:
    """A large category for all others in all groups together is named once."""
    release = made()
    values = np.tile(release.values[0], (3, 1))
    start = release.names.index("blood=A")
    values[:, start : start + 3] = [600.0, 280.0, 120.0]
    note = "blood=other is 12% of blood: check the spelling of the categories"
    assert replace(release, values=values).notes() == [note]


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_frames_keep_types(library: str) -> None:
    """Both kinds of frame have the keys first, with their types, and all rows."""
    days = [(dt.date(2026, 1, 1), 1), (dt.date(2026, 1, 2), None), (None, 2)]
    release = made(days, (By("day"), By("shop")))
    frame = getattr(release, f"to_{library}")()
    assert list(frame.columns) == ["day", "shop", *COLUMNS]
    for title, expected in release.columns().items():
        assert frame[title].to_list() == expected.tolist()
        assert [type(each) for each in frame[title].to_list()] == [*map(type, expected.tolist())]
    mixed = getattr(made(((1,), ("other",))), f"to_{library}")()
    assert set(mixed["region"]) == {"1", "other"}


def test_it_can_be_pickled() -> None:
    """A pickled release comes back with the same values and conclusions."""
    release = made(EVERY_TYPE, people=PEOPLE)
    again = pickle.loads(pickle.dumps(release))
    assert again.to_json() == release.to_json()
    assert again[True].values.tolist() == release[True].values.tolist()
