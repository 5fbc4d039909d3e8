"""Places where a ledger cannot be written, or not all of it; run in forks of a warm process."""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from halfnoise.errors import HalfnoiseError
from halfnoise.ledger.ledger import Ledger
from support.cheap import Job, without_engine
from support.commands import Ran
from support.judge import MORE, judge, told

PAGE = 4096
NEW_MOUNTS = 0x20000  # what Linux calls a process with mounts of its own
NOBODY = 65534


def own_mounts(folder: Path, *options: str) -> str:
    """Mount something that this process alone sees; return why not."""
    if not hasattr(ctypes.CDLL(None), "unshare") or ctypes.CDLL(None).unshare(NEW_MOUNTS):
        return "no right to have mounts of one's own"
    for words in (["--make-rprivate", "/"], [*options, str(folder)]):
        done = subprocess.run(["mount", *words], capture_output=True, check=False)  # noqa: S607
        if done.returncode:
            return "no right to mount"
    return ""


def full_disk(root: str, **kind: Any) -> dict[str, int] | str:
    """Release onto a disk with ever more room, page by page; return how often each status came."""
    place = Path(root)
    if why := own_mounts(place, "-t", "tmpfs", "-o", "size=1m", "none"):
        return why
    with pytest.MonkeyPatch.context() as patch:
        without_engine(patch)
        return _with_more_room(place, kind)


def _with_more_room(place: Path, kind: dict[str, Any]) -> dict[str, int]:
    statuses, room = Counter[str](), 0
    while not statuses["0"]:
        (folder := place / str(room)).mkdir()
        job = Job(folder=folder, **kind)
        job.begin()
        (folder / "printed").touch()
        filler = place / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(PAGE))
        os.truncate(filler, max(0, filler.stat().st_size // PAGE - room) * PAGE)
        ran = job.run(place / "printed")
        filler.unlink()
        with told(f"room for {room} pages: {ran}"):
            statuses[str(ran.status)] += 1
            judge(job, ran)
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink()
        room += 1
    return dict(statuses)


def small_files(root: str, **kind: Any) -> dict[str, int]:
    """Release where no file may be larger than so many bytes."""
    statuses, limit, step = Counter[str](), 0, 2000 if MORE == 1 else 200
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        without_engine(patch)
        while not statuses["0"]:
            (folder := Path(root) / str(limit)).mkdir()
            job = Job(folder=folder, **kind)
            job.begin()
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            ran = job.run()
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            with told(f"files of {limit} bytes: {ran}"):
                statuses[str(ran.status)] += 1
                judge(job, ran)
            limit += step
    return dict(statuses)


def not_writable(root: str, what: str) -> dict[str, Any]:
    """Release where the folder or the ledger may only be read, as somebody who is not root."""
    (folder := Path(root) / what).mkdir()
    job = Job(folder=folder, ending="", own=what == "folder without")
    with pytest.MonkeyPatch.context() as patch:
        without_engine(patch)
        job.begin()
        # Whatever is imported late is imported now: others may not be able to read it.
        before = job.run(name="before", **_elsewhere(job))
        assert before.status == 0, before
        printed = Path(root) / f"printed {what}"
        printed.touch()
        _give_to_nobody(Path(root))
        locked = job.folder / "job.ledger" if what == "file" else folder
        locked.chmod(0o400 if what == "file" else 0o500)
        if os.geteuid() == 0:
            os.setuid(NOBODY)
        ran = job.run(printed)
        try:
            charges = [*job.ledger.history().charges]
        except HalfnoiseError as error:
            charges = [type(error).__name__]
        names = sorted(path.name for path in folder.iterdir())
        locked.chmod(0o700)
        again = job.run(printed)
    return {"first": _shown(ran), "charges": charges, "again": _shown(again), "files": names}


def _elsewhere(job: Job) -> dict[str, Any]:
    """Say another ledger where there shall be none yet."""
    if not job.own:
        return {}
    place = job.folder.parent / "another.ledger"
    return {"ledger": Ledger.create(place, unit="person_id").store.name}


def _give_to_nobody(root: Path) -> None:
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        for above in (root, *root.parents[:1]):
            above.chmod(0o755)


def _shown(ran: Ran) -> list[Any]:
    return [ran.status, ran.out, ran.err]
