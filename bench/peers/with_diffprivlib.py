"""diffprivlib on the same jobs; run by the Python of its own environment."""

import json
import math
import sys
import warnings

import numpy as np
from diffprivlib import mechanisms, tools

EPSILON, DELTA = 1.0, 1e-6


def errors(way: str, d: int, repeats: int, people: int) -> None:
    """Release the same numbers again and again: each item is had by half of the people.

    Its tools divide epsilon among the numbers; its Gaussian mechanism is given the sensitivity of
    all of them together, as who knows would do by hand.
    """
    if way == "tools":
        have = (np.add.outer(np.arange(people), np.arange(d)) % 2).astype(np.int64)
        for _ in range(repeats):
            found = tools.sum(have, epsilon=EPSILON, bounds=(0, 1), axis=0)
            print(json.dumps([float(x) for x in np.atleast_1d(found)]), flush=True)
    else:
        law = mechanisms.GaussianAnalytic(epsilon=EPSILON, delta=DELTA, sensitivity=math.sqrt(d))
        for _ in range(repeats):
            print(json.dumps([law.randomise(people / 2) for _ in range(d)]), flush=True)


def release(path: str, by: str) -> None:
    """Release twenty counts of a file, by row or by person; DuckDB reads it."""
    import duckdb

    with duckdb.connect() as connection:
        names = connection.execute(f"select * from '{path}' limit 0").fetchnumpy()
        whole = [f"{name}::int as {name}" for name in names if name != "person"]
        most = [f"max({name}::int) as {name}" for name in names if name != "person"]
        asked = f"{', '.join(most)} from '{path}' group by person"
        if by == "row":
            asked = f"{', '.join(whole)} from '{path}'"
        columns = np.column_stack([*connection.execute(f"select {asked}").fetchnumpy().values()])
    tools.sum(columns, epsilon=EPSILON, bounds=(0, 1), axis=0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    _, what, *words = sys.argv
    if what == "errors":
        errors(words[0], *map(int, words[1:]))
    else:
        release(*words[:2])
