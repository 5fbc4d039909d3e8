"""The method note: each sentence is there where it is true, in all languages, and harmless."""

import html.parser
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from markdown_it import MarkdownIt

import halfnoise as hn
from halfnoise.errors import InvalidParameterError, UnknownNameError
from halfnoise.results.note import Note, _texts, languages, note
from support.commands import refused, run, write_survey
from support.surveys import SURVEYS
from support.tabled import everything

NASTY = [
    "<script>alert(1)</script>",
    "=cmd()",
    "a\nb",
    "שלום",
    "x\u202ey",
    "[a](http://x.y)",
    "*b*",
]
NASTY += ["a|b", "`c`", "![i](u)", "&amp;", "a_b", "_c_", "www.x.org", "\\", "{unit}"]


def released(**more: Any) -> Any:
    """Release made-up people."""
    rows = pl.DataFrame({"id": range(200), "x": [i % 7 for i in range(200)], "g": ["a", "b"] * 100})
    given: dict[str, Any] = {"unit": "id", "privacy": hn.GaussianDP(mu=0.5)}
    return hn.release(rows, more.pop("queries", [hn.Count("x")]), ledger=None, **given | more)


def told(release: Any) -> set[str]:
    """Return which sentences a note has."""
    return {name for paragraph in note(release).paragraphs for name, _ in paragraph}


def test_every_language_has_every_sentence() -> None:
    """The same words, with the same parts filled in, and none that nobody says."""
    texts = _texts()
    assert languages() == ["en", "de", "fr"]
    for own in texts.values():
        assert own.keys() == texts["en"].keys()
        for name, text in own.items():
            parts = sorted(re.findall(r"{\w+}", text))
            assert parts == sorted(re.findall(r"{\w+}", texts["en"][name])), name


SAID = [
    ({}, {"guess_member", "member", "unit_columns", "gaussian", "noise_gaussian", "alone"}, set()),
    ({"unit": None, "row_is_person": True}, {"unit_rows"}, {"unit_columns"}),
    ({"privacy": hn.PureDP(epsilon=1)}, {"pure", "noise_laplace"}, {"gaussian", "noise_gaussian"}),
    (
        {"neighbors": hn.Neighbors.REPLACE, "known_size": 200},
        {"guess_answers", "answers", "known_size"},
        {"guess_member", "member", "ratios"},
    ),
    ({"where": hn.Where("x", at_least=2)}, {"where"}, set()),
    ({"queries": [hn.Mean("x", bounds=(0, 6))]}, {"means", "bounds"}, {"tables"}),
    ({"queries": [hn.Sum("x", bounds=(0, 6))]}, {"bounds"}, {"means"}),
    (
        {"queries": [hn.Sum("x", bounds=(0, 6))], "privacy": hn.PureDP(epsilon=1)},
        {"errors"},
        {"below_zero", "ratios"},
    ),
    ({"queries": [hn.Mean("x", bounds=(0, 6))]}, {"ratios"}, {"ratios_sampled"}),
    ({"size_importance": 1}, {"ratios", "below_zero"}, {"below_zero_gone"}),
    (
        {"by": "g", "groups": "discover", "max_groups": 2, "discover_delta": 1e-7},
        {"discovered", "several_groups"},
        {"known_size", "one_group", "one_group_found"},
    ),
    ({"by": "g", "groups": "discover", "discover_delta": 1e-7}, {"one_group_found"}, {"one_group"}),
    ({"by": "g", "groups": ["a"]}, {"one_group"}, {"discovered", "several_groups"}),
    (
        {"by": "g", "groups": ["a"], "unit": None, "row_is_person": True},
        set(),
        {"one_group", "one_group_found"},
    ),
]


@pytest.mark.parametrize(("asked", "there", "not_there"), SAID)
def test_a_sentence_is_there_where_it_is_true(
    asked: dict[str, Any], there: set[str], not_there: set[str]
) -> None:
    """What was not asked for, or does not hold, is not spoken of."""
    found = told(released(**asked))
    assert there <= found
    assert not not_there & found
    assert "where" in found or "where" not in asked
    for language in languages():
        assert "{" not in "".join(note(released(**asked), language).text())


def test_discovering_is_told_with_its_probability() -> None:
    """Neither mu nor pure epsilon stands alone then, whatever delta there is."""
    for privacy in (hn.ApproxDP(epsilon=1, delta=1e-6), hn.PureDP(epsilon=1), hn.GaussianDP(mu=1)):
        more = {} if isinstance(privacy, hn.ApproxDP) else {"discover_delta": 1e-4}
        found = told(released(by="g", groups="discover", privacy=privacy, **more))
        assert found & {"gaussian_found", "pure_found"}
        assert not found & {"gaussian", "pure"}


def test_the_least_error_is_told() -> None:
    """In words of the release and of the note, for Gaussian noise; of other noise nothing is."""
    release, words = released(), "Its squared error is within 0.1% of the least"
    assert words in str(release)
    assert words in str(hn.Release.from_json(release.to_json()))
    assert words in release.to_html(charts=False)
    assert "at most 0.1% above the least" in " ".join(note(release).text())
    assert "höchstens 0,1\N{NO-BREAK SPACE}% über dem kleinsten" in " ".join(
        note(release, "de").text()
    )
    design = release.facts["design"]
    far = {**design, "error": 1.0312 * design["least_error_bound"]}
    release = replace(release, facts={**release.facts, "design": far})
    assert "at most 3.2% above the least" in str(release)
    assert "at most 3.2% above the least" in " ".join(note(release).text())
    unknown = {**design, "least_error_bound": None}
    assert "least" not in told(replace(release, facts={**release.facts, "design": unknown}))


def test_of_the_largest_error_the_least_is_told() -> None:
    """Where that is the objective: in JSON, words and the note, in the unit of the error."""
    release = released(objective="largest")
    design = release.facts["design"]
    assert design["objective"] == "largest"
    assert 0.99 * design["error"] < design["least_error_bound"] <= design["error"]
    words = "Its largest squared error is within 0.1% of the least"
    assert words in str(hn.Release.from_json(release.to_json()))
    assert {"least_largest"} == told(release) & {"least", "least_largest"}
    assert "objective" not in released().facts["design"]


def test_other_noise_is_not_measured_by_gaussian_noise() -> None:
    """With Laplace noise chosen there is no bound in the plan, the release or the words."""
    privacy = hn.ApproxDP(epsilon=1, delta=1e-9)
    release, plan = released(privacy=privacy), hn.plan([hn.Count("x")], privacy=privacy)
    assert plan.least_error_bound is None
    for found in (release.facts["design"], plan.to_dict()):
        assert not {"error", "least_error_bound"} & {*found}
    assert "squared error" not in str(plan) + str(release)
    assert "least" not in told(release)


def test_a_sample_is_told() -> None:
    """What intervals cover then, and no sentence that they cover less."""
    sampled = everything().with_sampling("srs", design_effect=1.5)
    assert {"interval_sampled", "sampled", "errors_sampled"} <= told(sampled)
    assert not told(sampled) & {"interval", "noise_only", "errors"}
    assert "(Designeffekt 1,5)" in " ".join(note(sampled, "de").text())


def test_the_variance_of_a_sample_is_told_as_it_is() -> None:
    """Of means it is the bound where nobody measured it; a count alone has none."""
    for query, widest in (
        (hn.Mean("x", bounds=(0, 6)), True),
        (hn.Mean("x", bounds=(0, 6), variance=True), False),
        (hn.Count("x"), False),
    ):
        release = released(queries=[query], size_importance=1, sampling="srs")
        assert ("widest" in told(release)) is widest
        assert "ratios_sampled" in told(release)


def test_what_is_left_out_is_not_left_as_it_is() -> None:
    """Where numbers below zero are left out, it is not said that they are there."""
    release = everything().flagged(0.2)
    assert {"below_zero"} == told(release) & {"below_zero", "below_zero_gone"}
    release = everything().flagged(0.2, suppress=0.5)
    assert {"below_zero_gone"} == told(release) & {"below_zero", "below_zero_gone"}


def test_intervals_of_groups_that_were_discovered_promise_less() -> None:
    """Small ones passed a threshold because of their noise."""
    found = released(by="g", groups="discover", discover_delta=1e-7)
    small = ("but fewer in small groups", "aber weniger in kleinen", "mais moins dans les petits")
    for language, words in zip(languages(), small, strict=True):
        assert words in " ".join(note(found, language).text())
        assert words not in " ".join(note(released(), language).text())
    assert "Reihen von Antworten" in _texts()["de"]["guess_answers"]


@pytest.mark.parametrize("name", [name for name in SURVEYS if "weights" in name])
def test_weights_are_told(name: str) -> None:
    """What became of odd ones, what they are in, and of what a known number is."""
    release = SURVEYS[name]()
    both, found = "known" not in name and name != "weights", told(release)
    assert {"weight", "weight_heads" if both else "weight_sums"} <= found
    assert both == ("weight_squares" in found)
    assert ("known_weights" in found) == ("known" in name)
    assert not found & {"known_size", "sampled"}
    assert ("sampled_weighted" in found) == (release.sampling is not None)
    text = " ".join(note(release).text())
    assert "below 0 or above 5 were moved to these bounds, and missing ones are 0" in text
    assert "squared weights” 0 to 5" not in text


def test_rounding_marks_and_tables() -> None:
    """What was done to numbers for readers is told, and what a sample or a weight means."""
    release = everything()
    assert {"tables", "below_zero"} <= told(release)
    assert {"rounded_tables", "rounded_beside"} <= told(release.rounded())
    assert not told(release.rounded()) & {"below_zero", "rounded"}
    assert "rounded" in told(released().rounded())
    assert "flags" not in told(release)
    text = " ".join(note(release.flagged(0.2, suppress=0.5), "de").text())
    assert "(a) ab 20\N{NO-BREAK SPACE}%, .. ab 50\N{NO-BREAK SPACE}%" in text
    weight = {"column": "w", "bounds": [0.0, 2.5]}
    text = " ".join(note(replace(release, facts={**release.facts, "weight": weight}), "fr").text())
    assert "inférieurs à 0 ou supérieurs à 2,5 ont été ramenés" in text


def test_numbers_are_on_the_safe_side() -> None:
    """Probabilities and amounts are rounded up, and written as the language has it."""
    release = released(privacy=hn.ApproxDP(epsilon=1.23456789, delta=1e-6))
    guess = release.guarantee.best_guess
    for language, mark in (("en", "."), ("de", ","), ("fr", ",")):
        text = " ".join(note(release, language).text())
        shares = [float(each.replace(",", ".")) for each in re.findall(r"(\d+[.,]\d)\s?%", text)]
        assert shares[0] / 100 >= guess > shares[0] / 100 - 0.001
        (epsilon,) = re.findall(r"ε = (\d[.,]\d+)", text)
        assert float(epsilon.replace(",", ".")) >= 1.23456
        assert mark in epsilon


class Seen(html.parser.HTMLParser):
    """What a reader of a page gets: its elements, and the text of those that hold given words."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.tags, self.given, self.open = set[str](), list[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        assert {name for name, _ in attrs} <= {"lang", "charset"}
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "bdi":
            self.given.append("")

    def handle_endtag(self, tag: str) -> None:
        """Note its end."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if self.open and self.open[-1] == "bdi":
            self.given[-1] += data


def plain(text: str) -> str:
    """Return a name as it may be shown: on one line, nothing that turns others round."""
    return text.replace("\n", " ").replace("\u202e", "")


def test_names_of_others_are_harmless() -> None:
    """Parsed back, they are text and nothing else: in HTML and in Markdown."""
    release = replace(released(), facts={**released().facts, "unit": NASTY, "version": NASTY[0]})
    found = note(release)
    seen = Seen()
    seen.feed(found.html().replace("\n<", "<"))
    assert seen.tags == {"section", "h2", "h3", "p", "bdi"}
    assert seen.given[: len(NASTY)] == [*map(plain, NASTY)]
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(found.markdown())
    kinds = {token.type for token in tokens}
    assert kinds == {f"{x}_{y}" for x in ("heading", "paragraph") for y in ("open", "close")} | {
        "inline"
    }
    inside = [part for token in tokens for part in token.children or ()]
    assert {part.type for part in inside} <= {"text", "text_special", "softbreak"}
    shown = "".join(part.content for part in inside)
    for name in NASTY:
        assert f"“{plain(name)}”" in shown.replace("\u2068", "").replace("\u2069", "")
    assert f"\u2068{NASTY[3]}\u2069" in shown


def test_a_whole_page_is_one() -> None:
    """With a title, a language and its encoding."""
    page = note(released(), "de").html(whole=True)
    assert page.startswith('<!doctype html>\n<html lang="de">')
    assert "<title>Wie diese Zahlen entstanden sind</title>" in page
    assert isinstance(released().note("fr"), Note)
    with pytest.raises(UnknownNameError, match="language must be one of 'en', 'de', 'fr'"):
        note(released(), "it")


@pytest.mark.usefixtures("ledgers")
def test_the_ledger_tells_what_all_come_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One release, several, a limit; and a release that is not in the ledger is refused."""
    monkeypatch.chdir(tmp_path)
    survey = write_survey(tmp_path)
    init = ("ledger", "init", "s.ledger", "--mu", "2", "--unit", "person_id")
    assert run(*init).status == 0
    words = ("release", survey, "--count", "smoker", "--unit", "person_id", "--mu", "0.5")
    assert run(*words, "--ledger", "s.ledger", "--out", "t.json").status == 0
    one = run("note", "t.json", "--ledger", "s.ledger").out
    assert "the only release" in one
    assert "at most μ = 2" in one
    assert run(*words, "--ledger", "s.ledger", "--flag", "20%", "--out", "u.json").status == 0
    for name in ("t.json", "u.json"):  # marks do not make it another release
        both = run("note", name, "--ledger", "s.ledger").out
        assert "2 releases about these people" in both
        assert "they cost μ = 0.70710" in both
    release = hn.Release.from_json(Path("t.json").read_text("utf-8"))
    ledger = hn.Ledger("s.ledger")
    assert (
        release.note("en", ledger=ledger).markdown()
        == run("note", "t.json", "--ledger", "s.ledger").out
    )
    assert release.rounded().note("en", ledger=ledger)
    assert run(*words, "--no-ledger", "--out", "v.json").status == 0
    assert "not in that ledger" in refused("note", "v.json", "--ledger", "s.ledger")
    with pytest.raises(InvalidParameterError, match="not in that ledger"):
        hn.Release.from_json(Path("v.json").read_text("utf-8")).note(ledger=ledger)
    assert run("note", "t.json", "--language", "de", "--out", "n.html").status == 0
    assert Path("n.html").read_text("utf-8").startswith("<!doctype html>")
    assert run("note", "t.json", "--out", "n.md").status == 0
    assert ".md, .html" in refused("note", "t.json", "--out", "n.txt")
