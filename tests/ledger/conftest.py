"""One server of PostgreSQL for all tests of a worker; those that need it run on one worker."""

from collections.abc import Iterator

import pytest

from support.postgres import Server, a_server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """Start a server, or skip where none is installed."""
    with a_server() as server:
        yield server
