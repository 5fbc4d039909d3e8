"""How tests are shared out: one session of Spark, and what several tests share, on one worker."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all tests of Spark together, and start groups of tests before single ones.

    A session takes long to start and to warm up, so there is one; begun first, it ends before the
    rest does.
    """
    for item in items:
        if "spark" in item.nodeid:
            item.add_marker(pytest.mark.xdist_group("spark"))
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
