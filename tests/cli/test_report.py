"""Pages on the command line: from data, and from a release that is kept in a file."""

import json
from pathlib import Path

import pytest

import halfnoise as hn
from halfnoise.cli import outputs
from support.commands import EXACT, refused, run, write_survey
from support.pages import Page

WORDS = ("--count", "smoker", "--sum", "visits=0:20", *EXACT)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a small survey."""
    return write_survey(tmp_path)


def test_a_release_as_a_page(survey: Path, tmp_path: Path) -> None:
    """``--out report.html`` writes a page that holds the release and how it was asked for."""
    out = tmp_path / "report.html"
    ran = run("release", survey, *WORDS, "--out", out)
    assert ran.status == 0, ran.err
    release = hn.read(out)
    assert isinstance(release, hn.Release)
    assert round(release["smoker"].estimate) == 4
    assert Page(out.read_text(encoding="utf-8")).headings[0] == "Smoker, visits"
    assert "count = [&quot;smoker&quot;]" in out.read_text(encoding="utf-8")


def test_a_page_from_json_and_back(survey: Path, tmp_path: Path) -> None:
    """A kept release becomes a page, a page any other format, and nothing is lost on the way."""
    table, page = tmp_path / "table.json", tmp_path / "report.html"
    run("release", survey, *WORDS, "--out", table)
    ran = run("report", table, "--out", page, "--title", "Ours <2026>")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"Written to {page}.\n"
    assert Page(page.read_text(encoding="utf-8")).headings[0] == "Ours <2026>"
    again = tmp_path / "again.json"
    assert run("report", page, "--out", again).status == 0
    assert again.read_bytes() == table.read_bytes()
    for ending in ("csv", "md", "parquet", "jsonl"):
        assert run("report", page, "--out", tmp_path / f"again.{ending}").status == 0


def test_what_is_refused(survey: Path, tmp_path: Path) -> None:
    """Each in a sentence: where to, over what, from what, and a title where there is none."""
    table, page = tmp_path / "table.json", tmp_path / "report.html"
    run("release", survey, *WORDS, "--out", table)
    assert "--out report.html" in refused("report", table)
    assert "ending in" in refused("report", table, "--out", tmp_path / "x.xls")
    assert "another file than the input" in refused("report", table, "--out", table)
    page.write_text("mine", encoding="utf-8")
    assert "exists" in refused("report", table, "--out", page)
    assert page.read_text(encoding="utf-8") == "mine"
    assert run("report", table, "--out", page, "--overwrite").status == 0
    assert "of a page" in refused("report", table, "--out", tmp_path / "a.csv", "--title", "x")
    assert "could not be read" in refused("report", tmp_path / "no", "--out", page, status=3)
    assert "JSON" in refused("report", survey, "--out", tmp_path / "b.html", status=3)


def test_without_the_extra(survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page without charts is written, and the way to have them is said."""
    monkeypatch.setattr(outputs, "can_draw", lambda: False)
    ran = run("release", survey, *WORDS, "--out", tmp_path / "report.html")
    assert ran.status == 0
    assert "pip install altair vl-convert-python" in ran.err
    assert "halfnoise[report]" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_release_keeps_how_it_was_asked_for(survey: Path, tmp_path: Path) -> None:
    """The spec in the JSON asks for the same, and names lists without their folders."""
    listed, ledger = tmp_path / "codes.txt", tmp_path / "a.ledger"
    listed.write_text("A\nB\n", encoding="utf-8")
    words = ["--choice", f"blood=@{listed}", "--missing", "-99,N/A", "--unit", "person_id"]
    words += ["--by", "smoker", "--groups", "1,0", "--where", "age:at-least:0", "--mu", "1e6"]
    table = tmp_path / "table.json"
    named: list[str | Path] = ["--ledger", ledger, "--name", "one"]
    hn.Ledger.create(ledger, unit="person_id", data_set="x")
    ran = run("release", survey, *words, *named, "--out", table)
    assert ran.status == 0, ran.err
    text = json.loads(table.read_text(encoding="utf-8"))["spec"]
    assert str(tmp_path) not in text
    assert 'choice = ["blood=@codes.txt"]' in text
    (spec := tmp_path / "again.toml").write_text(text, encoding="utf-8")
    again = tmp_path / "again.json"
    ran = run("release", survey, "--spec", spec, *named, "--out", again)
    assert ran.status == 0, ran.err  # under this name no other request is taken
    assert again.read_bytes() == table.read_bytes()


def test_marks_and_decimal_commas_afterwards(survey: Path, tmp_path: Path) -> None:
    """What a release can be shown as, a kept one can be, too: nothing is drawn anew."""
    table, page, csv = (tmp_path / name for name in ("table.json", "a.html", "a.csv"))
    run("release", survey, *WORDS, "--out", table)
    words = ("--flag", "0.0001%,0.001%", "--suppress", "90%")
    assert run("report", table, "--out", page, *words).status == 0
    text = "\n".join(Page(page.read_text(encoding="utf-8")).words)
    assert "(a) from 0.0001% on, (b) from 0.001% on, .. from 90% on" in text
    found, kept = hn.read(page), hn.read(table)
    assert found.values.tolist() == kept.values.tolist()
    again = tmp_path / "b.html"  # a rule that is there stays until another is said
    assert run("report", page, "--out", again).status == 0
    assert "(a) from 0.0001% on" in again.read_text(encoding="utf-8")
    assert run("report", table, "--out", csv, "--excel", "--suppress", "50%").status == 0
    lines = csv.read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("name;kind;estimate;")
    assert lines[0].endswith(";flag")
    assert "in .csv with --excel" in refused("report", table, "--out", tmp_path / "x.md", "--excel")
    assert "--flag" in refused("report", table, "--out", tmp_path / "x.md", "--flag", "x")
