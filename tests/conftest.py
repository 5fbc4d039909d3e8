"""How tests are shared out among workers: those that share something dear run on one of them."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from halfnoise.data.sources import connection
from halfnoise.ledger import booking
from halfnoise.planning import outlook
from halfnoise.privacy import reason
from halfnoise.privacy.reason import check_reason
from support.one_database import connect
from support.postgres import stop_shared
from support.soak import SOAKS

# Words in the names of tests that go together: a session of Spark takes long to start and to warm
# up, a server of PostgreSQL is one for all; an enumeration, the points of a far tail, figures, a
# wheel and the demonstration take long to make.
TOGETHER = (
    *(
        "spark",
        "postgresql",
        "enumerat",
        "far_tail",
        "test_figures",
        "test_wheel",
        "test_demo",
        "browser",
    ),
)


def pytest_configure() -> None:
    """Take Ctrl-C and a hang-up also where who began the tests has them ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Share tests out one by one, but those that go together as one; the largest lot first."""
    from xdist.scheduler import LoadScopeScheduling

    class Lots(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        """Tests by lot; a test alone is one, too."""

        def _split_scope(self, nodeid: str) -> str:
            return next((word for word in TOGETHER if word in nodeid), nodeid)

    return Lots(config, log)


# PySpark 3.5 leaves to garbage the sockets over which rows come from its JVM, on this machine.
LEFT_BY_SPARK = r"ignore:unclosed <socket.socket .*raddr=\('127\.0\.0\.1':ResourceWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let Spark leave sockets of its own: in its tests alone, and in no other way."""
    for item in items:
        if "spark" in item.nodeid:
            item.add_marker(pytest.mark.filterwarnings(LEFT_BY_SPARK))


@pytest.fixture(autouse=True, scope="session")
def sharp_budgets() -> Iterator[None]:
    """Let tests see through the noise: budgets that protect nobody need no ``i_know`` in them."""
    with pytest.MonkeyPatch.context() as patch:
        for room in (outlook, reason):
            patch.setattr(room, "check_reason", lambda *_: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_ledgers() -> Iterator[None]:
    """Let tests release from one file as they like; those of the ledger ask for ``ledgers``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(booking, "beside", lambda *_, **__: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def one_database() -> Iterator[None]:
    """Let tests share a database, unless there is time; whose point it is ask for ``databases``."""
    with pytest.MonkeyPatch.context() as patch:
        if not SOAKS:
            patch.setattr(connection, "_connect", connect)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_servers() -> Iterator[None]:
    """Stop in the end what tests started for all of them."""
    yield
    stop_shared()


@pytest.fixture
def databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open a database for each table, as users have it."""
    monkeypatch.setattr(connection, "_connect", _connect)


_connect = connection._connect


@pytest.fixture
def ledgers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep account beside each file, as users have it."""
    monkeypatch.setattr(booking, "beside", _beside)


_beside = booking.beside


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse such budgets, as users have it."""
    for room in (outlook, reason):
        monkeypatch.setattr(room, "check_reason", check_reason)
