import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

import halfnoise as hn
from halfnoise.cli.options import COMPARE, INIT, NOTE, PLAN, RELEASE, REPORT
from halfnoise.privacy.definitions import ApproxDP
from support.commands import SURVEY, run, write_survey
from support.gaps import GAPS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def table_rows(text: str, header: str) -> list[list[str]]:
    """Return the cells of the Markdown table with this header."""
    below = text[text.index(header) :].splitlines()[2:]
    rows = []
    for line in below:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_the_docs_run(page: Path) -> None:
    """Every example with a prompt gives what it says."""
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert not failed


def terms() -> list[str]:
    """Return what the glossary explains."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    return re.findall(r"^\*\*(.+?)[.,]?\*\*", text, flags=re.MULTILINE)


def test_the_table_of_gains_is_what_a_plan_says() -> None:
    """The margins in the README are those of the plans."""
    rows = table_rows(README, "| questions, at epsilon 1")
    assert [row[0] for row in rows] == ["12", "24", "100", "1,000"]
    for queries, usual, ours, people in rows:
        workload = hn.Workload([hn.Counts(int(queries.replace(",", "")))])
        found = hn.plan(workload, privacy=ApproxDP(epsilon=1, delta=1e-6))
        shown = {line.lstrip("* ").split("  ")[0]: line for line in found.table().splitlines()}
        assert shown["standard-gaussian"].split()[1] == usual.removesuffix(" people")
        assert shown["correlated-gaussian"].split()[-2:] == [ours, people]
        assert found.chosen.name == "correlated-gaussian"


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example works as it stands on a survey with its columns."""
    write_survey(tmp_path)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102
    assert isinstance(names["table"], hn.Release)


def commands(page: str = README) -> list[list[str]]:
    """Return the commands of a page, as a shell reads them."""
    text = page.replace("\\\n", " ")
    found = re.findall(r"^ +halfnoise (.+)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in found]


@pytest.mark.usefixtures("ledgers")
def test_the_commands_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command works as it stands, in this order, and a release as a plan."""
    write_survey(tmp_path)
    shutil.copytree(ROOT / "examples" / "hospital", tmp_path / "examples" / "hospital")
    monkeypatch.chdir(tmp_path)
    assert commands()
    for word, *others in commands():
        assert word in ("ledger", "release")
        for each in ("plan", "release") if word == "release" else (word,):
            ran = run(each, *others)
            assert ran.status == 0, ran.err
    assert (tmp_path / "table.csv").exists()


def test_the_commands_of_the_page_of_tables_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command works as it stands, as a plan and as a check, and so does the spec."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    rows = "p1,f,20,north,100\np2,m,40,south,200\np3,,70,west,300\n"
    Path("survey.csv").write_text(f"person_id,sex,age,region,income\n{rows}", encoding="utf-8")
    Path("regions.txt").write_text("north\nsouth\neast\n", encoding="utf-8")
    (spec,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    Path("tables.toml").write_text(spec, encoding="utf-8")
    found = [*commands(page), ["release", "survey.csv", "--spec", "tables.toml"]]
    assert len(found) == 3
    for _, *words in found:
        for each in ("check", "plan", "release"):
            ran = run(each, *words)
            assert ran.status == 0, ran.err
    assert "sex=f, age=18 to 30, region=north" in Path("table.csv").read_text(encoding="utf-8")


def test_what_can_be_asked_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of the table of queries works on the command line and means the same in Python."""
    write_survey(tmp_path)
    (tmp_path / "list.txt").write_text("\n".join("abcdefghij"), encoding="utf-8")
    header = SURVEY.replace("day", "drug", 1)
    (tmp_path / "survey.csv").write_text(header, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    python = vars(hn) | {"drugs": list("abcdefghij")}
    for _, words, code in table_rows(README, "| | on the command line"):
        (query,) = (eval(text, python) for text in re.findall(r"`(.+?)`", code))  # noqa: S307
        for text in re.findall(r"`(.+?)`", words):
            ran = run(
                "release", "survey.csv", *shlex.split(text), "--unit", "person_id", "--mu", "1e6"
            )
            assert ran.status == 0, ran.err
            assert "*" in text or query.names[0] in ran.table


def test_options_that_the_pages_name_exist() -> None:
    """No page speaks of an option that the command does not have."""
    known = {option.word for option in (*COMPARE, *NOTE, *PLAN, *RELEASE, *INIT, *REPORT)}
    known |= {"head", "help", "folder", "version", "install-completion", "show-completion"}
    for page in PAGES:
        text = re.sub(r"\| -+:? \|.*", "", page.read_text(encoding="utf-8"))
        named = set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", text))
        assert named - known <= {"editable", "numprocesses"}, page.name


def test_the_gaps_are_those_measured() -> None:
    """The table of gaps in the theory is that of support/gaps.py, but for rows without a gap."""
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    written = table_rows(text, "| workload | closed forms | chosen |")
    assert written == [gap.shown for gap in GAPS if any(gap.above)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_no_machine_and_their_links_lead_somewhere(page: Path) -> None:
    """Nothing in the pages depends on where they were written."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(?:home|tmp|root|Users|opt|work|var)/|[A-Z]:\\", text)
    assert "localhost" not in text
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / link).exists(), link


def test_the_threat_model_names_what_is_there() -> None:
    """Every file that is said to stop an attack, and every test that is said to show it, exists."""
    text = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:\.py|/))(?:::(\w+))?`", text)
    assert len(named) > 60
    for path, test in named:
        is_test = path.rpartition("/")[2].startswith("test_")
        file = ROOT / ("tests" if is_test else "src/halfnoise") / path
        assert file.exists(), path
        assert not test or f"def {test}(" in file.read_text(encoding="utf-8"), (path, test)


def test_the_glossary_is_alphabetical() -> None:
    """Terms stand in alphabetical order."""
    assert terms() == sorted(terms(), key=lambda term: term.lower().replace("/", " "))


@pytest.mark.parametrize(
    "word",
    [
        *("Add/remove", "Best guess", "Bounds", "Budget", "Delta", "Design", "Epsilon", "Group"),
        *("Importance", "Item", "Ledger", "Level", "Margin of error", "Mean", "mu", "Neighbours"),
        *("Other", "Pure differential privacy", "Renyi", "Replace", "rho", "Spec"),
        *("Standard error", "Unit", "zero-concentrated"),
    ],
)
def test_the_glossary_explains_every_word_of_the_help(word: str) -> None:
    """What the help, the plans and the releases speak of is explained."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    bold = " ".join(re.findall(r"\*\*(.+?)\*\*", text))
    assert re.search(rf"\b{re.escape(word)}", bold, flags=re.IGNORECASE), word


@pytest.mark.parametrize(
    "option", list(dict.fromkeys([*PLAN, *RELEASE, *INIT])), ids=lambda option: option.word
)
def test_every_option_has_a_sentence(option: object) -> None:
    """Every option says what it does, in a sentence that fits on a line or two."""
    text = getattr(option, "help", "")
    assert text.endswith(".")
    assert 10 < len(text) <= 70
    assert "GDP" not in text
