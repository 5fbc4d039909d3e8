"""Closed forms by themselves: fitted designs have tests of their own. No bound is remembered."""

import pytest

from halfnoise.design import candidates, certificate, fitted, prices

WITH_FITTED = (
    *("test_fitted", "test_fitted_cells", "test_searches_end", "test_tables_loss"),
    *("test_mixtures", "test_spots", "test_tables_coverage", "test_tables_solver"),
    "test_variances",
)


@pytest.fixture(autouse=True)
def closed_forms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer no fitted designs where a test is of closed forms."""
    if request.path.stem not in WITH_FITTED:
        monkeypatch.setattr(candidates, "FITTED", ())


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find every bound anew: a test may break what it hangs on."""
    for name in ("_least", "_crowded", "_balanced"):
        monkeypatch.setattr(certificate, name, getattr(certificate, name).__wrapped__)
    for module in (certificate, fitted):
        monkeypatch.setattr(module, "in_spots", prices.in_spots.__wrapped__)
