"""What a ledger keeps of a release gives the same bytes again, in every format."""

import datetime as dt
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.results import document, formats

TABLE = pl.DataFrame(
    {
        "who": [1, 2, 3, 4, 5, 5],
        "a": [True, False, None, True, True, False],
        "x": [0.1, 7.5, None, float("nan"), -3.0, 20.0],
        "kind": ["=cmd", "ü", None, "b", "ü", "b"],
        "day": [dt.date(2026, 1, 1), dt.date(2026, 2, 1), None, *[dt.date(2026, 1, 2)] * 3],
        "at": [dt.datetime(2026, 1, 1, 12), *[dt.datetime(2026, 5, 1)] * 5],
        "code": [0.5, 1.5, float("inf"), 1.5, 0.5, 0.5],
    }
)
QUERIES = [hn.Count("a"), hn.Sum("x", bounds=(0, 20)), hn.Mean("x", bounds=(0, 20), name="m")]
BUDGET = hn.ApproxDP(epsilon=1, delta=1e-6)
ASKED: dict[str, dict[str, Any]] = {
    "plain": {},
    "Laplace": {"noise": "laplace", "privacy": hn.PureDP(epsilon=1)},
    "a known size": {"known_size": 5},
    "replaced": {"neighbors": hn.Neighbors.REPLACE, "known_size": 5},
    "rho": {"privacy": hn.ConcentratedDP(rho=0.3), "level": 0.9},
    "some people": {"where": hn.Where("x", at_least=0), "size_importance": 3},
    "groups": {"by": "kind", "groups": ["=cmd", "ü", None]},
    "days": {"by": hn.By("day", every="month"), "groups": ["2026-01", "2026-02"], "other": None},
    "moments": {"by": hn.By("at", every="year"), "groups": ["2026"]},
    "numbers": {"by": "code", "groups": [0.5, float("inf")]},
    "in several": {"by": "kind", "groups": ["ü", "b"], "max_groups": 2},
    "two columns": {"by": ["kind", "a"], "groups": [("ü", True), ("b", None)]},
    "discovered": {"by": "kind", "groups": "discover", "privacy": hn.GaussianDP(mu=50)},
}
ASKED["discovered"] |= {"discover_delta": 1e-7}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED.keys())
def test_what_is_kept_gives_the_same_bytes(asked: dict[str, Any]) -> None:
    """All files, the words beside them and what is kept itself are those of the first time."""
    made: Any = hn.release(TABLE, QUERIES, unit="who", **{"privacy": BUDGET} | asked)
    kept = document.to_keep(made)
    again: Any = document.from_json(kept.decode())
    assert document.to_keep(again) == kept
    assert repr(again) == repr(made)
    assert (again.notes(), again.promises()) == (made.notes(), made.promises())
    for ending, write in formats.FORMATS.items():
        assert write(again) == write(made), ending
    assert len(kept) < len(made.to_json())
