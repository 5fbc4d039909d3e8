"""All that a run lets be heard: what it prints, its exit status, warnings, and every log record."""

import contextlib
import logging
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

# The only things that may differ between two runs: how long a step took, and what a ledger says of
# its own entries (their hashes hang on the time).
_TIME = re.compile(r"after \d+\.\d+ s")
_HASH = re.compile(r"[0-9a-f]{16,}")
LEDGER = re.compile(r"\.ledger(-wal|-shm)?$")


def plain(text: str) -> str:
    """Return what was said without durations, and without the hashes of a ledger."""
    lines = _TIME.sub("after TIME s", text).splitlines(keepends=True)
    return "".join(_HASH.sub("HASH", line) if "ledger" in line else line for line in lines)


def is_ledger(path: Path) -> bool:
    """Whether a file is a ledger, or what SQLite keeps beside it."""
    return bool(LEDGER.search(path.name))


class _Keep(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record with all that is known of it but where and when it was made."""
        # Whenever Python collects garbage, py4j tells the JVM so, and logs it.
        if not record.name.startswith("py4j"):
            told = record.getMessage(), record.exc_text, record.stack_info, record.exc_info
            shown = [str(each) for each in told if each]
            self.said.append(plain(" ".join([record.name, record.levelname, *shown])))


@contextlib.contextmanager
def listening() -> Iterator[list[str]]:
    """Hear every logger at every level, and all warnings, while something runs."""
    keep, root = _Keep(), logging.root
    known = [each for each in root.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    loggers = [root, *known]
    before = [(each, each.level, each.propagate, each.disabled) for each in loggers]
    for each in loggers:
        each.level, each.propagate, each.disabled = logging.NOTSET, True, False
    root.level = logging.DEBUG
    root.manager._clear_cache()  # type: ignore[attr-defined]  # of levels, which were set above
    root.addHandler(keep)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield keep.said
        keep.said += [f"{each.category.__name__}: {each.message}" for each in warned]
    finally:
        root.removeHandler(keep)
        for each, level, propagate, disabled in before:
            each.level, each.propagate, each.disabled = level, propagate, disabled
        root.manager._clear_cache()  # type: ignore[attr-defined]
