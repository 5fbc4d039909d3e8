"""The ledger on the command line: what people ask of it, and what it answers."""

import json
import os
import re
import shlex
import stat
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.ledger.booking import NO_LEDGER
from halfnoise.privacy.account import Account
from support.commands import refused, run, write_survey
from support.soak import SOAKS

ASKED = ("--count", "smoker", "--count", "q_a", "--sum", "visits=0:20", "--unit", "person_id")
UNIT = ("--unit", "person_id")
BUDGET = ("--epsilon", "3", "--delta", "1e-6")
MANY = 12 if SOAKS else 5
HEAD = re.compile(r"Head of the ledger: ([0-9a-f]{64})\n")


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a survey, and stand beside it."""
    monkeypatch.chdir(tmp_path)
    return write_survey(tmp_path)


def made(place: str = "s.ledger", *words: str) -> str:
    """Make a ledger."""
    ran = run("ledger", "init", place, *(words or BUDGET), "--unit", "person_id")
    assert ran.status == 0, ran.err
    return place


def charges(place: str = "s.ledger") -> int:
    """Return how many releases were charged."""
    return len(hn.Ledger(place).history().charges)


def test_what_was_asked_makes_no_line_of_others_longer(survey: Path) -> None:
    """A release with many questions stands in a long line, and one with few in a short one."""
    made()
    run("release", survey, *ASKED, "--mu", "0.1", "--ledger", "s.ledger")
    run("release", survey, "--count", "smoker", *UNIT, "--mu", "0.1", "--ledger", "s.ledger")
    shown = run("ledger", "show", "s.ledger").out
    assert re.search(
        r"^release-1  .{19}  mu [\d.]+  released  2 counts, sum of visits", shown, re.MULTILINE
    )
    assert re.search(
        r"^release-2  .{19}  mu [\d.]+  released  count of smoker$", shown, re.MULTILINE
    )


@pytest.mark.usefixtures("ledgers")
def test_a_release_records_itself_beside_its_file(survey: Path) -> None:
    """Nothing has to be said: the ledger is there, for its owner alone, and tells the sum."""
    first = run("release", survey, *ASKED, "--mu", "0.3")
    second = run("release", survey, *ASKED, "--mu", "0.4")
    assert "One release so far: " in first.err
    assert "2 releases together: " in second.err
    assert "'release-2' in survey.csv.ledger" in second.err
    beside = survey.with_name("survey.csv.ledger")
    assert stat.S_IMODE(beside.stat().st_mode) == 0o600
    history = hn.Ledger(beside).history()
    assert history.limit is None
    assert history.spent.squares <= hn.GaussianDP(mu=0.5).mu ** 2
    (head,) = HEAD.findall(second.err)
    assert head == history.head
    assert run("ledger", "verify", beside, "--head", head).status == 0
    assert run("ledger", "verify", beside, "--head", HEAD.findall(first.err)[0]).status == 0
    assert "older copy" in refused("ledger", "verify", beside, "--head", "0" * 64, status=3)


@pytest.mark.parametrize(
    "head", ["", "0", "0" * 63, "0" * 65, "g" * 64, "0" * 63 + "\n", "\u0660" * 64]
)
def test_what_is_no_head_is_refused(survey: Path, head: str) -> None:
    """It would be in no ledger, or, where nothing stands for any, in each."""
    made()
    assert "head must be 64 digits" in refused("ledger", "verify", "s.ledger", "--head", head)
    assert survey.with_name("s.ledger").exists()


@pytest.mark.usefixtures("ledgers")
def test_one_file_has_one_ledger_by_whatever_name(survey: Path) -> None:
    """A link and a path with dots lead to the ledger of the file itself."""
    Path("there").mkdir()
    Path("there/link.csv").symlink_to(survey)
    for name in ("survey.csv", "there/../survey.csv", "there/link.csv", survey):
        assert run("release", name, *ASKED, "--mu", "0.3").status == 0
    assert charges("survey.csv.ledger") == 4
    assert not list(Path("there").glob("*.ledger"))


@pytest.mark.usefixtures("ledgers")
@pytest.mark.parametrize("names", [("m/*.csv",), ("m/1.csv", "m/2.csv"), ("m/2.csv", "m/1.csv")])
def test_several_files_have_no_ledger_of_their_own(
    survey: Path, names: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """One is named, or none is kept; a plan does without. No ledger appears beside any of them."""
    Path("m").mkdir()
    for each in ("m/1.csv", "m/2.csv"):
        Path(each).write_bytes(survey.read_bytes())
    ask = ("release", *names, *ASKED, "--mu", "0.3")
    assert "several files, or a pattern, have no ledger of their own" in refused(*ask)
    assert "have no ledger of their own" in refused(*ask, "--dry-run")
    terms: dict[str, Any] = {"unit": "person_id", "privacy": hn.GaussianDP(mu=0.3)}
    queries = [hn.Count("q_a")]
    with pytest.raises(hn.InvalidParameterError, match="ledger='FILE'"):
        hn.release(list(names), queries, **terms)
    assert run("plan", *ask[1:]).status == 0
    assert run(*ask, "--no-ledger").status == 0
    assert run(*ask, "--ledger", made()).status == 0
    hn.release(list(names), queries, **terms, ledger="s.ledger")
    assert charges() == 2
    assert not list(Path("m").glob("*.ledger"))
    assert "there is no file" in refused("release", "m/3*.csv", *ask[-10:])
    planned = run("plan", *ask[1:], "--releases", "2").out
    init, one = (shlex.split(line)[1:] for line in planned.splitlines() if "halfnoise" in line)
    assert [run(*each).status for each in (init, one)] == [0, 0]
    assert charges("DATA.ledger") == 1
    assert not caplog.messages


@pytest.mark.usefixtures("ledgers")
def test_a_new_ledger_is_told(survey: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By the release that made it alone; not where it was there, made for it beforehand too."""
    ask = ("release", survey, *ASKED, "--mu", "0.3")
    told = "A new ledger was made: survey.csv.ledger; releases before it are not in it."
    assert [told in run(*ask).err for _ in range(2)] == [True, False]
    for each in Path().glob("survey.csv.ledger*"):
        each.unlink()
    terms: dict[str, Any] = {"unit": "person_id", "privacy": hn.GaussianDP(mu=0.3)}
    for _ in range(2):
        hn.release(survey, [hn.Count("q_a")], **terms)
    assert caplog.messages == [told]
    for each in Path().glob("survey.csv.ledger*"):
        each.unlink()
    made("survey.csv.ledger")
    assert "A new ledger" not in run(*ask).err
    assert "A new ledger" not in run(*ask, "--no-ledger").err


@pytest.mark.usefixtures("ledgers")
def test_no_ledger_says_what_that_means(survey: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without a ledger one line says so, on the command line and in Python."""
    ran = run("release", survey, *ASKED, "--mu", "0.3", "--no-ledger")
    assert ran.err.endswith(f"{NO_LEDGER}\n")
    hn.release(
        survey, [hn.Count("q_a")], unit="person_id", privacy=hn.GaussianDP(mu=1), ledger=None
    )
    assert caplog.messages == [NO_LEDGER]
    assert not list(Path().glob("*.ledger*"))


def test_what_is_left_is_shown(survey: Path) -> None:
    """A table, JSON and a picture say what was spent on what, and what there is room for."""
    made()
    for name in ("a", "b", "c"):
        ran = run(
            "release", survey, *ASKED, "--ledger", "s.ledger", "--one-of", "7", "--name", name
        )
        assert ran.status == 0, ran.err
    shown = run("ledger", "show", "s.ledger").out
    assert "room for 4 more like the last one" in shown
    assert "2 counts, sum of visits" in shown
    assert re.search(r"^\d{4}-\d\d-\d\d c +█{17} +42\.9%$", shown, re.MULTILINE)
    found = json.loads(run("ledger", "show", "s.ledger", "--json").out)
    assert found["room_for_more_like_the_last"] == 4
    assert [each["name"] for each in found["releases"]] == ["a", "b", "c"]
    assert {each["state"] for each in found["releases"]} == {"released"}
    assert found["limit"] == {"kind": "ApproxDP", "epsilon": 3.0, "delta": 1e-6}
    assert found["used"] == pytest.approx(3 / 7)
    assert found["head"] == hn.Ledger("s.ledger").history().head


def test_more_than_is_left_is_refused(survey: Path) -> None:
    """The amounts are told, the status is 4, and nothing is spent."""
    made()
    words = ("release", survey, *ASKED, "--ledger", "s.ledger")
    assert run(*words, "--epsilon", "2", "--delta", "1e-6").status == 0
    said = refused(*words, "--epsilon", "2.5", "--delta", "1e-6", status=4)
    assert re.search(r"this costs epsilon 2\.\d+, delta 1e-06, and epsilon 2 of 3", said)
    assert "nothing was spent" in said
    assert charges() == 1
    assert run(*words, "--epsilon", "1", "--delta", "1e-6").status == 0


@pytest.mark.parametrize(
    ("limit", "parts"),
    [
        ("--rho 0.3", ("--rho 0.1", "--rho 0.2")),
        ("--epsilon 0.3", ("--epsilon 0.1", "--epsilon 0.2")),
        ("--mu 0.5", ("--mu 0.3", "--mu 0.4")),
        ("--rdp 8:0.3", ("--rdp 8:0.1", "--rdp 8:0.2")),
        ("--epsilon 1 --delta 1e-6", ("--epsilon 1 --delta 1e-6",)),
        ("--epsilon 0.7 --delta 3e-7", ("--epsilon 0.7 --delta 3e-7",)),
    ],
)
def test_what_is_left_is_decided_exactly(survey: Path, limit: str, parts: tuple[str, ...]) -> None:
    """Decimals that add up to the limit fit, and then a small one does not."""
    made("s.ledger", *limit.split())
    words = ("release", survey, *ASKED, "--ledger", "s.ledger")
    for part in parts:
        ran = run(*words, *part.split())
        assert ran.status == 0, ran.err
    # The grid of the noise leaves a little more than nothing.
    smallest = ("--epsilon", "1e-3") if limit == "--epsilon 0.3" else ("--mu", "1e-2")
    refused(*words, *smallest, status=4)


@pytest.mark.parametrize("limit", ["--epsilon 3 --delta 1e-6", "--mu 1", "--rho 0.1", "--rdp 4:1"])
def test_all_of_many_fit_and_not_one_more(survey: Path, limit: str) -> None:
    """So many as were said fit exactly into the limit; the plan's own command is the one to run."""
    planned = run("plan", survey, *ASKED, *limit.split(), "--releases", str(MANY))
    init, one = (shlex.split(line)[1:] for line in planned.out.splitlines() if "halfnoise" in line)
    assert run(*init).status == 0
    for name in range(MANY):
        ran = run(*one[:-1], f"--name={name}")
        assert ran.status == 0, ran.err
    refused(*one[:-1], f"--name={MANY}", status=4)
    assert charges("survey.csv.ledger") == MANY
    as_json = json.loads(
        run("plan", survey, *ASKED, *limit.split(), "--releases", str(MANY), "--json").out
    )
    assert [shlex.split(each)[1:] for each in as_json["commands"]] == [init, one]


def test_the_365_of_a_year_fit_and_the_366th_does_not(tmp_path: Path) -> None:
    """365 releases with Gaussian noise, a 365th each, fit exactly; here by their cost alone."""
    limit = hn.ApproxDP(epsilon=3, delta=1e-6)
    cost = hn.plan([hn.Counts(20)], privacy=limit, releases=365).measurement.guarantee
    ledger = hn.Ledger.create(tmp_path / "a.ledger", limit=limit, unit="p")
    from halfnoise.ledger.terms import Bill

    bills = [Bill(guarantee=cost, request="", what="", unit=("p",), times=365) for _ in range(366)]
    for bill in bills[:365]:
        ledger.charge(bill)
    with pytest.raises(hn.BudgetError, match="nothing was spent"):
        ledger.charge(bills[365])


def test_laplace_noise_alone_leaves_no_place_for_gaussian(survey: Path) -> None:
    """It has all of epsilon to itself, and what is refused then is told with its remedy."""
    made("s.ledger", *BUDGET, "--laplace", "1")
    words = ("release", survey, *ASKED, "--ledger", "s.ledger")
    assert run(*words, "--epsilon", "2").status == 0
    for asked, why, remedy in (
        ("--mu 0.1", "Laplace noise of up to epsilon 1, and epsilon 2 of 3", "take Laplace noise"),
        ("--epsilon 1.5", "costs epsilon 1.5, delta 1e-06, and epsilon 2 of 3", "ask for less"),
    ):
        said = refused(*words, *asked.split(), status=4)
        assert why in said
        assert f"nothing was spent; {remedy}" in said
    assert run(*words, "--epsilon", "1").status == 0
    assert charges() == 2


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet", "md", "-"])
def test_a_name_returns_the_same_bytes(survey: Path, ending: str) -> None:
    """However often it is tried, also where the output is there already, or gone."""
    made()
    out = "-" if ending == "-" else f"t.{ending}"
    words = (
        "release",
        survey,
        *ASKED,
        *BUDGET,
        "--ledger",
        "s.ledger",
        "--name",
        "d",
        "--out",
        out,
    )
    first = run(*words)
    content = first.out if out == "-" else Path(out).read_bytes()
    again = run(*words)
    assert "nothing was charged: 'd'" in again.err
    assert (again.out if out == "-" else Path(out).read_bytes()) == content
    if out != "-":
        Path(out).unlink()
        assert run(*words).status == 0
        assert Path(out).read_bytes() == content
        Path(out).write_bytes(b"something else\n")
        if ending != "jsonl":
            assert f"the output {out!r} exists and is another; name another, or say" in refused(
                *words
            )
            assert Path(out).read_bytes() == b"something else\n"
            assert run(*words, "--overwrite").status == 0
            assert Path(out).read_bytes() == content
    assert charges() == 1
    assert "stands for another request" in refused(*words, "--level", "0.9")
    assert charges() == 1


def test_a_name_stands_for_all_that_was_asked(survey: Path) -> None:
    """Anything that changes the result makes it another request; where it goes does not."""
    made("s.ledger", "--mu", "9")
    words = ("release", survey, *ASKED, "--mu", "0.3", "--ledger", "s.ledger", "--name", "d")
    assert run(*words, "--out", "a.csv").status == 0
    assert run(*words, "--out", "b.json").status == 0
    assert charges() == 1
    copy = survey.with_name("other.csv")
    copy.write_bytes(survey.read_bytes())
    others: list[tuple[str, ...]] = [
        ("--count", "q_b"),
        ("--level", "0.9"),
        ("--where", "age:above:1"),
    ]
    others += [("--missing", "7"), ("--size-importance", "1"), ("--encoding", "latin-1")]
    for other in others:
        assert "another request" in refused(*words, *other), other
    assert "another request" in refused("release", copy, *words[2:])
    assert "another request" in refused(*[{"0.3": "0.31"}.get(str(w), w) for w in words])
    assert charges() == 1


def test_the_command_and_python_ask_for_the_same(survey: Path) -> None:
    """What is said in words and in Python, and what holds unless said, is one request."""
    made("s.ledger", "--mu", "9")
    words = ["release", str(survey), "--count", "old=age:at-least:65", "--sum", "visits=0:20"]
    words += [*UNIT, "--where", "age:between:18..99", "--missing", "-99", "--by", "blood"]
    words += ["--groups", "A,B", "--mu", "0.3", "--level", "0.9", "--ledger", "s.ledger"]
    first = run(*words, "--name", "d", "--out", "a.json")
    assert first.status == 0, first.err
    said = ("--delimiter", ",", "--encoding", "UTF8", "--importance", "old=1", "--max-groups", "1")
    again = run(*words, "--name", "d", "--out", "b.json", *said)
    assert "Returned as it was drawn" in again.err
    table = hn.release(
        "../" + survey.parent.name + "/survey.csv",
        [
            hn.Sum("visits", bounds=(0, 20), missing=["-99"]),
            hn.Count("age", at_least=65, name="old", missing=-99),
        ],
        where=hn.Where("age", between=(18, 99), missing=[-99]),
        by="blood",
        groups=["A", "B"],
        max_groups=1,
        unit="person_id",
        privacy=hn.GaussianDP(mu=0.3),
        level=0.9,
        ledger="s.ledger",
        name="d",
    )
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes() == table.to_json().encode()
    assert charges() == 1


def test_the_same_file_name_elsewhere_is_another_table(survey: Path) -> None:
    """A name stands for the files themselves, by whatever path; not for what they are called."""
    made("s.ledger", "--mu", "9")
    ask = (*ASKED, "--mu", "0.3", "--ledger", "s.ledger", "--name", "d")
    Path("there").mkdir()
    Path("link.csv").symlink_to(survey)
    other = write_survey(Path("there"))
    assert run("release", survey, *ask).status == 0
    for same in ("survey.csv", "there/../survey.csv", "link.csv", "surv*.csv"):
        assert "Returned as it was drawn for the charge of " in run("release", same, *ask).err
    assert "another request" in refused("release", other, *ask)
    assert "another request" in refused("release", survey, other, *ask)
    both = (*ask[:-1], "both")
    assert run("release", survey, other, *both).status == 0
    assert "Returned as it was drawn" in run("release", other, survey, *both).err
    assert charges() == 2


def test_no_name_for_what_cannot_be_told_apart(survey: Path) -> None:
    """An expression that holds more than plain values is refused before anything is charged."""
    made()
    ask = partial(hn.release, survey, unit="person_id", privacy=hn.GaussianDP(mu=0.1))
    long = nw.col("age").is_in(nw.from_native(pl.Series(["70"]), series_only=True))
    with pytest.raises(hn.NotSupportedError, match="cannot be given a name"):
        ask([hn.Count(long, name="n")], ledger="s.ledger", name="d")
    ask([hn.Count(nw.col("age") == "70", name="n")], ledger="s.ledger", name="d")
    with pytest.raises(hn.InvalidParameterError, match="another request"):
        ask([hn.Count(nw.col("age") == 70, name="n")], ledger="s.ledger", name="d")
    assert charges() == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ledger", "no.ledger"), "there is no ledger 'no.ledger'; make it"),
        (("--ledger", "s.ledger", "--no-ledger"), "not both"),
        (("--ledger", "s.ledger", "--name", "a", "--resume", "a"), "not both"),
        (("--ledger", "s.ledger", "--resume", "a"), "must be the name of a charge that stands"),
        (("--ledger", "s.ledger", "--name", " a"), "name must be"),
        (("--ledger", "s.ledger", "--name", "a\nb"), "name must be"),
        (("--no-ledger", "--name", "a"), "needs a ledger"),
        (("--ledger", "s.ledger", "--one-of", "3"), "one way"),
        (("--ledger", "s.ledger", "--neighbors", "replace", "--known-size", "6"), "neighbors must"),
    ],
)
def test_what_is_refused(survey: Path, words: tuple[str, ...], said: str) -> None:
    """Nothing is charged, and one sentence says why."""
    made()
    assert said in refused("release", survey, *ASKED, "--mu", "0.3", *words)
    assert charges() == 0


def test_one_of_needs_a_limit(survey: Path) -> None:
    """A part of nothing is nothing."""
    assert run("ledger", "init", "s.ledger", "--unit", "person_id").status == 0
    said = refused("release", survey, *ASKED, "--one-of", "3", "--ledger", "s.ledger")
    assert "one_of must be used with a ledger that has a limit" in said


def test_another_unit_does_not_add_up(survey: Path) -> None:
    """A ledger is about one kind of person for good."""
    made()
    words = ("release", survey, "--count", "q_a", "--mu", "0.1", "--ledger", "s.ledger")
    assert "unit must be 'person_id'" in refused(*words, "--row-is-person")
    assert charges() == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say who one person is"),
        (("--unit", "a", "--row-is-person"), "say who one person is"),
        (("--unit", "a", "--neighbors", "both"), "add-remove or replace"),
        (("--unit", "a", "--mu", "1", "--rho", "1"), "one way"),
        (("--unit", "a", "--mu", "1", "--laplace", "0.1"), "laplace must be"),
        (("--unit", "a", "--epsilon", "1", "--discover-delta", "1e-7"), "discover_delta must be"),
        (("--unit", "a", *BUDGET, "--laplace", "4"), "within the limit"),
        (("--unit", "a", *BUDGET, "--discover-delta", "2e-6"), "within the limit"),
        (("--unit", "a", *BUDGET, "--laplace", "-1"), "zero or more"),
        (("--unit", "a", "--epsilon", "nan"), "epsilon must be"),
        (("--unit", "a", "--delta", "1e-6"), "--delta goes with --epsilon"),
    ],
)
def test_what_no_ledger_is_made_with(survey: Path, words: tuple[str, ...], said: str) -> None:
    """Terms that make no sense are refused, and nothing is made."""
    assert said in refused("ledger", "init", "s.ledger", *words)
    assert not survey.with_name("s.ledger").exists()


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize(
    "limit",
    ["--epsilon 11", "--epsilon 1 --delta 1e-4", "--mu 3", "--rho 9", "--rdp 2:9"],
)
def test_a_limit_that_protects_hardly_anybody(survey: Path, limit: str) -> None:
    """It needs another word, in Python too; so does the ledger that a plan tells to make."""
    words = ("ledger", "init", "s.ledger", "--unit", "person_id", *limit.split())
    assert "--i-know (i_know=True)" in refused(*words)
    assert not survey.with_name("s.ledger").exists()
    assert run(*words, "--i-know").status == 0
    found = hn.Ledger("s.ledger").limit
    with pytest.raises(hn.InvalidParameterError, match="i_know=True"):
        hn.Ledger.create("t.ledger", limit=found)
    assert hn.Ledger.create("t.ledger", limit=found, i_know=True).limit == found
    plan = run("plan", survey, *ASKED, *limit.split(), "--releases", "3", "--i-know").out
    (init,) = [line for line in plan.splitlines() if "ledger init" in line]
    assert "--i-know" in init


def test_a_ledger_is_made_once(survey: Path) -> None:
    """Nothing that is there is replaced, neither a ledger nor data."""
    made()
    before = Path("s.ledger").read_bytes()
    assert "made once, and without a limit by the first release" in refused(
        "ledger", "init", "s.ledger", *BUDGET, "--unit", "a"
    )
    assert "made once" in refused("ledger", "init", survey, *BUDGET, "--unit", "a")
    assert Path("s.ledger").read_bytes() == before
    for out in ("s.ledger", "link.csv"):
        if not os.path.lexists("link.csv"):
            Path("link.csv").symlink_to("s.ledger")
        words = ("--ledger", "s.ledger", "--out", out, "--overwrite")
        refused("release", survey, *ASKED, "--mu", "0.1", *words)
    assert charges() == 0


@pytest.mark.usefixtures("ledgers")
def test_no_output_replaces_a_ledger(survey: Path) -> None:
    """Neither its own, which is there or will be, nor any other; by whatever name."""
    beside, ask = "survey.csv.ledger", (*ASKED, "--mu", "0.1", "--overwrite")
    for word in ("plan", "release"):
        said = refused(
            word, survey, *ask, "--ledger", made(f"{word}.l"), "--save-spec", f"{word}.l"
        )
        assert "--save-spec must be another file than the input" in said
        assert "and its ledger" in refused(word, survey, *ask, "--save-spec", beside)
    assert run("release", survey, *ask).status == 0
    Path("spec.toml").symlink_to(beside)
    Path("table.csv").hardlink_to("plan.l")
    Path("table.jsonl").hardlink_to("plan.l")
    before = Path(beside).read_bytes(), Path("plan.l").read_bytes()
    for word in ("plan", "release"):
        for target in (beside, "spec.toml", "plan.l", "table.csv"):
            assert "must be another file than" in refused(word, survey, *ask, "--save-spec", target)
            none = (*ask, "--no-ledger", "--save-spec", target)
            assert "than a ledger or another database" in refused(word, survey, *none)
    for target in ("table.csv", "table.jsonl"):
        said = refused("release", survey, *ask[:-1], "--out", target)
        assert "--out must be another file than a ledger or another database" in said
    assert (Path(beside).read_bytes(), Path("plan.l").read_bytes()) == before


def test_a_dry_run_spends_nothing(survey: Path) -> None:
    """It plans with the ledger's limit, and leaves the ledger as it is."""
    made()
    before = Path("s.ledger").read_bytes()
    ran = run("release", survey, *ASKED, "--one-of", "5", "--ledger", "s.ledger", "--dry-run")
    assert "split over 5 equal releases" in ran.out
    assert Path("s.ledger").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ("--epsilon", "0.9", "--delta", "1e-6"),
        ("--one-of", "7"),
        ("--one-of", "7", "--noise", "laplace"),
        ("--one-of", "3", "--by", "blood", "--groups", "discover"),
    ],
)
def test_who_goes_on_draws_what_was_charged(
    survey: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was charged in between: the noise of a charge is that of its own moment."""
    made()
    asked = ("release", survey, "--count", "q_a", "--unit", "person_id", "--ledger", "s.ledger")
    with monkeypatch.context() as patch:
        patch.setattr(hn.Ledger, "keep", broken)
        assert run(*asked, *words, "--name", "a").status == 5
    assert run(*asked, "--noise", "gaussian", "--one-of", "9").status == 0  # circumstances change
    assert run(*asked, *words, "--resume", "a", "--out", "a.json").status == 0
    charge = hn.Ledger("s.ledger").history().charges["a"]
    found = hn.Release.from_json(Path("a.json").read_text(encoding="utf-8"))
    assert Account.of(found.guarantee) == charge.cost


def broken(*_: object) -> bytes:
    """Fail as a full disk does."""
    raise hn.TryAgainError("the disk is full")


@pytest.mark.parametrize("times", [2, 3, 7])
@pytest.mark.parametrize(
    "asked",
    [
        ("--count", "q_a"),  # for which Laplace noise is better
        ("--count", "q_a", "--by", "blood", "--groups", "discover"),
        ("--count", "q_a", "--noise", "laplace"),
        ("--count", "q_a", "--noise", "gaussian"),
        ("--bins", "age=0,10,20,30,40,50,60,70"),
    ],
)
def test_equal_parts_are_equal(survey: Path, asked: tuple[str, ...], times: int) -> None:
    """Each of many has the same noise, whatever its kind, and exactly so many fit."""
    made()
    who = ("--unit", "person_id", "--ledger", "s.ledger", "--one-of", str(times))
    words: list[str | Path] = ["release", survey, *asked, *who]
    for each in range(times):
        ran = run(*words, "--out", f"{each}.json")
        assert ran.status == 0, ran.err
    refused(*words, status=4)
    outputs = [Path(f"{each}.json").read_text(encoding="utf-8") for each in range(times)]
    found = [hn.Release.from_json(text) for text in outputs]
    assert len({each.facts["design"]["name"] for each in found}) == 1
    guesses = [each.guarantee.best_guess for each in found]
    assert max(guesses) - min(guesses) < 1e-9


def test_a_dry_run_says_what_the_ledger_would_refuse(survey: Path) -> None:
    """The plan is shown, and then the refusal, with its status."""
    made()
    words = ("release", survey, *ASKED, "--epsilon", "4", "--delta", "1e-6", "--dry-run")
    ran = run(*words, "--ledger", "s.ledger")
    assert ran.status == 4
    assert "the budget does not allow it" in ran.err
    assert "Chosen (*)" in ran.out
    assert charges() == 0


def test_a_ledger_shows_its_places(survey: Path) -> None:
    """How much there is for each kind of noise, and how much of it is used."""
    shown = run("ledger", "init", "s.ledger", *BUDGET, "--laplace", "1", "--unit", "person_id").out
    assert "Its places: Gaussian noise mu 0 of 0.4" in shown
    assert "Laplace noise epsilon 0 of 1; discovering delta 0 of 0" in shown
    made("t.ledger")
    assert "the first release decides" in run("ledger", "show", "t.ledger").out
    assert survey.exists()


@pytest.mark.usefixtures("ledgers")
def test_a_file_that_no_engine_opens_is_not_charged(survey: Path) -> None:
    """A name that is no UTF-8 is refused before anything is spent."""
    odd = Path(os.fsdecode(b"sur\xffvey.csv"))
    survey.rename(odd)
    assert "must be named in UTF-8" in refused("release", odd, *ASKED, "--mu", "0.1")
    assert not list(Path().glob("*.ledger"))
