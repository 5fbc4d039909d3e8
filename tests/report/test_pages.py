"""A release as a page: what stands on it, that it is harmless, and that it can be read back."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.report import charts, page
from halfnoise.report.page import POLICY
from halfnoise.report.parts import parts
from halfnoise.results import reliability
from halfnoise.results.release import Released
from halfnoise.results.shown import places
from support.grouped import EVERY_TYPE, PEOPLE, WORKLOAD, made, two_level
from support.pages import Page, number
from support.surveys import SURVEYS
from support.tabled import by_group, everything, known

MU = hn.GaussianDP(mu=1)
# What a browser might take for more than a name.
ODD = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</script><!--", "a\nb", "c\rd",
    "&amp;&lt;", "\u202eevil\u202c", "שלום", "=cmd()", "'quote'", "</th></table>", "-->",
    "x\u2028y",
)  # fmt: skip
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "footer"),
    *("h1", "h2", "h3", "p", "strong", "div", "ul", "li", "dl", "dt", "dd", "code", "pre", "bdi"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "script", "figure", "figcaption"),
    *("svg", "g", "path", "line", "text", "circle"),
}


def small(*queries: Any) -> Any:
    """Return a release with Laplace noise, which leaves out the number of people."""
    frame = pl.DataFrame({"a": [True, False] * 50, "x": [0.5] * 100})
    privacy = hn.PureDP(epsilon=1)
    found = hn.release(frame, queries, row_is_person=True, privacy=privacy)
    assert found.size is None
    return found


def odd_release() -> hn.Release:
    """Return a release whose names are all odd."""
    frame = pl.DataFrame({name: [True, False] * 50 for name in ODD} | {"who": ["x"] * 100})
    choice = hn.Choice("who", list(ODD), name="<b>who</b>")
    counts = [hn.Count(name) for name in ODD]
    found = hn.release(frame, [*counts, choice], row_is_person=True, privacy=MU, size_importance=1)
    assert isinstance(found, hn.Release)
    return found


RELEASES: dict[str, Any] = SURVEYS | {
    "tables": everything,
    "rounded tables": lambda: everything().rounded(),
    "a known size": known,
    "tables by group": by_group,
    "groups": made,
    "rounded groups": lambda: made().rounded(),
    "one group": lambda: made()["north"],
    "a total": lambda: made(most=2).total(),
    "keys of every type": lambda: made(EVERY_TYPE),
    "no group": lambda: made((), discovered=True),
    "all people": lambda: made(people=PEOPLE),
    "noise in common": two_level,
    "no number of people": lambda: small(hn.Count("a"), hn.Mean("x", bounds=(0, 1))),
    "a sum alone": lambda: small(hn.Sum("x", bounds=(0, 1))),
    "odd names": odd_release,
    "odd keys": lambda: made([(name,) for name in ODD], (hn.By("<i>"),)),
    "pure epsilon": lambda: made(privacy=hn.PureDP(epsilon=1)),
    "months": lambda: made([(f"2026-{m:02}",) for m in range(1, 13)], (hn.By("m", every="month"),)),
}


@pytest.mark.parametrize("name", RELEASES)
def test_a_page_reads_back_equal(name: str, tmp_path: Path) -> None:
    """The release inside its page is the one that was put there; and so is that of JSON."""
    release: Released = RELEASES[name]()
    for ending, text in ((".html", release.to_html(charts=False)), (".json", release.to_json())):
        path = tmp_path / f"table{ending}"
        path.write_text(text, encoding="utf-8")
        again = hn.read(path)
        assert type(again) is type(release)
        assert again.to_json() == release.to_json()
        assert again.to_html(charts=False) == release.to_html(charts=False)


@pytest.mark.parametrize("name", RELEASES)
def test_a_page_is_whole_and_harmless(name: str) -> None:
    """Elements fit together, none is unknown, nothing runs, and nothing is fetched."""
    release: Released = RELEASES[name]()
    seen = Page(release.to_html(charts=name in ("odd names", "odd keys")))
    assert {tag for tag, _ in seen.elements} <= ELEMENTS
    scripts = [said for tag, said in seen.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "halfnoise-release"}]
    allowed = ("xmlns", "xmlns:xlink")  # names of standards
    for _, said in seen.elements:
        assert not any(
            word.startswith("on") or word in ("src", "href", "xlink:href") for word in said
        )
        assert not any(
            "url(" in str(v) or "//" in str(v) for k, v in said.items() if k not in allowed
        )
    assert ("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}) in seen.elements
    assert seen.headings[1] == "Numbers"
    assert seen.headings.count("How people are protected") == 1
    ids = [said["id"] for _, said in seen.elements if "id" in said]
    assert len(ids) == len({*ids})


def test_odd_names_are_shown_as_they_are() -> None:
    """Each odd name is the header of a row, letter by letter; of keys as well."""
    heads = [heads[0] for heads, _ in Page(odd_release().to_html(charts=False)).tables[0].rows]
    assert heads[1:] == [*ODD]
    grouped = Page(RELEASES["odd keys"]().to_html(charts=False))
    assert [heads[0] for heads, _ in grouped.tables[0].rows] == [*ODD]
    assert grouped.tables[0].titles[0] == "<i>"
    notebook = Page(odd_release()._repr_html_())
    assert [heads[0] for heads, _ in notebook.tables[0].rows[1:]] == [*ODD]
    assert not [tag for tag, _ in notebook.elements if tag in ("script", "img", "i", "b")]
    assert "\0" not in hn.release(
        pl.DataFrame({"a\0b": [True]}), [hn.Count("a\0b")], row_is_person=True, privacy=MU
    ).to_html(charts=False)


def held(text: str, x: float, std: float, kind: str, *, factor: float = 1.0) -> None:
    """Hold that a text is a number of the JSON, rounded no further than its error supports."""
    at = places(factor * std, kind)
    assert math.isclose(number(text), factor * x, abs_tol=0.5 * 10.0 ** -(at or 0) + 1e-9), text
    if kind in ("size", "count"):
        assert "." not in text


def rows_of(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what JSON says of one table, by name."""
    size = (
        []
        if found["size"] is None
        else [found["size"] | {"name": "number of people", "kind": "size"}]
    )
    return {row["name"]: row for row in (*size, *found["queries"])}


def test_every_number_of_a_list_is_that_of_the_json() -> None:
    """Estimates and both ends of intervals stand on the page as in the JSON, rounded."""
    release = made()["north"]
    stored, seen = rows_of(json.loads(release.to_json())), Page(release.to_html(charts=False))
    checked = set[str]()
    for table in seen.tables:
        prefix = f"{table.label}=" if table.label == "blood" else ""
        for (head,), cells in table.rows:
            names = [prefix + head]
            names += [f"{head} answered"] if table.label == "Means" else []
            for i, name in enumerate(names):
                row, (x, ends, relative) = stored[name], cells[3 * i : 3 * i + 3]
                checked.add(name)
                assert relative == reliability.said(row["std"] / abs(row["estimate"]))
                for text, word in zip(
                    (x, *ends.split(" to ")), ("estimate", "low", "high"), strict=True
                ):
                    held(text, row[word], row["std"], row["kind"])
            if table.titles[4:5] == ["share of people"] and cells[3]:
                share = release.share(prefix + head)
                held(cells[3], share.estimate, share.std, "share", factor=100)
                assert cells[5] == reliability.said(share.std / share.estimate)
    assert checked == {*stored} - {"age sum"}


def test_every_number_by_group_is_that_of_the_json() -> None:
    """The same in each group, however the table is turned."""
    for keys in ([("north",), ("south",)], [(f"g{i}",) for i in range(30)]):
        release = made(keys)
        seen, checked = Page(release.to_html(charts=False)), 0
        stored = {g["key"]["region"]: rows_of(g) for g in json.loads(release.to_json())["groups"]}
        for table in seen.tables:
            if "per" in table.label.split(", ")[-1]:  # shares and what there is per person
                continue
            prefix = "blood=" if table.label.startswith("blood") else ""
            for (head,), cells in table.rows:
                for title, text in zip(table.titles[1:], cells, strict=True):
                    turned = head not in stored
                    group, name = (title, head) if turned else (head, title)
                    name = {"mean": "age", "answered": "age answered"}.get(name, prefix + name)
                    if not name.endswith(("interval", "RSE")):
                        row = stored[group][name]
                        held(text, row["estimate"], row["std"], row["kind"])
                        checked += 1
        assert checked == len(keys) * (len(release.names) + 1)


def test_every_cell_of_a_table_is_that_of_the_json() -> None:
    """People in tables are those of the rounded JSON, which add up; means and sums are rounded."""
    release = everything()
    seen, whole = (
        Page(release.to_html(charts=False)),
        rows_of(json.loads(release.rounded().to_json())),
    )
    exact = rows_of(json.loads(release.to_json()))
    people = seen.table("People by sex, age, region, people")
    for (sex, age), cells in people.rows[:-1]:
        for region, text in zip(people.titles[2:-1], cells, strict=False):
            assert number(text) == whole[f"sex={sex}, age={age}, region={region}"]["estimate"]
        assert number(cells[-1]) == whole[f"sex={sex}, age={age}"]["estimate"]
    assert number(people.rows[-1][1][-1]) == whole["number of people"]["estimate"]
    income = seen.table("Mean of income by sex, region")
    for (sex,), cells in income.rows[:-1]:
        for region, text in zip(income.titles[1:-1], cells, strict=False):
            row = exact[f"income, sex={sex}, region={region}"]
            held(text, row["estimate"], row["std"], "mean")
    shares = seen.table("People by sex, age, region, in per cent of each row")
    table = release.table("sex", "age", "region").shares("row")
    for (sex, age), cells in shares.rows:
        for region, text in zip(shares.titles[2:], cells, strict=True):
            share = table[sex, age, region]
            if text == "\N{EN DASH}":
                assert (share.low, share.high) == (0.0, 1.0)
            else:
                held(text, share.estimate, share.std, "share", factor=100)


def test_how_people_are_protected_is_said() -> None:
    """The best guess, who is one person, and what is hidden; what margins cover; the making."""
    release = made()["north"]
    said = "\n".join(Page(release.to_html(charts=False)).words)
    assert "Each row of the data is one person." in said
    assert "right in at most 69.2% of cases" in said
    assert "whether that person is in the data at all" in said
    assert "not who was asked or how they answered" in said
    assert "visits: the sum over people, each value kept within 0 to 20" in said
    facts = {**release.facts, "unit": ["id", "wave"], "where": ["age at least 18"]}
    facts["design"] = {**release.facts["design"], "neighbors": "replace"}
    changed = replace(release, facts=facts | {"spec": 'count = ["<a>"]'})
    said = "\n".join(Page(changed.to_html(charts=False, title="Ours")).words)
    assert "All rows with the same id and wave are one person." in said
    assert "what that person answered" in said
    assert "In the table: only rows with age at least 18" in said
    assert "count = [&quot;&lt;a&gt;&quot;]" in changed.to_html(charts=False)
    assert Page(changed.to_html(charts=False, title="Ours")).headings[0] == "Ours"


def test_the_same_release_gives_the_same_page() -> None:
    """Nothing in a page depends on when or where it is made: a name returns the same bytes."""
    release = made()
    assert release.to_html() == release.to_html()


def test_charts_have_words() -> None:
    """Each chart says what it shows to whoever cannot see it; without them the page is whole."""
    release = made()
    seen = Page(release.to_html())
    drawn = [said for tag, said in seen.elements if tag == "svg"]
    assert len(drawn) > 8
    assert all(said["role"] == "img" and len(str(said["aria-label"])) > 40 for said in drawn)
    without = Page(release.to_html(charts=False))
    assert [tag for tag, _ in without.elements].count("svg") == 1  # the best guess
    assert without.tables == seen.tables
    for colour in charts.ON_PAGE:
        assert colour not in release.to_html()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be drawn the page has no charts; who insists is told what is missing."""
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setattr(page, "can_draw", lambda: False)
    release = made()
    assert release.to_html() == release.to_html(charts=False)
    with pytest.raises(hn.MissingExtraError, match="pip install altair vl-convert-python"):
        made().to_html(charts=True)
    with pytest.raises(hn.MissingExtraError, match="vl-convert-python"):
        made().plot()
    assert made()._repr_html_()


def test_a_chart_that_fails_costs_no_page(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """What was paid for is written, be it without charts; who insists sees what went wrong."""

    def broken(*_: object) -> str:
        raise RuntimeError

    monkeypatch.setattr(page, "svg", broken)
    release = made()
    assert release.to_html() == release.to_html(charts=False)
    assert "left out of the page" in caplog.text
    with pytest.raises(RuntimeError):
        made().to_html(charts=True)


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    """A page of somebody else, a page cut off, and what is not there, each in a sentence."""
    path = tmp_path / "a.html"
    for text in (
        "<!doctype html><p>Hello",
        "<html><script id='halfnoise-release'>{}</script>",
        "x",
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(hn.DataError, match=r"no release|not the JSON of a release"):
            hn.read(path)
    whole = made().to_html(charts=False)
    path.write_text(whole[: whole.index('"values"') + 100], encoding="utf-8")
    with pytest.raises(hn.DataError):
        hn.read(path)
    path.write_bytes(b"\xff\xfe")
    for wrong in (path, tmp_path, tmp_path / "nothing"):
        with pytest.raises(hn.DataError, match="could not be read"):
            hn.read(wrong)


def test_who_is_large_says_so_in_a_notebook() -> None:
    """A notebook shows the first rows and how many more there are; a page shows all."""
    release = made([(f"g{i}",) for i in range(250)], workload=WORKLOAD)
    assert "... and 50 more groups" in release._repr_html_()
    seen = Page(release.to_html(charts=False))
    assert len(seen.tables[0].rows) == 250


@pytest.mark.parametrize(
    ("name", "flag"), [("tables", 0.02), ("groups", 0.005), ("one group", 0.005)]
)
def test_what_is_left_out_is_on_no_chart(name: str, flag: float) -> None:
    """Tables mark what is not reliable; what is left out of them is not drawn either."""
    release: Any = RELEASES[name]()
    rule = release.flagged(flag, suppress=2 * flag)
    seen = Page(rule.to_html(charts=False))
    cells = [cell for table in seen.tables for _, row in table.rows for cell in row]
    assert ".." in cells
    assert any(cell.endswith("(a)") for cell in cells)
    told = f"Marks by relative standard error: (a) from {100 * flag:g}% on"
    assert any(told in each for each in seen.words)
    points = [point for part in parts(rule) for panel in part.panels for point in panel.points]
    every = [point for part in parts(release) for panel in part.panels for point in panel.points]
    shown = {cell.split(" ")[0].removesuffix("%") for cell in cells}
    assert 0 < len(points) < len(every)
    assert {point.said for point in points} <= shown
