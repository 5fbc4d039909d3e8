"""Tumult Analytics on the same job; run by the Python of its own environment, with Spark."""

import json
import os
import sys
import tempfile

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)

RHO = 0.024356  # what OpenDP's conversion allows at epsilon 1 and delta 1e-6: 1 / (2 * 4.5309^2)


os.environ["PYSPARK_PYTHON"] = sys.executable


def errors(d: int, repeats: int, people: int) -> None:
    """Sum each column, again and again: each item is had by half of the people."""
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        builder = SparkSession.builder.master("local[2]")
        spark = builder.config("spark.sql.warehouse.dir", folder).getOrCreate()
        _errors(spark, d, repeats, people)


def _errors(spark: SparkSession, d: int, repeats: int, people: int) -> None:
    names = [f"q{i}" for i in range(d)]
    rows = [tuple((p + i) % 2 for i in range(d)) for p in range(people)]
    frame = spark.createDataFrame(rows, names)
    for _ in range(repeats):
        session = Session.from_dataframe(RhoZCDPBudget(RHO), "people", frame, AddOneRow())
        each = RhoZCDPBudget(RHO / d)
        found = [
            session.evaluate(QueryBuilder("people").sum(name, 0, 1), each).collect()[0][0]
            for name in names
        ]
        print(json.dumps([float(x) for x in found]), flush=True)


if __name__ == "__main__":
    errors(*map(int, sys.argv[-3:]))
