import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
import halfnoise.cli.checking
from support.commands import EXACT, PEOPLE, SURVEY, refused, run, write_survey

BUDGET = ("--epsilon", "1")
COMMAND = [sys.executable, "-c", "from halfnoise.cli import main; main()"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--epsilon 0", "epsilon must be a positive number, got 0.0"),
        ("--epsilon -1", "epsilon must be a positive number, got -1.0"),
        ("--epsilon nan", "epsilon must be a finite number"),
        ("--epsilon inf", "epsilon must be a finite number"),
        ("--epsilon one", "--epsilon must be a number, got 'one'"),
        ("--epsilon 1,5", "'1,5'; write a decimal point and no other mark, as in 0.95"),
        ("--level 95%", "got '95%'; write a decimal point and no other mark, as in 0.95"),
        ("--level 95", "got 95.0; for 95% say 0.95"),
        ("--known-size 20,000", "no other mark, as in 0.95 or 20000"),
        ("--epsilon 1 --delta 1", "or leave it out: PureDP(epsilon=...)"),
        ("--epsilon 1e-320", "epsilon must be between 1e-09 and 1e+09"),
        ("--epsilon 1e300", "epsilon must be between 1e-09 and 1e+09"),
        ("--mu 0", "mu must be a positive number"),
        ("--mu 1e-160", "mu must be between 1e-09 and 1e+09"),
        ("--mu 1e200", "mu must be between"),
        ("--rho -1", "rho must be a positive number"),
        ("--rho 1e308", "mu must be between"),
        ("--epsilon 1 --delta 0", "delta must be strictly between 0 and 1, got 0.0"),
        ("--epsilon 1 --delta 1.5", "delta must be strictly between 0 and 1, got 1.5"),
        ("--epsilon 1 --delta nan", "delta must be a finite number"),
        ("--delta 2", "delta must be strictly between 0 and 1"),
        ("--rdp 1:1", "alpha must be above 1, got 1.0"),
        ("--rdp nan:1", "alpha must be a finite number"),
        ("--rdp 2", "--rdp must be written ALPHA:EPSILON, got '2'"),
        ("--rdp 2:x", "--rdp must be a number, got 'x'"),
        ("--rdp 1e308:1e-308", "mu must be between"),
        ("--mu 1 --epsilon 1", "one way, got --epsilon and --mu; keep one"),
        ("--mu 1 --rho 1 --rdp 2:1", "one way, got --mu and --rho and --rdp"),
        ("--mu 1 --delta 1e-6", "--delta goes with --epsilon"),
        ("--mu 1 --margin 25", "give a budget or --margin, not both"),
        ("--margin 0", "margin must be a positive number"),
        ("--margin x", "--margin must be a number"),
        ("--margin 1e-300", "margin must be larger"),
        ("--releases 0", "releases must be a whole number of at least 1"),
        ("--releases 1.5", "--releases must be a whole number, got '1.5'"),
        ("--level 1", "level must be strictly between 0 and 1"),
        ("--level high", "--level must be a number"),
        ("--at-most 0", "at_most must be a whole number of at least 1, got 0"),
        ("--at-most 101", "at_most must be at most 100, got 101"),
        ("--at-most 1.5", "--at-most must be a whole number, got '1.5'"),
        ("--size-dial 3", "size_dial must be at least d^(1/4) = 3.16228 for 100 counts, got 3.0"),
        ("--size-dial nan", "size_dial must be a finite number"),
        ("--size-dial 1e100", "size_dial must be at most 1e50"),
        ("--size-dial 5 --size-importance 1", "give size_importance or size_dial, not both"),
        ("--size-dial 5 --sum 0:1", "size_dial is defined for counts without at_most alone"),
        ("--size-importance -1", "size_importance must be zero or more"),
        ("--size-importance x", "--size-importance must be a number"),
        ("--known-size 0", "known_size must be a positive number"),
        ("--known-size -5", "known_size must be a positive number, got -5.0"),
        ("--known-size many", "--known-size must be a number, got 'many'"),
        ("--importance y=1", "importance must be given for the name of a query, got 'y'"),
        ("--importance x=0 --sum x=0:1", "importance of x must be a positive number"),
        ("--importance x=a --sum x=0:1", "--importance must be a number, got 'a'"),
        ("--importance x", "--importance must be written NAME=NUMBER"),
        ("--neighbors both", "--neighbors must be add-remove or replace, got 'both'"),
        ("--groups 0", "groups must be a whole number of at least 1"),
        ("--groups a,a", "the groups 'a' and 'a' are the same; list each group once"),
        ("--groups ,", "groups must be a list of at least one group"),
        ("--groups @nowhere.txt", "the list 'nowhere.txt' could not be read"),
        ("--groups a,b --max-groups 0", "max_groups must be a whole number of at least 1, got 0"),
        ("--groups a,b --max-groups x", "--max-groups must be a whole number, got 'x'"),
        ("--groups a --max-groups 2 --neighbors replace", "max_groups must be 1 where people are"),
        ("--max-groups 2", "go with groups, got none"),
        ("--by g", "the groups by 'g' must be listed, got none"),
        ("--by g,g --groups a --groups b", "by must be a column's name, or several different ones"),
        ("--by g,h --groups a,b", "--groups must be given once for each of the 2 columns"),
        ("--groups discover --mu 1", "discovering groups needs a delta, got none"),
        ("--groups discover --epsilon 1", "discovering groups needs a delta, got none"),
        ("--groups discover --discover-delta 2", "discover_delta must be strictly between 0 and 1"),
        (
            "--groups discover --epsilon 1 --delta 1e-6 --discover-delta 1e-6",
            "discover_delta must be below delta, 1e-06",
        ),
        ("--groups a --discover-delta 1e-7", "discover_delta must be given with groups='discover'"),
        ("--groups a,b --known-size 9 --mu 1", "with groups leave it out"),
        ("--counts 0", "counts must be a whole number of at least 1"),
        ("--counts 1e5", "--counts must be a whole number, got '1e5'"),
        ("--sum x=1:1", "bounds must be a low number below a high one, got (1.0, 1.0)"),
        ("--sum x=0:inf", "high must be a finite number, got inf"),
        ("--mean x=nan:1", "low must be a finite number, got nan"),
        ("--mean x=0:1e60", "bounds must be between -1e50 and 1e50"),
        ("--sum x=a:b", "--sum must be a number, got 'a'"),
        ("--sum x", "--sum must be written COLUMN=LOW:HIGH"),
        ("--sum x:0:9", "--sum must be written COLUMN=LOW:HIGH, got 'x:0:9'"),
        ("--mean x=0-9", "--mean must be written COLUMN=LOW:HIGH, got 'x=0-9'"),
        ("--sum =0:1", "--sum must be written COLUMN=..."),
        ("--choice x=A,B,A", "categories must be different from each other, got 'A'"),
        ("--choice x", "--choice must be written COLUMN=A,B,C or a whole number"),
        ("--choice 0", "--choice must be written COLUMN=A,B,C or a whole number"),
        ("--choice x=other", "categories must be more than the one for all others"),
        ("--bins x=18,0", "edges must be numbers in rising order, got [18.0, 0.0]"),
        ("--bins x=0,0", "edges must be numbers in rising order"),
        ("--bins x=0,inf", "edge must be a finite number"),
        ("--bins x=young", "--bins must be a number, got 'young'"),
        ("--items x=a,a", "items must be different from each other"),
        ("--items x=@nowhere.txt", "the list 'nowhere.txt' could not be read"),
        ("--items x=a,b --at-most 3", "at_most must be at most 2, got 3"),
        ("--count x --count x", "the query 'x' is asked twice; ask it once"),
        ("--count x:between:1", "between must be written LOW..HIGH"),
        ("--count x:between:9..1", "between must be a lowest and a highest value"),
        ("--count x:at-least:old", "compares with neither numbers nor days"),
        ("--count x:at-least:nan", "compares with neither numbers nor days"),
        ("--count x:is:", "a condition must be written COLUMN:WORD:VALUE"),
        ("--where x:over:1 --sum x=0:1", "--where must be written COL:WORD:VALUE"),
        ("--set day=1", "say --spec FILE too"),
        ("--spec nowhere.toml", "the spec 'nowhere.toml' could not be read"),
        ("--save-spec nowhere/x.toml", "--save-spec must be a file in a folder that exists"),
        ("--quote ab", "quote must be one character"),
        ("--encoding klingon", "encoding must be a text encoding such as cp1252, got 'klingon'"),
    ],
)
def test_bad_parameters_get_one_sentence(words: str, said: str) -> None:
    """Each bad parameter is refused with what, the value and the rule, and exit status 2."""
    asked = () if "--counts" in words else ("--counts", "100")
    assert said in refused("plan", *asked, *words.split())


def test_nothing_asked_is_refused_with_examples() -> None:
    """A plan for nothing says how to ask for something."""
    assert "for example --count smoker" in refused("plan", "--mu", "1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--count smokr --unit person_id --mu 1", "did you mean 'smoker'"),
        ("--count zzz --unit person_id --mu 1", "the table has 'person_id', 'smoker', 'age'"),
        ("--count smoker --unit nobody --mu 1", "there is no column 'nobody'"),
        ("--sum visits=0:9 --where old:is:1 --row-is-person --mu 1", "there is no column 'old'"),
        ("--count person_id --unit person_id --mu 1", "is the unit and a query's column at once"),
        ("--count smoker --count smoker --unit person_id --mu 1", "is asked twice"),
        ("--count smoker --mu 1", "who is one person is never guessed"),
        ("--count smoker --unit person_id --row-is-person --mu 1", "not both"),
        ("--count zz_* --unit person_id --mu 1", "no column of the header matches --count 'zz_*'"),
        ("--count age:over:65 --unit person_id --mu 1", "words at-least, above, below"),
        ("--count smoker=1 --unit person_id --mu 1", "NAME=COLUMN:WORD:VALUE"),
        ("--counts 3 --unit person_id --mu 1", "for planning alone"),
        ("--sum 0:20 --unit person_id --mu 1", "--sum must be given a column to release"),
        ("--choice 5 --unit person_id --mu 1", "--choice must be given a column to release"),
        ("--count smoker --groups 2 --unit person_id --mu 1", "name the column that says it"),
        ("--count smoker --groups a --unit person_id --mu 1", "name the column that says it"),
        ("--count smoker --by age --groups 70 --unit person_id --mu 1", "--groups 20,"),
        ("--count smoker --by day:decade --groups 1, --unit person_id --mu 1", "quarter or year"),
        (
            "--count smoker --by blood --groups A --row-is-person --max-groups 2 --mu 1",
            "max_groups must be 1 where each row is a person",
        ),
        ("--count smoker --by bloo --groups A --unit person_id --mu 1", "did you mean 'blood'"),
        ("--count smoker --by blood --unit person_id --mu 1", "must be listed, got none"),
        ("--count smoker --by blood --groups A,A --unit person_id --mu 1", "are the same"),
        (
            "--count smoker --by person_id --groups p1 --unit person_id --mu 1",
            "is the unit and names groups at once",
        ),
        (
            "--count smoker --by day:month --groups 2026-01-05 --unit person_id --mu 1",
            "a group by 'day' must be a month such as 2026-11, got '2026-01-05'",
        ),
        (
            "--count smoker --by blood --groups discover --unit person_id --mu 1",
            "discovering groups needs a delta",
        ),
        ("--count smoker --known-size --unit person_id --mu 1", "needs the number of people"),
        ("--count smoker --known-size 0 --unit person_id --mu 1", "must be a positive number"),
        ("--count smoker --unit person_id --mu 1 --out x.xls", "ending in .csv, .json, .jsonl"),
        ("--count smoker --unit person_id --mu 1 --out no/x.csv", "a folder that exists"),
        ("--count smoker --unit person_id --mu 1 --out survey.csv", "another file than the input"),
        ("--count smoker --unit person_id --mu 1 --delimiter ;;", "must be one character"),
        ("--count smoker --unit person_id --mu 1 --delimiter ;", "try --delimiter ','"),
    ],
)
@pytest.mark.parametrize("rehearsed", [False, True])
def test_a_bad_request_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, said: str, *, rehearsed: bool
) -> None:
    """What cannot be released is refused before anything is written, in a dry run too."""
    write_survey(tmp_path)
    monkeypatch.chdir(tmp_path)
    out = () if "--out" in words else ("--out", "table.csv")
    dry = ("--dry-run",) if rehearsed else ()
    saved = ("--save-spec", "spec.toml")
    assert said in refused("release", "survey.csv", *words.split(), *out, *saved, *dry)
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]
    assert Path("survey.csv").read_text(encoding="utf-8") == SURVEY


@pytest.mark.parametrize("delta", [(), ("--delta", "1e-6")])
def test_a_release_needs_a_budget(tmp_path: Path, delta: tuple[str, ...]) -> None:
    """Nothing is released without a budget; a delta alone is none."""
    survey = write_survey(tmp_path)
    said = refused("release", survey, "--count", "smoker", *PEOPLE, *delta)
    assert "the budget is missing" in said


def _folder(path: Path) -> None:
    path.mkdir()


def _cut(path: Path) -> None:
    path.write_bytes(gzip.compress(SURVEY.encode() * 1000)[:200])


@pytest.mark.parametrize(
    ("name", "make", "said"),
    [
        ("missing.csv", lambda _: None, "there is no file"),
        ("missing-*.csv", lambda _: None, "there is no file"),
        ("x" * 5000 + ".csv", lambda _: None, "there is no file"),
        ("folder.csv", _folder, "holds no file"),
        ("empty.csv", Path.touch, "is empty"),
        ("twice.csv", lambda p: p.write_text("smoker,smoker\n1,1\n"), "have the same name"),
        ("broken.parquet", lambda p: p.write_text("PAR1 no"), "could not be read as parquet"),
        ("cut.csv.gz", _cut, "could not be read"),
        (
            "semicolons.csv",
            lambda p: p.write_text("smoker;id\n1;2\n"),
            "try --delimiter ';'; where numbers have a comma, --decimal ',' too",
        ),
        ("book.xlsx", lambda p: p.write_text("x"), "could not be read as xlsx"),
    ],
)
def test_a_bad_file_gets_one_sentence(
    tmp_path: Path, name: str, make: Callable[[Path], None], said: str
) -> None:
    """A file that cannot be read is refused, and nothing is written."""
    make(tmp_path / name)
    before = sorted(tmp_path.iterdir())
    words = ("--count", "smoker", *EXACT, "--out", tmp_path / "table.csv")
    status = 3 if said.startswith(("could not be read", "is empty")) else 2
    assert said in refused("release", tmp_path / name, *words, status=status)
    assert sorted(tmp_path.iterdir()) == before


def test_no_address_is_fetched() -> None:
    """A URL is refused."""
    assert "download it first" in refused("release", "https://a.example/b.csv", "--count", "c")


def test_a_day_is_no_number(tmp_path: Path) -> None:
    """A column of the wrong declared type is refused by its type, without a cell."""
    import duckdb

    path = tmp_path / "days.parquet"
    duckdb.sql(f"copy (select date '1999-12-31' as day, 1 as id) to '{path}'")
    said = refused("release", path, "--sum", "day=0:1", "--unit", "id", "--mu", "1")
    assert "the column 'day' holds Date, not numbers" in said
    assert "1999" not in said


@pytest.mark.parametrize(
    "words", [["plan", "--nonsense"], ["release"], ["nonsense"], ["plan", "--epsilon"], []]
)
def test_usage_errors_have_status_two(words: list[str]) -> None:
    """Unknown options, missing arguments and nothing at all end with status 2 and help."""
    ran = run(*words)
    assert ran.status == 2
    assert "Usage: halfnoise" in ran.out or "Error" in ran.err
    assert "Traceback" not in ran.err


def test_the_unforeseen_shows_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even an error that nobody foresaw shows an engine's words."""

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("cell p1 is odd")

    monkeypatch.setattr(halfnoise.cli.checking, "plan", fails)
    ran = run("plan", "--counts", "3", "--mu", "1")
    assert (ran.status, ran.out) == (2, "")
    assert "not foreseen; report it (RuntimeError; Python 3" in ran.err
    assert "p1" not in ran.err


def test_ctrl_c_leaves_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping the command is no accident."""

    def stops(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(halfnoise.cli.checking, "plan", stops)
    ran = run("plan", "--counts", "3", "--mu", "1")
    assert ran.status == 130
    assert ran.out == ""
    assert "Traceback" not in ran.err


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes break otherwise there")
@pytest.mark.parametrize("word", ["plan", "release"])
def test_a_broken_pipe_leaves_no_traceback(tmp_path: Path, word: str) -> None:
    """A reader who leaves early, as head does, makes no noise."""
    survey = write_survey(tmp_path)
    items = tmp_path / "items.txt"
    items.write_text("\n".join(f"item {i}" for i in range(20_000)), encoding="utf-8")
    show = ("--json",) if word == "plan" else ()
    words = [word, str(survey), "--items", f"blood=@{items}", *PEOPLE, *BUDGET, *show]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        ran = subprocess.run(
            [*COMMAND, *words], stdout=out, stderr=subprocess.PIPE, check=False, text=True
        )
    assert "Traceback" not in ran.stderr
    assert "Error" not in ran.stderr


CANARY = ("Quirin Zebra", "1958-03-02", "HIV+", "zebra@quirin.org")


@pytest.mark.parametrize("command", ["plan", "release", "dry-run", "check"])
def test_a_file_without_a_header_is_not_shown(tmp_path: Path, command: str) -> None:
    """No word of the command line brings a person's cells to the screen."""
    path = tmp_path / "rows.csv"
    path.write_text(",".join(CANARY) + "\n" + ",".join(CANARY) + "\n", encoding="utf-8")
    words = {"dry-run": ("release", "--dry-run")}.get(command, (command,))
    for asked in ("smoker", "*", "Q*", "HIV*", "old=age:at-least:65"):
        for more in ((), ("--by", "Zebra", "--groups", "a"), ("--delimiter", ";")):
            ran = run(*words, path, "--count", asked, "--row-is-person", "--mu", "1", *more)
            assert ran.status != 0
            assert not any(cell in ran.out + ran.err for cell in CANARY), ran.err
    names = ("--names", "who, born, virus,mail")
    ran = run(*words, path, "--count", "virus", "--row-is-person", "--mu", "1e6", *names)
    assert ran.status == 0, ran.err
    assert not any(cell in ran.out + ran.err for cell in CANARY)


def test_words_for_text_files(tmp_path: Path) -> None:
    """Names and quotes that span lines can be said on the command line and in a spec."""
    path, spec = tmp_path / "rows.csv", tmp_path / "release.toml"
    path.write_text('1,"a\nb"\n0,c\n1,d\n', encoding="utf-8")
    words = ("release", path, "--count", "x", "--row-is-person", "--mu", "1e6")
    ran = run(*words, "--names", "x,y", "--quote-newlines", "--size-importance", "1")
    assert ran.table == {"x": 2, "number of people": 3}
    spec.write_text('names = ["x", "y"]\nquote-newlines = true\nsize-importance = 1\n')
    assert run(*words, "--spec", spec).table == ran.table
    assert "a list of the columns' names" in refused(*words, "--names", "x,,y")
    assert "iconv" in refused(*words, "--encoding", "iso2022_jp")
    replaced = ("--neighbors", "replace", "--names", "x,y", "--quote-newlines")
    assert "--known-size 200000" in refused(*words, *replaced)
    assert "--known-size 200000" in refused(*words, *replaced, "--dry-run")


def test_data_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the data's fault, not that of the words."""
    path, access = write_survey(tmp_path), os.access
    monkeypatch.setattr(os, "access", lambda p, how: p != path and access(p, how))
    said = refused("release", path, "--count", "smoker", *EXACT, status=3)
    assert "may not be read by you; ask its owner" in said


def test_what_is_piped_in_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash is a name like any other, and rows may be read more than once."""
    monkeypatch.chdir(tmp_path)
    said = refused("release", "-", "--count", "smoker", *EXACT)
    assert said == "there is no file '-'; save what is piped in"
    (tmp_path / "empty.csv").touch()
    said = refused("release", "empty.csv", "--count", "smoker", *EXACT, status=3)
    assert said.endswith("it has not even a header; export it again, or leave it out")


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"text": {"encoding": "latin-1"}}, "text must be a TextFormat, got"),
        ({"text": ";"}, "text must be a TextFormat, got ';'"),
        ({"ledger": 7}, "ledger must be a Ledger, its file, or None, got 7"),
        ({"ledger": "budget.db"}, "there is no ledger 'budget.db'; make it: halfnoise ledger init"),
    ],
)
def test_wrong_types_in_python(options: dict[str, Any], rule: str, tmp_path: Path) -> None:
    """What is of another type than the library takes is refused in words, before anything else."""
    (path := tmp_path / "a.csv").write_text("x\n1\n", encoding="utf-8")
    with pytest.raises(hn.InvalidParameterError, match=rule):
        hn.release(
            path, [hn.Count("x")], row_is_person=True, privacy=hn.GaussianDP(mu=1), **options
        )


@pytest.mark.parametrize("master", ["localhost:7077", "http://host", "Spark://host:7077", ""])
def test_spark_is_not_started_for_an_address_that_is_none(master: str, tmp_path: Path) -> None:
    """Java would print its own words before ours."""
    words = ("--count", "smoker", "--engine", "spark", "--spark-master", master, "--mu", "1")
    assert "--spark-master must be" in refused("release", write_survey(tmp_path), *words, *PEOPLE)
