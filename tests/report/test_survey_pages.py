"""Pages of surveys: shares as Python gives them, and words that are true of this release."""

from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.report.columns import Columns
from halfnoise.results.sampled import numbers_of
from halfnoise.workload.weights import HEADS, SQUARES
from support.surveys import SURVEYS

FLAT = [name for name in SURVEYS if name != "places"]


def groups_of(release: Any) -> list[hn.Release]:
    """Return the releases of all groups, or the one that there is."""
    return [each for _, each in release.items()] if hasattr(release, "items") else [release]


@pytest.mark.parametrize("name", FLAT)
def test_shares_on_a_page_are_those_of_python(name: str) -> None:
    """With the error of a sample, too, in each group; and so is what there is per person."""
    release = SURVEYS[name]()
    columns, groups = Columns(release), groups_of(release)
    for question in columns.one.questions:
        if question.is_mean or question.name in (HEADS, SQUARES):
            continue
        shown = columns.per_person(question) if question.is_sum else columns.shares(question)
        for column in shown:
            one = hn.Release.mean if question.is_sum else hn.Release.share
            factor = 1 if question.is_sum else 100
            wanted = [factor * numbers_of(one(group, column.name)) for group in groups]
            np.testing.assert_allclose(column.numbers, np.stack(wanted, axis=1), rtol=1e-9)
