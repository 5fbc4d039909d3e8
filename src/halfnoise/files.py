"""Files: which is which, and how one is written whole or not at all, for its owner alone."""

import contextlib
import mmap
import os
import secrets
from collections.abc import Iterable, Iterator
from glob import glob
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

# Not every system has each of these flags.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
OWNER = 0o600
_DATABASE = b"SQLite format 3\0"
_TELLING = 64  # bytes that tell where lines may begin


def paths_in(data: object) -> list[str]:
    """Return the names of files where a table is given as such, and nothing for a frame."""
    named = data if isinstance(data, list | tuple) else [data]
    paths = [os.fsdecode(each) for each in named if isinstance(each, str | os.PathLike)]
    return paths if len(paths) == len(named) else []


def is_among(found: os.stat_result, names: Iterable[str]) -> bool:
    """Whether a file is one of those named, by patterns or folders too, whatever it is called."""
    for name in names:
        for path in (name, *glob(name, recursive=True), *_within(name)):
            with contextlib.suppress(OSError, ValueError):
                if os.path.samestat(os.stat(path), found):  # noqa: PTH116
                    return True
    return False


def _within(folder: str) -> Iterator[str]:
    """Yield the files in a folder and in those below, if it is one."""
    for above, _, names in os.walk(folder, followlinks=True):
        yield from (os.path.join(above, name) for name in names)  # noqa: PTH118


def is_database(path: Path) -> bool:
    """Whether a file is one of SQLite, as ledgers are, whatever it is called."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE
    return False


def same_place(one: Path, other: Path) -> bool:
    """Whether two names are of one file, be it there or not, also through links and ``..``."""
    return os.path.realpath(one) == os.path.realpath(other)


def write_whole(path: Path, content: bytes, *, new: bool = False) -> None:
    """Write a file whole or not at all, for its owner alone; a link in its place is replaced.

    What is not finished has a name that nobody can guess, so that nothing can lie in wait there.
    ``new``: what is there by now, even a link, is left alone: ``FileExistsError``.
    """
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        with _opened(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as handle:
            _write(handle, content)
        if new:
            _place(partial, path)
        else:
            os.replace(partial, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _place(partial: Path, path: Path) -> None:
    """Give a file its name, which nothing else may have."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: take the name first
        with _opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL):
            try:
                os.replace(partial, path)  # noqa: PTH105
            except BaseException:
                path.unlink()
                raise
    else:
        partial.unlink(missing_ok=True)  # who opens a ledger meanwhile may take it away


def append(path: Path, content: bytes, *, once: bool = False) -> None:
    """Append lines to a file, all or nothing; one that is new is for its owner, a link refused.

    Nobody else appends meanwhile. ``once``: what is there already is not repeated, and what a death
    tore is completed.
    """
    new = not path.exists()
    with _appending(path, os.O_RDWR if once else os.O_WRONLY) as handle:
        before = os.fstat(handle).st_size
        rest = _rest(handle, content) if once and before else content
        try:
            _write(handle, rest)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, before)
                if new and not before:
                    path.unlink()
            raise
    if new:
        _sync_folder(path.parent)


@contextlib.contextmanager
def _appending(path: Path, flags: int) -> Iterator[int]:
    """Open a file to append to it alone."""
    while True:
        with _opened(path, flags | os.O_CREAT | os.O_APPEND) as handle:
            if fcntl:
                fcntl.flock(handle, fcntl.LOCK_EX)
            if not fcntl or _is_at(handle, path):
                yield handle
                return


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file still has its name: whoever failed before may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _rest(handle: int, content: bytes) -> bytes:
    """Return what a file lacks of some lines: nothing, the end of what was torn, or all of it."""
    with mmap.mmap(handle, 0, access=mmap.ACCESS_READ) as found:
        if found.find(content) >= 0:
            return b""
        end = found[-len(content) :]
    begin, at = content[:_TELLING], 0
    while (at := end.find(begin, at)) >= 0:
        if content.startswith(end[at:]):
            return content[len(end) - at :]
        at += 1
    torn = next((n for n in range(len(begin), 0, -1) if end.endswith(begin[:n])), 0)
    apart = b"" if torn or end.endswith(b"\n") else b"\n"  # from a line that others left torn
    return apart + content[torn:]


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    handle = os.open(path, flags | _NO_LINK, OWNER)
    try:
        yield handle
    finally:
        os.close(handle)


def _write(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]
    os.fsync(handle)


def _sync_folder(folder: Path) -> None:
    """Make a new name last; some file systems cannot, which harms nobody."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
