"""Releases by group, from rows to files: on the command line, from a spec and in Python."""

import csv
import datetime as dt
import io
import json
from pathlib import Path
from typing import Any

import dp_accounting
import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.design import candidates
from halfnoise.privacy.account import Account
from support.commands import EXACT, run, write_survey

FREE = hn.GaussianDP(mu=1e6)  # noise is then below 1e-3
NO_PLACES = ("localtime", "LocalTime", "posixrules", "Factory", "right/Europe/Berlin", "posix/UTC")
DELTA = {"groups": "discover", "discover_delta": 1e-7}
PEOPLE = pl.DataFrame(
    {
        "who": [1, 1, 2, 2, 3, 4, 5, None],
        "region": ["n", "s", "s", "s", None, "x", "n", "n"],
        "sex": ["f", "f", "m", "f", "f", "m", None, "f"],
        "day": [dt.date(2026, 1, d) for d in range(1, 8)] + [None],
        "a": [True, False, False, True, True, True, False, True],
        "v": [5, 7, 3, 4, None, 2, 1, 9],
    }
)
# Nobody alone in a group is ever found, so here is everybody twice.
TWICE = pl.concat([PEOPLE, PEOPLE.with_columns(pl.col("who") + 10)])
QUERIES: list[Any] = [hn.Count("a"), hn.Sum("v", bounds=(0, 10)), hn.Choice("sex", ["f", "m"])]


def released(**said: Any) -> hn.GroupedRelease:
    """Release the table with next to no noise."""
    data = said.pop("data", PEOPLE)
    given: dict[str, Any] = {"unit": "who", "privacy": FREE} | said
    found = hn.release(data, QUERIES, **given)
    assert isinstance(found, hn.GroupedRelease)
    return found


def shown(found: hn.GroupedRelease) -> dict[Any, tuple[int, ...]]:
    """Return size, count and sum of each group, without their noise."""
    return {
        key: tuple(round(one[name].estimate) for name in ("number of people", "a", "v"))
        for key, one in found.items()
    }


def test_each_person_in_one_group() -> None:
    """People are in the first of the listed groups that they name, by their rows in it."""
    found = shown(released(by="region", groups=["s", "n"]))
    assert found == {"s": (2, 1, 14), "n": (1, 0, 1), "other": (2, 2, 2)}
    turned = shown(released(by="region", groups=["n", "s"]))
    assert turned == {"n": (2, 1, 6), "s": (1, 1, 7), "other": (2, 2, 2)}
    alone = shown(released(by="region", groups=["n", "empty", None], other=None))
    assert alone == {"n": (2, 1, 6), "empty": (0, 0, 0), None: (1, 1, 0)}


def test_people_in_several_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person counts once in each of so many groups, and once among all people."""
    monkeypatch.setattr(candidates, "FITTED", ())  # which does not give all people
    found = released(by="region", groups=["n", "s"], max_groups=2)
    assert shown(found) == {"n": (2, 1, 6), "s": (2, 1, 14), "other": (2, 2, 2)}
    total = found.total(["n", "s"])
    assert round(total["a"].estimate) == 2
    assert any("once in each" in note for note in total.notes())
    found = released(by="region", groups=["n", "s"], max_groups=3)
    assert found.facts["design"]["name"] == "two-level-gaussian"
    assert found.size is not None
    assert round(found.size.estimate) == 5


def test_several_columns() -> None:
    """Of several columns all combinations, or those that are listed."""
    product = released(by=["region", "sex"], groups=[["n", "s"], ["f", "m"]])
    assert list(product) == [
        *(("n", "f"), ("n", "m"), ("s", "f"), ("s", "m")),
        ("other", "other"),
    ]
    assert round(product["s", "f"]["a"].estimate) == 1
    assert product["other"].size == product["other", "other"].size
    mapping = released(by=["region", "sex"], groups={"sex": ["f", "m"], "region": ["n", "s"]})
    assert list(mapping) == list(product)
    some = released(by=["region", "sex"], groups=[("n", "f"), ("n", None)], other=None)
    assert shown(some) == {("n", "f"): (1, 1, 5), ("n", None): (1, 0, 1)}


def test_days() -> None:
    """Days go by day, month or year."""
    by_day = released(by="day", groups=[dt.date(2026, 1, 7), "2026-01-01"])
    assert list(by_day) == [dt.date(2026, 1, 7), "2026-01-01", "other"]
    assert round(by_day["2026-01-01"]["v"].estimate) == 5
    month = released(by=hn.By("day", every="month"), groups=["2026-01", "2026-02"])
    assert [round(one["a"].estimate) for _, one in month.items()] == [4, 0, 0]
    year = released(by=hn.By("day", every="year"), **DELTA)
    assert list(year) == [2026]


def test_bands_are_known() -> None:
    """Bands of a number need no list, alone and beside other columns; a plan knows how many."""
    by = hn.By("v", bands=[2, 5], missing=[7])
    assert shown(released(by=by)) == {
        "2 to 5": (2, 2, 9),
        "5 and over": (1, 1, 5),
        "other": (2, 1, 1),
    }
    assert list(released(by=by, groups=["5 and over"], other=None)) == ["5 and over"]
    both = released(by=["sex", by], groups=["f"])
    assert list(both) == [("f", "2 to 5"), ("f", "5 and over"), ("other", "other")]
    assert list(released(by=["sex", by], groups={"sex": ["f"]})) == list(both)
    planned = hn.plan(QUERIES, by=["sex", by], groups=["f", "m"], privacy=FREE)
    assert planned.to_dict()["groups"] == 5
    with pytest.raises(hn.InvalidParameterError, match="bands of 'v' are known"):
        released(by=by, **DELTA)
    with pytest.raises(hn.InvalidParameterError, match="one of its bands, '2 to 5', '5 and over'"):
        released(by=by, groups=["2 to 4"])


def test_listed_in_one_column_and_found_in_another() -> None:
    """What is not listed is other, or left out; groups come in the order of the list."""
    said: dict[str, Any] = {"data": TWICE, "by": ["region", "sex"], "discover_delta": 1e-7}
    groups = {"region": ["s", "n"], "sex": "discover"}
    found = released(**said, groups=groups)
    assert shown(found) == {
        ("s", "f"): (4, 2, 22),
        ("n", None): (2, 0, 2),
        ("other", "f"): (2, 2, 0),
        ("other", "m"): (2, 2, 4),
    }
    assert list(found) == [("s", "f"), ("n", None), ("other", "f"), ("other", "m")]
    assert found.discovered
    left = released(**said, groups=groups, other=None, max_groups=2)
    assert {key[0] for key in left} == {"s", "n"}


def test_rows_without_a_key_have_a_name() -> None:
    """They are a group of that name, with those who say just that, listed or found."""
    listed = released(by="region", groups=["n"], missing_group="x")
    assert shown(listed) == {"n": (2, 1, 6), "x": (2, 2, 2), "other": (1, 1, 7)}
    assert list(released(data=TWICE, by="region", **DELTA, missing_group="x")) == ["n", "s", "x"]
    pairs = [("n", "none"), ("x", "none")]
    both = released(by=["region", "sex"], groups=pairs, missing_group="none")
    assert list(both) == [("n", "none"), ("x", "none"), ("other", "other")]
    for name in ("", "7 up", "-inf", "True", "other", "2 to 5"):
        with pytest.raises(hn.InvalidParameterError, match="missing_group must be"):
            released(by=hn.By("v", bands=[2, 5]), missing_group=name)
    with pytest.raises(hn.InvalidParameterError, match="go with groups"):
        released(missing_group="x")


def test_new_groups_on_the_command_line(tmp_path: Path) -> None:
    """Bands, zones and lists beside discovering read the same in words, and from a saved spec."""
    survey, spec = write_survey(tmp_path), tmp_path / "a.toml"
    words = ["--count", "smoker", "--unit", "person_id", "--by", "blood,age:bands:0,18.5,65"]
    words += ["--by", "day:week:Europe/Berlin", "--groups", "A,B", "--groups", "discover"]
    words += ["--missing", "-99", "--missing-group", "none", "--epsilon", "1", "--delta", "1e-6"]
    ran = run("release", survey, *words, "--dry-run", "--save-spec", spec)
    assert "Groups by blood, age:bands:0,18.5,65, day:week:Europe/Berlin: those in the" in ran.out
    assert "of blood 'A', 'B', None, everything else in 'other'; of age '0 to 18.5'" in ran.out
    again = run("release", survey, "--spec", spec, "--dry-run")
    assert (again.status, again.out) == (0, ran.out)
    for by, said in (
        ("day:fortnight", "for a number day:bands:0,18,65, got 'day:fortnight'"),
        ("day:week:Europe/Bonn", "a time zone such as Europe/Berlin, got 'Europe/Bonn'"),
        *((f"day:week:{zone}", f"the same on every machine, got '{zone}'") for zone in NO_PLACES),
        ("age:bands:0,x", "x"),
        ("age:bands:5,1", "rising order"),
    ):
        ran = run("plan", survey, *words[:4], "--by", by, "--groups", "A", "--epsilon", "1")
        assert ran.status == 2
        assert said in ran.err


def test_found_groups_come_back_sorted() -> None:
    """Keys come back as they went in, what is missing last."""
    found = released(data=TWICE, by="region", max_groups=2, **DELTA)
    assert list(found) == ["n", "s", "x", None]
    assert shown(found)["n"] == (4, 2, 12)
    days = released(data=TWICE, by="day", **DELTA)
    assert list(days) == sorted(set(PEOPLE["day"][[0, 2, 4, 5, 6]]))
    assert list(released(by="a", **DELTA)) == [False, True]
    assert list(released(data=TWICE, by="v", **DELTA)) == [1, 2, 3, 5, None]


def test_a_new_key_changes_no_word() -> None:
    """Two tables that differ by one key give the same errors, messages and order."""
    keys = ["b"] * 400 + ["a"] * 500
    told = []
    for extra in ([], ["0"], [None], ["zz"]):
        table = pl.DataFrame({"key": [*keys, *extra]}).with_columns(a=pl.lit(1))
        found = hn.release(
            table,
            [hn.Count("a"), hn.Sum("a", bounds=(0, 3), name="s")],
            row_is_person=True,
            by="key",
            groups="discover",
            privacy=hn.ApproxDP(epsilon=1, delta=1e-6),
        )
        stds = [(each.name, each.std) for key in ("a", "b") for each in found[key]]
        said = (found.promises(), found.notes(), found.facts, found.guarantee)
        told.append((list(found), stds, said, len(found.table().splitlines())))
    assert all(each == told[0] for each in told)
    assert told[0][0] == ["a", "b"]


def test_the_guarantee_of_discovering() -> None:
    """It is a pair, in the value, in JSON and as an event; nothing says mu or rho alone."""
    found = released(by="region", **DELTA | {"privacy": hn.GaussianDP(mu=1)})
    guarantee = found.guarantee
    assert isinstance(guarantee, hn.DiscoveryDP)
    assert not hasattr(guarantee, "mu")
    said = json.loads(found.to_json())["guarantee"]
    assert 0 < said["discover_delta"] <= 1e-7
    assert "rho" not in said
    event = found.dp_event()
    assert len(event.events) == 2
    # Steps of 1e-3 are accurate to 1e-6 here, and ten times as fast as those of 1e-4.
    accountant = dp_accounting.pld.PLDAccountant(value_discretization_interval=1e-3)
    accountant.compose(event)
    assert accountant.get_epsilon(1e-6) == pytest.approx(guarantee.epsilon(1e-6), rel=1e-3)
    assert f"{guarantee.delta:.3g}" in " ".join(found.promises())


@pytest.mark.parametrize("share", [None, 9e-7])
@pytest.mark.parametrize("counts", [1, 20])
def test_noise_and_discovering_share_one_delta(counts: int, share: float | None) -> None:
    """What was asked holds for both together, with Laplace and with Gaussian noise."""
    asked = hn.ApproxDP(epsilon=1, delta=1e-6)
    queries = [hn.Count("a", name=f"a{i}") for i in range(counts)]
    found = hn.release(
        PEOPLE,
        queries,
        unit="who",
        by="region",
        groups="discover",
        discover_delta=share,
        privacy=asked,
    )
    guarantee = found.guarantee
    assert isinstance(guarantee, hn.DiscoveryDP)
    assert isinstance(guarantee.kept, hn.GaussianDP if counts > 1 else hn.PureDP)
    assert guarantee.delta <= (share or 1e-7)
    assert guarantee.delta_at(1) <= 1e-6
    assert guarantee.epsilon(1e-6) <= 1


def test_the_ledger_is_charged_the_pair(tmp_path: Path) -> None:
    """What discovering costs is charged with the noise."""
    book = hn.Ledger.create(tmp_path / "book.ledger", unit="who")
    found = released(by="region", ledger=book, **DELTA | {"privacy": hn.GaussianDP(mu=1)})
    assert book.history().spent == Account.of(found.guarantee)


@pytest.mark.parametrize(
    ("column", "groups", "said"),
    [
        ("v", [1, "1"], "the groups 1 and '1' are the same"),
        ("v", [1, 1.0], "the groups 1 and 1.0 are the same"),
        ("v", ["one"], "a group by 'v' must be a whole number"),
        ("v", [1.5], "a group by 'v' must be a whole number"),
        ("region", [1, "1"], "the groups 1 and '1' are the same"),
        ("region", ["n", " n"], "the groups 'n' and ' n' are the same"),
        ("a", ["maybe"], "a group by 'a' must be true or false"),
        ("a", [True, "TRUE"], "the groups True and 'TRUE' are the same"),
        ("day", ["2026-13-01"], "a group by 'day' must be a day such as 2026-11-15"),
        ("day", [dt.date(2026, 1, 1), "2026-01-01"], "are the same"),
        (hn.By("day", every="month"), [dt.date(2026, 1, 10)], "a month such as 2026-11"),
        (hn.By("day", every="year"), [dt.date(2026, 2, 1)], "a year such as 2026"),
        ("region", {"n", "s"}, "a list, as its order counts"),
        ("region", "north", "a list, as its order counts"),
        ("nowhere", ["n"], "there is no column 'nowhere'"),
    ],
)
def test_keys_are_read_by_the_type_of_their_column(column: Any, groups: Any, said: str) -> None:
    """What a column cannot hold, and what is listed twice, is refused before a row is read."""
    with pytest.raises(hn.InvalidParameterError) as refused:
        released(by=column, groups=groups)
    assert said in str(refused.value)


def test_keys_that_only_look_the_same() -> None:
    """In a column of text 1 and 1.0 are two keys."""
    found = released(by="region", groups=[1, 1.0])
    assert [repr(key) for key in found] == ["1", "1.0", "'other'"]


@pytest.mark.parametrize("privacy", [hn.PureDP(epsilon=1), hn.ApproxDP(epsilon=1, delta=1e-6)])
@pytest.mark.parametrize("query", [hn.Count("a"), hn.Sum("v", bounds=(-1, 1))])
@pytest.mark.parametrize("neighbors", list(hn.Neighbors))
def test_groups_come_with_their_sizes(privacy: Any, query: Any, neighbors: hn.Neighbors) -> None:
    """Also where nothing leans on the number of people, and no interest in it was stated."""
    found = hn.release(
        PEOPLE,
        [query],
        unit="who",
        by="region",
        groups=["n", "s"],
        neighbors=neighbors,
        privacy=privacy,
    )
    assert all(one.size is not None for _, one in found.items())


def test_sizes_can_be_left_out() -> None:
    """Where they cost accuracy, and only counts are wanted, the counts get all of it."""
    workload = hn.Workload([hn.Count("a")], by="region", groups=["n"])
    few = hn.Workload([hn.Count("a")], by="region", groups=["n"], group_sizes=False)
    pure = hn.PureDP(epsilon=1)
    with_sizes, without = (hn.plan(each, privacy=pure).chosen for each in (workload, few))
    assert with_sizes.size_std is not None
    assert without.size_std is None
    assert without.query_std[0] < with_sizes.query_std[0]
    ran = run("plan", "--count=a", "--by=r", "--groups=x", "--epsilon=1", "--no-group-sizes")
    assert "Chosen (*): standard-laplace." in ran.out


def test_what_to_check_is_said() -> None:
    """Misspelled groups, people in several groups, and thresholds are told beside the table."""
    wrong = " ".join(released(by="region", groups=["N", "S"]).notes())
    assert "other is 100% of all people: check the spelling of the groups" in wrong
    right = " ".join(released(by="region", groups=["n", "s"]).notes())
    assert "spelling of the groups" not in right
    assert "counts in one of them alone: the one that is first in the list" in right
    alone = " ".join(released(by="region", groups=["n"], unit=None, row_is_person=True).notes())
    assert "several groups" not in alone
    nobody = released(data=PEOPLE[:0], by="region", **DELTA)
    assert "No group reached it." in " ".join(nobody.notes())
    found = " ".join(released(by="region", **DELTA).notes())
    assert "No group" not in found
    assert "The threshold: " in found
    assert "the one with the smallest key" in found
    assert "have no key" not in found
    unread = released(
        data=PEOPLE.with_columns(region=pl.lit(None, pl.String)), by="region", **DELTA
    )
    assert "100% of all people have no key: check the columns" in " ".join(unread.notes())


def test_a_table_is_a_mapping() -> None:
    """It can be turned into a dictionary of releases; a key that is nearly right is guessed."""
    found = released(by="region", groups=["north", "s"])
    assert list(dict(found)) == ["north", "s", "other"]
    with pytest.raises(hn.InvalidParameterError, match="did you mean 'north'"):
        found["nroth"]


def test_numbers_of_numpy_are_keys() -> None:
    """Keys may come from an array."""
    found = released(by="v", groups=np.array([5, 3]), other=None)
    assert [(type(key), key) for key in found] == [(int, 5), (int, 3)]


def test_names_of_others() -> None:
    """The others need a name of their own; where "other" is listed, they join it."""
    found = released(by="region", groups=["other", "n"])
    assert list(found) == ["n", "other"]
    with pytest.raises(hn.InvalidParameterError, match="another name than that of a listed group"):
        released(by="region", groups=["n", "s"], other="n")
    with pytest.raises(hn.InvalidParameterError, match="left out where groups are discovered"):
        released(by="region", other="rest", **DELTA)


def test_a_row_is_in_one_group() -> None:
    """Where each row is a person, nobody is in several groups."""
    with pytest.raises(hn.InvalidParameterError, match="max_groups must be 1 where each row"):
        released(by="region", groups=["n"], max_groups=2, unit=None, row_is_person=True)


def test_moments_need_a_span() -> None:
    """A moment is no group; a day, a month or a year is."""
    moments = TWICE.with_columns(pl.col("day").cast(pl.Datetime("us")))
    with pytest.raises(hn.InvalidParameterError, match="need a span of time"):
        released(data=moments, by="day", **DELTA)
    found = released(data=moments, by=hn.By("day", every="day"), **DELTA)
    assert dt.date(2026, 1, 1) in list(found)


def rows(text: str) -> list[dict[str, str]]:
    """Read a printed table."""
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def counted(text: str, *keys: str) -> dict[tuple[str, ...], int]:
    """Return the count of smokers by key from a printed table."""
    return {
        tuple(row[key] for key in keys): round(float(row["estimate"]))
        for row in rows(text)
        if row["name"] == "smoker"
    }


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are listed, read from a file, discovered, or combined; a spec says the same."""
    write_survey(tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("list.txt").write_text("B\nA\n", encoding="utf-8")
    Path("pairs.txt").write_text("A,70\nA,80\n", encoding="utf-8")
    ask = ("release", "survey.csv", "--count", "smoker", *EXACT)
    ran = run(*ask, "--by", "blood", "--groups", "A,B", "--save-spec", "spec.toml")
    assert counted(ran.out, "blood") == {("A",): 2, ("B",): 0, ("other",): 2}
    spec = run("release", "survey.csv", "--spec", "spec.toml")
    assert counted(spec.out, "blood") == counted(ran.out, "blood")
    listed = run(*ask, "--by", "blood", "--groups", "@list.txt", "--other", "none")
    assert counted(listed.out, "blood") == {("B",): 0, ("A",): 2}
    pairs = run(*ask, "--by", "blood,age", "--groups", "@pairs.txt", "--other", "rest")
    assert counted(pairs.out, "blood", "age") == {
        ("A", "70"): 1,
        ("A", "80"): 1,
        ("rest", "rest"): 2,
    }
    both = run(*ask, "--by", "blood", "--by", "day:month", "--groups=A", "--groups=2026-01,2026-06")
    assert counted(both.out, "blood", "day") == {
        ("A", "2026-01"): 1,
        ("A", "2026-06"): 1,
        ("other", "other"): 2,
    }
    quoted = run(*ask, "--by", "blood", "--groups", 'A,"B, or C"', "--save-spec", "quoted.toml")
    assert list(counted(quoted.out, "blood")) == [("A",), ("B, or C",), ("other",)]
    again = run("release", "survey.csv", "--spec", "quoted.toml")
    assert counted(again.out, "blood") == counted(quoted.out, "blood")
    Path("nested.toml").write_text(
        'count = "smoker"\nunit = "person_id"\nmu = 1e6\nby = ["blood", "age"]\n'
        'groups = [["A", "B"], [70, 30]]\n',
        encoding="utf-8",
    )
    nested = run("release", "survey.csv", "--spec", "nested.toml")
    assert list(counted(nested.out, "blood", "age"))[:2] == [("A", "70"), ("A", "30")]
    discover = ("--by", "day:year", "--groups", "discover", "--discover-delta", "1e-7")
    found = run(*ask, *discover, "--out", "found.json")
    assert found.status == 0
    (group,) = json.loads(Path("found.json").read_text(encoding="utf-8"))["groups"]
    assert group["key"] == {"day": 2026}
    assert run("plan", *ask[2:], *discover).status == 0
    dry = run(*ask, *discover, "--dry-run")
    assert "Groups by day:year: those in the data" in dry.out
    assert "A group shows if its noisy number of people is at least" in dry.out
