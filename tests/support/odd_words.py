"""Words that people type, paste or script, and a few that nobody would."""

from pathlib import Path

import hypothesis.strategies as st

from support.commands import SURVEY

LONG = "x" * 5_000  # longer than any path may be
NUMBERS = [
    *("0", "1", "2", "-1", "0.5", "1e-6", "1e-320", "1e308", "1e999", "-1e999", "nan", "inf"),
    *("-inf", "1_000", "1,5", "0x10", "1e", "٣", "²", "99999999", "9" * 25, "-0.0"),
    *("1/3", "½", "1e-999", "+1", " 1 ", "1\n", "Infinity", "1e5000000", "10", "3"),
]
MARKS = [
    *(
        "",
        " ",
        "-",
        "--",
        "=",
        ":",
        ",",
        ";",
        "@",
        "..",
        ".",
        "*",
        "?",
        "[",
        "[!",
        "[a-",
        "\\",
        "'",
    ),
    *('"', '""', '"a', "{", "{}", "{name}", "{{name}}", "%s", "%", "~", "$HOME", "|", "\t", "\n"),
    *("\r", "\0", "\x1b[31m", "\x7f", "\ud800", "a\udcff", "\ufeff", "\u202eabc", "\U0010ffff"),
    *("é", "e\u0301", "\u2028", "a=b=c", "=a", "a=", "a==", "--mu", "-h", "a\0b", "'; --"),
    *("@@", "@\0", "@\ud800", "none", "None", "true", "discover", "tab", "-1", "\x1e"),
]
PATHS = [
    *("survey.csv", "survey.parquet", "rows.jsonl", "gone.csv", "folder", "folder.csv", "link.csv"),
    *("loop.csv", "dangling.csv", "empty.csv", "list.txt", "bytes.txt", "spec.toml", "broken.toml"),
    *("*.csv", "**", "[a", "survey.csv/x", "folder/..", "a://b.csv", "\0.csv", "."),
    *("\ud800.csv", "table.csv", "table.json", "table.jsonl", "table.parquet", "table.md", "x.xls"),
    *("folder/x.csv", "link.toml", "survey.csv.gz", "-", ".csv", "survey.CSV", "bad\udcff.csv"),
]
COLUMNS = ["person_id", "smoker", "age", "visits", "blood", "income", "day", "q_a", "q_b", "nobody"]
WORDS = ["at-least", "above", "below", "up-to", "between", "is", "in", "yes", "at_least", "IS"]
LISTS = ["A,B,AB,O", "A", "A,,B", "@list.txt", "@gone.txt", "@survey.csv", "@bytes.txt", "@folder"]
LISTS += ['"a,b",c', '"a', "1,2", "0,18,65", "65,18", "0,0", "A,A", "a,@list.txt", "@loop.csv", ","]
# No word may lead out of the folder where it is all tried.
ANY = st.text(st.characters(), max_size=12).map(lambda text: text.replace("/", "_"))
NUMBER = st.one_of(st.sampled_from(NUMBERS), st.integers().map(str), st.floats().map(str))
# Long ones, of which Hypothesis sees but the number: it shows what it draws from.
VERY_LONG = st.integers(0, 4).map(
    (LONG, f"@{LONG}", f"{LONG}.csv", "1" * 5_000, "a,b" * 2_000).__getitem__
)
ODD = st.one_of(
    st.sampled_from([*NUMBERS, *MARKS, *PATHS, *COLUMNS, *LISTS]), NUMBER, ANY, VERY_LONG
)
COLUMN = st.one_of(st.sampled_from(COLUMNS), st.sampled_from(COLUMNS), st.sampled_from(MARKS), ANY)
VALUE = st.one_of(
    NUMBER, st.sampled_from([*LISTS, "2026-01-05", "2026-13-45", "18..64", "..", "1.."]), ODD
)
JOIN = st.sampled_from(["", ":", "=", "..", ",", "::", " "])
CONDITION = st.one_of(
    st.builds("{}:{}:{}".format, COLUMN, st.sampled_from(WORDS), VALUE),
    st.builds("{}={}:{}:{}".format, ANY, COLUMN, st.sampled_from(WORDS), VALUE),
    st.builds("{}:between:{}..{}".format, COLUMN, VALUE, VALUE),
    st.lists(st.one_of(COLUMN, st.sampled_from(WORDS), VALUE, JOIN), max_size=7).map("".join),
)
AMOUNT = st.one_of(
    st.builds("{}={}:{}".format, COLUMN, NUMBER, NUMBER),
    st.builds("{}:{}".format, NUMBER, NUMBER),
    ODD,
)
LIST = st.one_of(
    st.builds("{}={}".format, COLUMN, VALUE), st.lists(VALUE, max_size=4).map(",".join), ODD
)


def lay_out(folder: Path) -> None:
    """Put there what the paths lead to: files, folders, links to them and to nothing."""
    (folder / "survey.csv").write_text(SURVEY, encoding="utf-8")
    (folder / "rows.jsonl").write_text('{"smoker": 1, "person_id": "p"}\n', encoding="utf-8")
    (folder / "empty.csv").touch()
    (folder / "list.txt").write_text("A\nB\n\nAB\n", encoding="utf-8")
    (folder / "bytes.txt").write_bytes(bytes(range(256)))
    (folder / "spec.toml").write_text('count = ["smoker"]\nmu = "{name}"\n', encoding="utf-8")
    (folder / "broken.toml").write_text("count = [", encoding="utf-8")
    for name in ("folder", "folder.csv"):
        (folder / name).mkdir()
    for name, target in {
        "link.csv": "survey.csv",
        "loop.csv": "loop.csv",
        "dangling.csv": "nowhere.csv",
        "link.toml": "spec.toml",
    }.items():
        (folder / name).symlink_to(target)
