"""A real server of PostgreSQL in a temporary folder: its socket is there, where all are let in.

Over the network it is on the loopback address alone, and asks for a password.

Its settings are safe ones (``fsync`` and the like are on where nobody says otherwise), so that what
it committed stands after it was killed.
"""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.cluster import free_port

# Set by .ci/run where a server is installed: then nothing may be skipped for want of one.
REQUIRED = "HALFNOISE_POSTGRESQL"
BINARIES = "/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt", "/usr/local/opt"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "shared_buffers": "8MB",
    "max_connections": "60",
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "wal_writer_delay": "10s",
    "autovacuum": "off",
    "huge_pages": "off",
    "jit": "off",
    "dynamic_shared_memory_type": "mmap",
    "logging_collector": "off",
    "log_min_messages": "panic",
}
PATIENCE = 60.0


def binaries() -> Path | None:
    """Return the folder with the programs of the newest server that is installed."""
    found = [path for each in BINARIES for path in Path(each).glob("*/bin/postgres")]
    asked = shutil.which("pg_config")
    if asked:
        said = subprocess.run([asked, "--bindir"], capture_output=True, text=True, check=False)
        found.append(Path(said.stdout.strip()) / "postgres")
    there = [path.parent for path in found if (path.parent / "initdb").exists() and path.exists()]
    return max(there, key=lambda path: [int(p) for p in path.parts if p.isdigit()], default=None)


def connected(url: str, **how: Any) -> Any:
    """Open a connection."""
    import psycopg

    return psycopg.connect(url, **how)


class Server:
    """A server with one database, in which everybody on this machine's socket is let in."""

    def __init__(self, folder: Path, programs: Path) -> None:
        """Prepare the folder; root may not run a server, so another user does."""
        self.folder, self.programs, self.port = folder, programs, free_port()
        self.who: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.who = {"user": "nobody", "group": folder.stat().st_gid, "extra_groups": []}
            shutil.chown(folder, "nobody")
        folder.chmod(0o700)
        how = (
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--username=halfnoise",
            "--encoding=UTF8",
            "--no-locale",
        )
        self._run("initdb", "--no-sync", *how, "-D", str(self.data))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        """The folder of its data."""
        return self.folder / "data"

    def url(self, user: str = "halfnoise") -> str:
        """Return where it is."""
        return f"postgresql://{user}@/postgres?host={self.folder}&port={self.port}"

    def connect(self, **how: Any) -> Any:
        """Open a connection."""
        return connected(self.url(), **how)

    def run(self, *statements: str) -> None:
        """Run statements, all at once and as the owner of everything."""
        with contextlib.closing(self.connect(autocommit=True)) as connection:
            connection.execute(";".join(statements))

    def start(self, **settings: str) -> None:
        """Start it, also after it was killed, and wait until it lets clients in."""
        own = SETTINGS | {"unix_socket_directories": str(self.folder)} | settings
        own |= {"port": str(self.port)}
        words = [word for name, value in own.items() for word in ("-c", f"{name}={value}")]
        until = time.monotonic() + PATIENCE
        while True:
            # It gives up where a process of one that was killed is not gone yet.
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(
                    [self.programs / "postgres", "-D", self.data, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=self.folder,
                    **self.who,
                )
            try:
                self.connect().close()
            except Exception:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def kill(self) -> None:
        """Kill it and all its processes at once, as a machine dies."""
        assert self.process is not None
        top = self.process.pid
        os.kill(top, signal.SIGSTOP)  # it starts no other meanwhile
        for child in _children(top):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        os.kill(top, signal.SIGKILL)
        self.process.wait()

    @contextlib.contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Hold one of its processes still, by its name."""
        assert self.process is not None
        (found,) = (child for child in _children(self.process.pid) if name in _command(child))
        os.kill(found, signal.SIGSTOP)
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(found, signal.SIGCONT)

    def stop(self) -> None:
        """Stop it; what it held is thrown away."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(PATIENCE)

    def _run(self, program: str, *words: str) -> None:
        command = [str(self.programs / program), *words]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self.who)


def _children(parent: int) -> list[int]:
    """Return the processes that a process started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            after = path.read_text().rpartition(")")[2].split()
            found += [int(path.parent.name)] if int(after[1]) == parent else []
    return found


_shared = contextlib.ExitStack()
FOLDER = tempfile.gettempdir()
"""For what other users read as well: where a test watches all that is written, it says another."""


@functools.cache
def shared() -> Server:
    """Return the one server for tables of the run, which ``stop_shared`` stops."""
    return _shared.enter_context(a_server(fsync="off"))


def stop_shared() -> None:
    """Stop it, if it was started."""
    _shared.close()


@contextlib.contextmanager
def a_server(**settings: str) -> Iterator[Server]:
    """Start a server of one's own, and remove everything afterwards."""
    programs = needed()
    with tempfile.TemporaryDirectory(prefix="hn-", dir=FOLDER) as folder:
        server = Server(Path(folder), programs)
        try:
            server.start(**settings)
            yield server
        finally:
            server.stop()


def needed() -> Path:
    """Return where a server's programs are; skip where there are none, unless there must be."""
    programs = binaries()
    missing = "" if programs else "no server of PostgreSQL is installed"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        missing = missing or "psycopg is not installed"
    if missing and os.environ.get(REQUIRED):
        pytest.fail(f"{missing}, though {REQUIRED} says that there is one")
    if programs is None or missing:
        pytest.skip(missing)
    return programs


def _command(process: int) -> str:
    """Return how a process calls itself, or nothing if it has just ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8")
    return ""
