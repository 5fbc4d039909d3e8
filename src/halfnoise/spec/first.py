"""A first spec, from the header of a table: every column is listed, and nothing is decided."""

import shlex
from collections.abc import Sequence

from halfnoise.data.meaning import kind_of
from halfnoise.data.sources import Source
from halfnoise.data.sources.values import CHECK_HEADER
from halfnoise.errors import InvalidParameterError
from halfnoise.spec.lists import quoted
from halfnoise.spec.queries import Words
from halfnoise.spec.toml import in_toml, write_spec

_ABOVE = """\
# Made from the header of {files}: nothing is decided yet.
# Fill it in from the codebook; then see what it says: halfnoise check {files} --spec FILE

# Who is one person: the column that says whom a row is about, or each row.
# unit = ["COLUMN"]
# row-is-person = true

# The privacy budget: smaller is safer; delta far below 1 / (number of people).
# epsilon = 1
# delta = 1e-6

# What to publish: put in what stands behind the columns below.
count = []
sum = []
mean = []
choice = []
bins = []

# Sets of codes, one to a row or several in a cell: "COLUMN=J45,E11.*"; what parts them there.
# items = []
# split = ";"

# Tables by several of these choices and bands: "A,B"; means, sums and counts by cell: "NAME=A,B".
# table = []
# by-cell = []

# Codes that stand for no answer, wherever they are: "-99", "N/A".
missing = []

# Who is in the table: "COLUMN:at-least:18". Groups of people: a column, and its keys.
# where = []
# How often each counts, where a survey has weights, and within which bounds: "COLUMN=0:5".
# weight = ""
# by = ["COLUMN"]
# groups = ["A", "B"]
"""
_COLUMNS = "# The columns, and what could be asked of each.\n"
_OTHERS = "# If it has others: --skip 3 (titles above them)"
_OF_LINES = ", --delimiter ';', --encoding cp1252"


def first_spec(source: Source, words: Words, data: Sequence[str]) -> str:
    """Return a spec in which all columns stand as comments; what was said of text stays.

    Nothing is learned from rows: a header that could be one is not written.
    """
    if source.extract is not None:
        why = "JSON lines have no header, so their columns are not known before rows are read"
        raise InvalidParameterError(f"{why}; write a spec with the columns that the codebook names")
    if source.could_be_a_row:
        why = "the first line of the file could be a person's row, of which nothing is written"
        raise InvalidParameterError(f"{why}; {CHECK_HEADER}")
    kinds = {name: kind_of(dtype) for name, dtype in source.dtypes.items()}
    typed = {*kinds.values()} != {"text"}
    files = shlex.join(data) if shlex.join(data).isprintable() else "DATA"
    parts = [_ABOVE.replace("{files}", files)]
    if text := write_spec(words):
        parts.append(f"# How the text is written.\n{text}")
    own = "" if source.text.sheet else _OF_LINES
    parts.append(_COLUMNS + (f"{_OTHERS}{own}.\n" if source.from_header else ""))
    parts += [_column(name, kind if typed else "") for name, kind in kinds.items()]
    return "\n".join(parts)


def _column(name: str, kind: str) -> str:
    """Return a column as comments: its name, and the words that could be said of it."""
    asked = {
        "count": [name, f"NAME={name}:at-least:65", f"NAME={name}:yes:1,2"],
        "sum, mean": [f"{name}=LOW:HIGH"],
        "choice, items": [f"{name}=A,B,C"],
        "bins": [f"{name}=0,18,65"],
        "unit, by": [quoted(name)],
    }
    held = f" holds {kind}" if kind else ""
    lines = [f"# {in_toml(name)}{held}"]
    lines += [f"#   {word}: {', '.join(map(in_toml, texts))}" for word, texts in asked.items()]
    return "\n".join(lines) + "\n"
