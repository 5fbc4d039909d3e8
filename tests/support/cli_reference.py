"""The page docs/cli.md, made from the command's own help by ``make reference``."""

import os
import subprocess
import sys

COMMANDS = (
    *("plan", "release", "check", "spec", "ledger", "ledger init", "ledger show", "ledger verify"),
    *("compare", "note", "demo", "doctor", "figures"),
)


def page() -> str:
    """Return the page."""
    parts = ["# The command\n\nMade from `--help` by `make reference`; a test compares the two.\n"]
    for command, said in zip(("", *COMMANDS), _helps(), strict=True):
        title = f"halfnoise {command}".strip()
        parts.append(f"## {title}\n\n```text\n{said}\n```\n")
    return "\n".join(parts)


# Each help ends the command; what stands between two of them is no text.
PROGRAM = """
import contextlib, sys
from halfnoise.cli import main
for command in ([], *(words.split() for words in sys.argv[1:])):
    with contextlib.suppress(SystemExit):
        main([*command, "--help"])
    print(chr(12))
"""


def _helps() -> list[str]:
    """Return the help of the command and of each of its own, all of one process."""
    plain = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *COMMANDS],
        capture_output=True,
        check=True,
        env=os.environ | plain,
    )
    *helps, _ = done.stdout.decode().split("\f")
    return ["\n".join(line.rstrip() for line in each.splitlines()).strip() for each in helps]


if __name__ == "__main__":
    sys.stdout.write(page())
