"""A ledger has one name: SQLite keeps its log by name, so under two of them there would be two."""

import contextlib
import os
import re
from pathlib import Path

from halfnoise.errors import DataError

MOUNTS = Path("/proc/self/mountinfo")  # where the system has it
_PARTIAL = re.compile(r"\.[0-9a-f]{16}\.partial")  # as ``files.write_whole`` names what it makes


def check_one_name(path: Path, called: str) -> None:
    """Refuse a file with a second name: a hard link, or a mount of the file alone.

    A symbolic link does no harm, as SQLite follows it. Nothing here opens the file: to close it
    again would give up the locks that SQLite has on it in this process.
    """
    real = Path(os.path.realpath(path))
    if real.stat().st_nlink > 1 and not _is_made(real):
        why, remedy = "has a second name (a hard link)", "remove that, and take a copy instead"
    elif os.fsencode(real) in _mounted():
        why, remedy = "is mounted here as a file alone", "mount its folder instead"
    else:
        return
    raise DataError(
        f"the ledger {called!r} {why}, so not all who charge it would see one another; {remedy}"
    )


def _is_made(real: Path) -> bool:
    """Take away the name that it was written under: its maker is about to, or died before that."""
    found = real.stat()
    for other in real.parent.glob(".*.partial"):
        with contextlib.suppress(OSError):
            if _PARTIAL.fullmatch(other.name) and os.path.samestat(other.lstat(), found):
                other.unlink()
    return real.stat().st_nlink == 1


def _mounted() -> set[bytes]:
    """Return where something is mounted."""
    with contextlib.suppress(OSError):
        lines = MOUNTS.read_bytes().splitlines()
        return {_plain(line.split(b" ")[4]) for line in lines}
    return set()


def _plain(field: bytes) -> bytes:
    """Read a field as the system writes it: blanks and the like as three digits."""
    return re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), field)
