"""The page docs/cli.md, made from the command's own help by ``make reference``."""

import os
import subprocess
import sys

COMMANDS = (
    *("plan", "release", "ledger", "ledger init", "ledger show", "ledger verify"),
    *("demo", "doctor", "figures"),
)


def page() -> str:
    """Return the page."""
    parts = ["# The command\n\nMade from `--help` by `make reference`; a test compares the two.\n"]
    for words in ([], *(command.split() for command in COMMANDS)):
        title = " ".join(["halfnoise", *words])
        parts.append(f"## {title}\n\n```text\n{_help(words)}\n```\n")
    return "\n".join(parts)


def _help(words: list[str]) -> str:
    program = "from halfnoise.cli import main; main()"
    plain = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", program, *words, "--help"],
        capture_output=True,
        check=True,
        env=os.environ | plain,
    )
    lines = done.stdout.decode().splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()


if __name__ == "__main__":
    sys.stdout.write(page())
