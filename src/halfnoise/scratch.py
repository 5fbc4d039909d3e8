"""A folder for what does not fit in memory: for its owner alone, and gone afterwards.

Who is killed leaves one behind, for the next run to remove. Each folder holds a file that is locked
as long as its process lives: the system gives the lock back however that ends, and also where other
processes see the same folder but have numbers of their own, as containers do.
"""

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from halfnoise.failures import ours

try:
    import fcntl
except ImportError:  # a system without such locks; there nothing is ever taken for left behind
    fcntl = None  # type: ignore[assignment]

PREFIX, LOCK = "halfnoise-", ".lock"
MARK = b"a folder of halfnoise, for it to remove\n"  # in the lock, so that it is surely ours
_NAME = re.compile(f"{PREFIX}[a-z0-9_]{{8}}")  # as tempfile makes them
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextlib.contextmanager
def own_folder(root: Path | None = None) -> Iterator[Path]:
    """Make a folder, where temporary ones are unless given, and remove it with all in it."""
    try:
        root = Path(tempfile.gettempdir()) if root is None else root
        sweep(root)
        folder, lock = _locked(root)
    except OSError as error:
        raise ours(error, "no temporary folder could be made; name one: --scratch DIR") from None
    owner = os.getpid()
    try:
        yield folder
    finally:
        if os.getpid() == owner:  # a fork leaves it to whom it belongs
            _remove(folder)
            if lock is not None:
                os.close(lock)


def sweep(root: Path) -> None:
    """Remove folders of ours whose processes are gone."""
    for folder in root.glob(f"{PREFIX}*") if fcntl else ():
        # What is not there, not ours, being made or in use is left alone.
        with contextlib.suppress(OSError):
            found = folder.lstat()
            own = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
            if not own or found.st_uid != os.getuid() or not _NAME.fullmatch(folder.name):
                continue
            lock = os.open(folder / LOCK, os.O_RDWR | _SAFELY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.read(lock, len(MARK) + 1) == MARK:
                    _remove(folder)
            finally:
                os.close(lock)


def _locked(root: Path) -> tuple[Path, int | None]:
    """Make a folder, which gets the name that sweeping looks for once it is locked."""
    if not fcntl:
        return Path(tempfile.mkdtemp(prefix=PREFIX, dir=root)), None
    new = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=root))
    lock = os.open(new / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFELY, 0o600)
    with contextlib.suppress(OSError):  # a disk that is full, a file system without locks
        os.write(lock, MARK)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return new.rename(root / new.name.removeprefix(".")), lock


def _remove(folder: Path) -> None:
    """Remove the lock last: whoever is interrupted here leaves what the next one can remove."""
    with contextlib.suppress(OSError):
        for each in folder.iterdir():
            if each.name == LOCK:
                continue
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each, ignore_errors=True)
            else:
                each.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
