"""Compare what this tree says with what another commit says, byte for byte.

``python tests/support/compare.py --base DIR`` or ``--commit 1e66783``: runs plans as JSON, dry
runs and refusals, in one long-lived process for each tree, and prints how many differ.
"""

import argparse
import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
HEADER = "person_id,smoker,age,visits,blood,income,day,region,sex,drug,q_a,q_b"
ROWS = (
    "p1,1,70,3,A,100,2026-01-05,north,f,aspirin,yes,no",
    "p2,2,30,25,B,-99,2026-02-05,south,m,insulin,no,no",
    "p3,yes,64,0,O,300,2026-03-05,north,m,statin,yes,yes",
)
EPSILON = "--epsilon 1 --delta 1e-6"
FULL = "--count smoker --sum visits=0:20 --choice blood=A,B,AB,O"
QUERIES = (
    "--counts 1",
    "--counts 100",
    "--count smoker",
    "--count smoker --count age:at-least:65",
    "--count over=age:above:65 --count kid=age:below:18 --count old=age:up-to:99",
    "--count mid=age:between:18..64 --count f=sex:is:f --count ab=blood:in:A,B",
    "--count sick=smoker:yes:1,2 --count since=day:at-least:2026-02-01",
    "--sum 0:20",
    "--sum visits=-5:20 --sum income=0:1e6",
    "--mean income=0:200000",
    "--mean 0:1 --mean 0:5 --sum 0:3",
    "--choice 5",
    "--choice blood=A,B,AB,O",
    "--bins age=0,18,65",
    "--bins 7 --choice 3",
    "--items 50 --at-most 3",
    "--items drug=aspirin,insulin,statin --at-most 2",
    "--items drug=@drugs.txt",
    "--counts 30 --at-most 4",
    FULL,
    "--count smoker --sum visits=0:20 --mean income=0:100 --bins age=0,18,65 --items drug=a,b,c",
)
BUDGETS = (
    EPSILON,
    "--epsilon 0.5",
    "--mu 1",
    "--rho 0.5",
    "--rdp 8:1",
    "",
    "--delta 1e-8",
    f"{EPSILON} --releases 12",
    "--mu 2 --releases 3 --level 0.99",
    "--margin 25",
    "--margin 25 --delta 1e-9 --releases 4",
    "--epsilon 3 --level 0.5",
)
GROUPS = (
    "--by region --groups north,south",
    "--by region --groups @regions.txt",
    '--by region --groups "a, b",c --other elsewhere',
    "--by region --groups north,south --other none",
    "--groups 16",
    "--groups 16 --max-groups 4",
    "--groups 1 --neighbors replace",
    "--groups 9 --no-group-sizes",
    "--by region --groups discover",
    "--by region --groups discover --discover-delta 1e-7 --max-groups 3",
    "--by region,sex --groups north,south --groups f,m",
    "--by region,sex --groups @pairs.txt",
    "--by day:month --groups 2026-01,2026-02",
    "--by day:year --by sex --groups discover",
)
RULES = (
    "--neighbors replace",
    "--neighbors add-remove --known-size 200000",
    "--known-size",
    "--importance smoker=4 --importance visits=0.1",
    "--size-importance 2",
    "--where age:at-least:18 --missing -99,N/A",
    "--where sex:is:f",
    "--row-is-person",
)
FILES = (
    "survey.csv --count smoker",
    "survey.csv --count q_* --sum visits=0:20",
    "survey.csv --count q_? --unit person_id",
    "survey.tsv --count q_[ab] --count smoker",
    "survey.csv.gz --count smoker --bins age=0,18,65",
    "part-*.csv --count smoker",
    "part-1.csv part-2.csv --count q_*",
    "semicolon.csv --delimiter ; --count q_*",
    "utf16.csv --encoding utf-16 --count q_* --by region --groups north,south",
    "latin.csv --encoding latin-1 --count caf\u00e9",
    "mixed.csv.gz survey.csv --count smoker",
    "rows.jsonl --count smoker --sum visits=0:20",
    "rows.parquet --count smoker --sum visits=0:20 --by region --groups north",
    "rows.parquet more.parquet --count smoker",
    "survey.csv --spec spec.toml",
    "survey.csv --spec day.toml --set day=2026-01-05",
    "survey.csv --spec spec.toml --mu 1 --size-dial 3",
    "survey.csv --spec groups.toml",
)
WRONG = (
    "",
    "--count",
    "survey.csv --count nothing",
    "survey.csv --count smokr",
    "survey.csv --count x_*",
    "survey.csv --sum visits",
    "survey.csv --sum visits=20:0",
    "survey.csv --choice blood=",
    "survey.csv --bins age=5,1",
    "survey.csv --count smoker --unit nobody",
    "survey.csv --count smoker --by area --groups a,b",
    "survey.csv --count smoker --by region --groups north,north",
    "survey.csv --count smoker --delimiter ab",
    "survey.csv --count smoker --encoding nonsense",
    "survey.csv --count smoker --where age",
    "survey.csv --count smoker --neighbors others",
    "survey.csv --count smoker --importance visits=2",
    "survey.csv --count smoker --mu 1 --epsilon 1",
    "survey.csv --count smoker --mu 1 --delta 1e-6",
    "survey.csv --count smoker --rdp 8",
    "survey.csv --count smoker --level 2",
    "survey.csv --count smoker --size-dial 1 --size-importance 1",
    "survey.csv --spec missing.toml",
    "survey.csv --spec broken.toml",
    "survey.csv --spec day.toml",
    "survey.csv --set day=1 --count smoker",
    "missing.csv --count smoker",
    "empty.csv --count smoker",
    "twice.csv --count smoker",
    "semicolon.csv --count smoker",
    "survey.csv survey.csv --count smoker",
    "survey.csv survey.tsv --count smoker",
    "part-1.csv survey.csv other.csv --count smoker",
    "notes.doc --count smoker",
    "broken.parquet --count smoker",
    "rows.parquet other.parquet --count smoker",
    "http://example.org/x.csv --count smoker",
    "survey.csv --items drug=@nowhere.txt",
    "rows.parquet --count smoker --by visits --groups a,b",
)


def commands() -> Iterator[list[str]]:
    """List the commands to compare: each kind of query, budget, group, rule, file and mistake."""
    for queries in QUERIES:
        yield ["plan", *queries.split(), *EPSILON.split(), "--json"]
        yield ["plan", *queries.split(), "--mu", "1"]
    for budget in BUDGETS:
        yield ["plan", *FULL.split(), *budget.split(), "--json"]
        yield ["plan", "--counts", "20", *budget.split()]
    for groups in GROUPS:
        words = [word.strip('"') for word in groups.split()]
        yield ["plan", *FULL.split(), *words, *EPSILON.split(), "--json"]
        yield ["plan", "--count", "smoker", *words, *EPSILON.split()]
        dry = ["--unit", "person_id", "--dry-run", *EPSILON.split()]
        yield ["release", "survey.csv", "--count", "smoker", *words, *dry]
    for rule in RULES:
        yield ["plan", *FULL.split(), *rule.split(), *EPSILON.split(), "--json"]
        yield ["release", "survey.csv", *FULL.split(), *rule.split(), "--dry-run", "--mu", "1"]
    yield ["plan", "--counts", "100", "--size-dial", "5", "--mu", "1", "--json"]
    for files in FILES:
        yield ["plan", *files.split(), *EPSILON.split(), "--json"]
        dry = ["--unit", "person_id", "--dry-run", *EPSILON.split()]
        yield ["release", *files.split(), *dry]
    for wrong in WRONG:
        yield ["plan", *wrong.split()]
        yield ["release", *wrong.split(), "--epsilon", "1", "--row-is-person", "--dry-run"]
    yield ["release", "survey.csv", "--count", "smoker", "--dry-run", "--mu", "1"]
    yield ["release", "survey.csv", "--count", "smoker", "--dry-run", "--row-is-person"]
    yield ["release", "survey.csv", "--counts", "3", "--unit", "person_id", "--mu", "1"]
    yield ["release", "survey.csv", "--sum", "0:3", "--unit", "person_id", "--mu", "1"]
    yield ["release", "survey.csv", "--count", "smoker", "--unit", "smoker", "--mu", "1"]


def write_files(folder: Path) -> None:
    """Write one small table in every format, specs, lists, and files that are refused."""
    table = "\n".join([HEADER, *ROWS, ""])
    wide = table.replace(",", ";")
    texts = {
        "survey.csv": table,
        "part-1.csv": table,
        "part-2.csv": table,
        "survey.tsv": table.replace(",", "\t"),
        "semicolon.csv": wide,
        "other.csv": table.replace("age", "years"),
        "twice.csv": table.replace("age", "smoker"),
        "empty.csv": "",
        "notes.doc": table,
        "broken.parquet": table,
        "drugs.txt": "aspirin\ninsulin\n\nstatin\n",
        "regions.txt": "north\nsouth\n",
        "pairs.txt": "north,f\nsouth,m\n",
        "spec.toml": 'count = ["smoker"]\nsum = ["visits=0:20"]\nunit = "person_id"\nepsilon = 1\n',
        "day.toml": 'count = ["since=day:at-least:{day}"]\nunit = "person_id"\nmu = 1\n',
        "groups.toml": 'count = ["smoker"]\nby = ["region", "sex"]\nmu = 1\n'
        'groups = [["north", "south"], ["f", "m"]]\n',
        "broken.toml": "count = [",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "utf16.csv").write_text(table, encoding="utf-16")
    (folder / "latin.csv").write_text(table.replace("smoker", "caf\u00e9"), encoding="latin-1")
    for name in ("survey.csv.gz", "mixed.csv.gz"):
        (folder / name).write_bytes(gzip.compress(table.encode()))
    names = HEADER.split(",")
    lines = [json.dumps(dict(zip(names, row.split(","), strict=True))) for row in ROWS]
    (folder / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    import duckdb

    with duckdb.connect() as connection:
        rows = connection.read_csv(str(folder / "survey.csv"))
        for name in ("rows.parquet", "more.parquet"):
            rows.write_parquet(str(folder / name))
        rows.project("smoker, 'x' as age").write_parquet(str(folder / "other.parquet"))


@dataclass(frozen=True)
class Tree:
    """A checkout whose command runs in a process of its own, which lives until the end."""

    process: subprocess.Popen[str]

    @classmethod
    def of(cls, root: Path, folder: Path) -> "Tree":
        """Start the process of a checkout, in a folder."""
        plain = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=os.environ | plain | {"PYTHONPATH": str(root / "src")},
        )
        return cls(process)

    def ask(self, words: Sequence[str]) -> None:
        """Send one command."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        """Return the status of a command and all that it said, as JSON."""
        assert self.process.stdout
        return self.process.stdout.readline()


def serve() -> None:
    """Run the commands that arrive line by line."""
    from halfnoise.cli import main

    for line in sys.stdin:
        out, err = io.StringIO(), io.StringIO()
        status: object = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(json.loads(line))
            except SystemExit as stopped:
                status = stopped.code
        sys.stdout.write(json.dumps([status, out.getvalue(), err.getvalue()]) + "\n")
        sys.stdout.flush()


def compare(base: Path, ours: Path = HERE) -> tuple[int, list[tuple[list[str], str, str]]]:
    """Return how many commands were compared, and those that differ with what both trees said."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        before, after = Tree.of(base, Path(folder)), Tree.of(ours, Path(folder))
        answers = []
        for words in commands():
            before.ask(words)
            after.ask(words)
            answers.append((words, before.answer(), after.answer()))
        before.process.communicate()
        after.process.communicate()
    return len(answers), [answer for answer in answers if answer[1] != answer[2]]


@contextlib.contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Check a commit out for a while."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def report() -> None:
    """Read the words of this script, compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, help="a checkout to compare with")
    parser.add_argument("--commit", default="1e66783", help="or a commit")
    given = parser.parse_args()
    place = checkout(given.commit) if given.base is None else contextlib.nullcontext(given.base)
    with place as base:
        number, differing = compare(base.resolve())
    for words, theirs, ours in differing:
        sys.stdout.write(f"{' '.join(words)}\n  base {theirs}  ours {ours}")
    sys.stdout.write(f"{number} commands compared, {len(differing)} differ\n")
    sys.exit(bool(differing))


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else report()
