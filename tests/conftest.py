"""How tests are shared out among workers: those that share something dear run on one of them."""

from typing import Any

import pytest

# Words in the names of tests that go together: a session of Spark takes long to start and to warm
# up; an enumeration, the points of a far tail, figures and the demonstration take long to make.
TOGETHER = ("spark", "enumerat", "far_tail", "test_figures", "test_demo")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Share tests out one by one, but those that go together as one; the largest lot first."""
    from xdist.scheduler import LoadScopeScheduling

    class Lots(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        """Tests by lot; a test alone is one, too."""

        def _split_scope(self, nodeid: str) -> str:
            return next((word for word in TOGETHER if word in nodeid), nodeid)

    return Lots(config, log)
