import json

import numpy as np

from halfnoise.workload.question import Question

AGE = Question(
    name="age", kind="mean", start=2, names=("age sum", "age answered"), bounds=(18.0, 90.0)
)
VISITS = Question(name="visits", kind="sum", start=1, names=("visits",), bounds=(0.0, 20.0))
BLOOD = Question(name="blood", kind="choice", start=4, names=("blood=A", "blood=other"), other=1)


def test_what_it_asks_for() -> None:
    """A mean has three names, of which the number who answered is a count; a sum is none."""
    assert [AGE.find(name) for name in ("age", "age sum", "age answered", "answered")] == [
        ("mean", "age", 2, (18, 90), 3),
        ("sum", "age sum", 2, None, -1),
        ("count", "age answered", 3, None, -1),
        None,
    ]
    assert VISITS.find("visits") == ("sum", "visits", 1, None, -1)
    found = [BLOOD.find(name) for name in BLOOD.names]
    assert [(row.kind, row.place) for row in found if row] == [("count", 4), ("count", 5)]
    assert (AGE.is_mean, AGE.is_sum, VISITS.is_mean, VISITS.is_sum) == (True, False, False, True)
    assert (VISITS.limits, BLOOD.limits) == ((0, 20), (-np.inf, np.inf))


def test_much_other_is_worth_a_note() -> None:
    """A category for all others of more than a tenth is named; a smaller one is not."""
    values = np.array([0.0, 0.0, 0.0, 0.0, 88.0, 12.0, 500.0])
    note = "blood=other is 12% of blood: check the spelling of the categories"
    assert BLOOD.notes(values) == [note]
    assert BLOOD.notes(values - 10) == AGE.notes(values) == []


def test_it_comes_back_from_plain_values() -> None:
    """Through JSON a question stays the same, types and all."""
    for question in (AGE, VISITS, BLOOD):
        assert Question.from_dict(json.loads(json.dumps(question.to_dict()))) == question
