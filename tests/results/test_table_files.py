import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.results import reading
from halfnoise.results.formats import FORMATS
from halfnoise.workload.question import CellNames, Question
from support.release_schema import VALIDATOR, strictly
from support.tabled import AXES, asked, by_group, everything, known, released

SORTS: list[Callable[[], Any]] = [
    everything,
    known,
    by_group,
    lambda: by_group().total(),
    lambda: everything().rounded(),
    lambda: everything().with_known_size(300),
]


@pytest.mark.parametrize("made", SORTS)
def test_json_comes_back_the_same(made: Any) -> None:
    """A release with tables read from its JSON writes the same, and concludes the same."""
    release = made()
    text = release.to_json()
    VALIDATOR.validate(strictly(text))
    again = hn.Release.from_json(text)
    assert again.to_json() == text
    assert repr(again) == repr(release)
    assert again.questions == release.questions
    assert again.errors == release.errors
    for ending in (".csv", ".md", ".jsonl"):
        assert FORMATS[ending](again) == FORMATS[ending](release)
    if isinstance(again, hn.Release):
        one, other = release.table("region", "sex"), again.table("region", "sex")
        assert np.array_equal(one.shares("row").numbers, other.shares("row").numbers)
        assert one.total(sex="s1") == other.total(sex="s1")


def test_names_are_not_written() -> None:
    """Of a table JSON holds the axes; of what is no table it is as it was."""
    stored = everything().to_dict()["values"]["questions"]
    for each in stored:
        if isinstance(each["names"], dict):
            assert {*each["names"]} == {"axes", "of"}
            assert "asked" in each
        else:
            assert {*each} == {"name", "kind", "start", "names", "bounds", "other"}


def test_names_are_found_by_their_parts() -> None:
    """Each name is found where it stands, marks in categories or not, and no other is."""
    odd = ("a", "a, b=c", "b=c", "", "=", ", ")
    names = CellNames((("x", odd), ("b", ("c", "c, b=c", "d"))), "s, x=a", "s")
    every = [names[i] for i in range(len(names))]
    assert names.listed() == every
    for name in every:
        assert every[names.index(name)] == name
    for name in ("", "s", "x=a, b=c", f"{every[0]}, b=c, ", 3, None):
        assert name not in names
        with pytest.raises(ValueError, match="not among"):
            names.index(name)
    first, last = every[0], every[-1]
    assert names.index(last, -1) == len(every) - 1
    with pytest.raises(ValueError, match="not among"):
        names.index(first, 1)
    assert list(names) == every
    assert names[-2:] == tuple(every[-2:])


def broken(way: list[Any], value: Any) -> dict[str, Any]:
    """Return the values of a release with tables in which one part is another."""
    found: dict[str, Any] = json.loads(everything().to_json())
    part: Any = found
    for each in way[:-1]:
        part = part[each]
    part[way[-1]] = value
    return found


QUESTIONS = ["values", "questions"]
FIRST = [*QUESTIONS, 1, "names"]  # the first table, by one axis
TABLES = ["values", "covariance", "tables"]
HOSTILE: list[tuple[list[Any], Any]] = [
    ([*FIRST, "axes"], []),
    ([*FIRST, "axes", 0, "categories"], ["s1", "other", "third"]),
    ([*FIRST, "axes", 0, "categories"], "s1"),
    ([*FIRST, "axes", 0, "categories"], []),
    ([*FIRST, "axes", 0, "categories"], [1, 2]),
    ([*FIRST, "axes", 0, "label"], 3),
    ([*FIRST, "axes", 0, "label"], "age"),  # as another is called
    ([*FIRST, "of"], ["a"]),
    ([*FIRST, "of"], "a"),
    (FIRST, ["sex=s1", "sex=other"]),
    ([*QUESTIONS, 1, "kind"], "sum"),
    ([*QUESTIONS, 1, "kind"], "choice"),
    ([*QUESTIONS, 1, "asked"], 1),
    ([*QUESTIONS, 0, "kind"], "table"),
    ([*QUESTIONS, 0, "asked"], False),
    ([*QUESTIONS, -1, "name"], "others"),  # whose total is missing then
    ([*TABLES, "start"], 0),
    ([*TABLES, "levels"], [2, 4, 3, 2]),
    ([*TABLES, "levels"], [2, 3, 4, 10**30]),
    ([*TABLES, "levels"], []),
    ([*TABLES, "order"], []),
    ([*TABLES, "order", 0], [0, [0, 0]]),
    ([*TABLES, "order", 0], [0, [9]]),
    ([*TABLES, "order", 0], [99, [0]]),
    ([*TABLES, "layers", 0, 0], [1, 2, 3]),
    ([*TABLES, "variances", 0, 0], 0),
    ([*TABLES, "variances", 0, 0], 1e300),
    ([*TABLES, "variances", 0], []),
    ([*TABLES, "loads", 0], [1.0]),
    ([*TABLES, "loads", 0, 0], 1e308),
    (["values", "estimates"], [1.0]),
    (["values", "covariance", "size"], 10**12),
]


@pytest.mark.parametrize(("way", "value"), HOSTILE)
def test_tables_that_are_none_are_refused(way: list[Any], value: Any) -> None:
    """A part that is of another kind, or does not go with the others, is refused."""
    with pytest.raises(hn.DataError, match="not the JSON of a release"):
        hn.Release.from_json(json.dumps(broken(way, value)))


def test_an_axis_has_one_label() -> None:
    """Tables of people whose axis is called otherwise than that of values are refused."""
    found = json.loads(everything().to_json())
    for question in found["values"]["questions"]:
        for axis in question["names"]["axes"] if question["kind"] == "table" else ():
            axis["label"] = axis["label"].replace("sex", "gender")
    with pytest.raises(hn.DataError):
        hn.Release.from_json(json.dumps(found))


def test_a_reader_that_does_not_compare_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes tables as they are said takes a label that is another's."""
    monkeypatch.setattr(reading, "_check_tables", lambda *_: None)
    text = json.dumps(broken([*FIRST, "axes", 0, "label"], "age"))
    assert isinstance(hn.Release.from_json(text), hn.Release)


def test_no_room_is_made_for_cells_that_are_not_there() -> None:
    """A few words that name very many cells are refused before anything is made of them."""
    found = by_group().to_dict()
    found["groups"] = found["values"]["keys"] = found["values"]["estimates"] = []
    assert not hn.Release.from_json(json.dumps(found))
    axes = [{"label": f"a{i}", "categories": [*map(str, range(1000))]} for i in range(4)]
    first = found["values"]["questions"][0]
    first["names"] = {"axes": axes, "of": []}
    found["values"]["questions"] = [first]
    found["values"]["covariance"]["size"] = 10**12 + 1
    found["values"]["covariance"]["tables"]["levels"] = [1000] * 4
    with pytest.raises(hn.DataError):
        hn.Release.from_json(json.dumps(found))


def test_long_tables_say_the_categories() -> None:
    """A column for each axis, where there are tables; all margins are there, each once."""
    release = everything()
    frame = release.to_pandas()
    assert [*frame.columns[:4]] == ["sex", "age", "region", "work"]
    assert [*frame["name"][1:]] == [each.name for each in release]
    assert frame["name"].is_unique
    row = frame.set_index("name").loc["sex=s1, age=a1, region=r2"]
    assert (row["sex"], row["age"], row["region"], row["kind"]) == ("s1", "a1", "r2", "table")
    assert row["work"] is None or row["work"] != row["work"]
    mean = frame.set_index("name").loc["income, sex=s1, region=r2"]
    assert (mean["sex"], mean["region"], mean["kind"]) == ("s1", "r2", "mean")
    assert mean["estimate"] == release["income, sex=s1, region=r2"].estimate
    for name, x, std in zip(frame["name"], frame["estimate"], frame["std"], strict=True):
        assert (x, std) == pytest.approx((release[name].estimate, release[name].std), rel=1e-12)
    assert release.to_arrow().column_names == [*frame.columns]
    assert [*release.to_polars()["sex"]][:2] == [None, None]
    alone = released([AXES["sex"], hn.Count("ill")]).to_pandas()
    assert [*alone.columns] == ["name", "kind", "estimate", "std", "low", "high"]
    grouped = by_group().to_pandas()
    assert [*grouped.columns[:3]] == ["work", "sex", "region"]
    written = FORMATS[".csv"](release).decode("utf-8-sig")
    assert len([*csv.reader(io.StringIO(written))]) == len(frame) + 1


def test_an_axis_may_be_called_as_a_column() -> None:
    """An axis with the title of another column gets another one."""
    axes = [hn.Choice("sex", ["s1"], name="name"), hn.Choice("age", ["a1"], name="std")]
    found = released([hn.Table(axes)])
    titles = [*found.to_pandas().columns]
    assert titles[:3] == ["name (axis)", "std (axis)", "name"]
    assert found.to_arrow().column_names == titles


def test_wide_frames() -> None:
    """Rows by the first axes, a column for each category of the last, totals at the ends."""
    table = everything().table("age", "sex", "region")
    frame = table.to_pandas()
    assert [*frame.columns] == ["age", "sex", "r1", "r2", "r3", "other", "total"]
    assert [*frame["age"]] == ["a1", "a1", "a2", "a2", "other", "other", "total"]
    assert np.allclose(frame.iloc[:6, 2:6], table.estimates.reshape(6, 4), rtol=1e-15)
    assert np.allclose(frame.iloc[:6, 2:6].sum(axis=1), frame["total"][:6])
    assert frame["total"].iloc[-1] == pytest.approx(everything().size.estimate)  # type: ignore[union-attr]
    assert table.to_polars().columns == table.to_arrow().column_names == [*frame.columns]
    assert isinstance(table.to_arrow(), pa.Table)
    one = everything().table("region", of="earned").to_pandas()
    assert [*one.columns] == ["region", "earned"]
    means = everything().table("sex", "region", of="income").to_pandas()
    assert means["total"].iloc[-1] == everything()["income"].estimate
    shares = table.shares("row").to_pandas()
    assert [*shares.columns] == ["age", "sex", "r1", "r2", "r3", "other"]
    odd = hn.Table([hn.Choice("sex", ["total"]), hn.Choice("age", ["sex", "total"])])
    assert len({*released([odd]).table("sex", "age").to_pandas().columns}) == 5


def test_what_was_asked_is_shown() -> None:
    """A list of what is no table, then asked tables as one reads them; margins are totals."""
    release = everything()
    shown = repr(release)
    head, *blocks = shown.split("\n\n")
    assert [line.split("  ")[0] for line in head.splitlines()[1:]] == ["number of people", "sick"]
    assert [block.splitlines()[0] for block in blocks[:-1]] == [
        "people by age,work",
        "people by sex,age,region",
        "mean of income by sex,region",
        "sum of earned by region",
        "count of ill by sex",
    ]
    assert "sex=s1" not in shown
    written = FORMATS[".md"](release).decode()
    assert written.count("\n**") == 5
    assert written.startswith("| name | kind | estimate |")
    assert "**people by sex,age,region**\n\n| sex | age | r1 |" in written
    assert release._repr_html_().count("<table>") == 8
    grouped = repr(by_group())
    assert "w0: people by sex,region" in grouped
    assert "other: mean of income by sex,region" in grouped
    assert FORMATS[".md"](by_group()).decode().count("\n**") == 8
    only = repr(released(asked([("sex", "age")])).with_known_size(300))
    assert "people by sex,age\n" in only


def test_wide_and_long_tables_fit_on_a_screen() -> None:
    """What is too wide for a terminal is shown line by line, and what is too long is cut off."""
    many = hn.Choice("region", [f"a long name {i:03}" for i in range(250)])
    release = released([hn.Table([AXES["sex"], many])])
    shown = repr(release.table("sex", "region"))
    assert max(map(len, shown.splitlines())) <= 120
    assert shown.splitlines()[1].split() == ["sex", "region", "people"]
    assert "\n...\n" in shown
    assert len(repr(release).splitlines()) < 250
    assert release.table("region", "sex").text(most=3).count("\n") == 6
    assert FORMATS[".md"](release).decode().count("a long name") == 250


def test_numbers_to_more_digits() -> None:
    """Whole numbers unless said otherwise."""
    table = everything().table("sex", "region")
    assert "." not in table.text().splitlines()[2]
    assert table.text(digits=2).splitlines()[2].count(".") == 5
    means = everything().table("sex", "region", of="income")
    assert means.text(digits=3).splitlines()[2].split()[1].split(".")[1].isdigit()


def test_doubts_are_not_of_cells() -> None:
    """That nobody is in a cell is nothing odd; that nobody answered at all is said once."""
    release = everything()
    silent = replace(release, values=np.where(np.arange(len(release.values)) < 2, 300.0, 0.0))
    assert sum("income" in note for note in silent.notes()) == 1
    assert not any("sex=" in note for note in silent.notes())


def test_much_other_is_said_of_tables_too() -> None:
    """An axis most of whose people are in no listed category is worth a note, once."""
    notes = everything().notes()
    assert sum(note.startswith("region=other is 2") for note in notes) == 1
    assert any("check the spelling" in note for note in notes)


def test_a_question_of_a_table_comes_back() -> None:
    """Through JSON it stays the same, and no name is made for it."""
    for question in everything().questions:
        assert Question.from_dict(json.loads(json.dumps(question.to_dict()))) == question


def test_a_table_as_one_reads_it_in_text() -> None:
    """CSV and Markdown of one table have its rows, columns and totals, and no formula starts."""
    table = everything().table("region", "sex")
    head, *lines = [*csv.reader(io.StringIO(table.to_csv()))]
    assert head == [*table.to_polars().columns]
    numbers = np.array([[float(x) for x in line[1:]] for line in lines])
    assert numbers[:-1, :-1] == pytest.approx(table.estimates)
    assert numbers[-1, :-1] == pytest.approx(table.estimates.sum(axis=0))
    shown = table.to_markdown(digits=1).splitlines()
    assert shown[0] == "**people by region,sex**"
    assert len(shown) == len(lines) + 6
    formula = hn.Table([hn.Choice("sex", ["=1+1"]), hn.Choice("region", ["@x"])])
    found = released([formula]).table("sex", "region").to_csv()
    assert not any(
        cell.startswith(("=", "@")) for row in csv.reader(io.StringIO(found)) for cell in row
    )


def test_text_stays_on_its_lines() -> None:
    """Line breaks and orders to a terminal in categories and names reach no screen."""
    odd = hn.Choice("region", ["日本\n語", "\x1b[31mred", "a\tb"], name="odd\x1b\nname")
    some = hn.Count("ill", where=hn.Where("sex", equals="x\n\x1b"))
    release = released([hn.Table([AXES["sex"], odd]), some])
    table = release.table("sex", odd.label)
    for shown in (str(release), str(table), str(table.shares("row"))):
        assert not {*shown} & {*"\x1b\t"}
        assert "日本 語" in shown
    assert len(str(table).splitlines()) == len(
        str(everything().table("sex", "region")).splitlines()
    )
