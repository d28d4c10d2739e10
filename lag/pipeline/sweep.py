"""Runs a sweep on Spark: a row for each case number; each worker has the plan and computes the rows of its numbers.

The numbers are shuffled, because adjacent cases cost about the same and all cases of a large group would otherwise be
in one task. A repeated task returns the same rows, because a case depends only on the plan and its number.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from lag.history.schemas import SWEEPS
from lag.sweeps.measures import rows
from lag.sweeps.plan import Plan
from lag.sweeps.sweep_table import SweepHeader

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast

JOBS = 20
MIN_CASES = 5_000
"""The fewest cases in a Spark job, except the last: its overhead is some tenths of a second. Progress is by job."""
TASKS_PER_CORE = 4
COALESCE = "spark.sql.adaptive.coalescePartitions.enabled"


def run(spark: SparkSession, plan: Plan, header: SweepHeader) -> Iterator[pa.Table]:
    """The rows of all cases, portion by portion."""
    tasks = TASKS_PER_CORE * spark.sparkContext.defaultParallelism
    compute = partial(_rows, spark.sparkContext.broadcast(plan), header)
    size = max(MIN_CASES, -(-len(plan) // JOBS))
    spark.conf.set(COALESCE, "false")  # otherwise Spark would merge the small rows into one task
    for first in range(0, len(plan), size):
        numbers = spark.range(first, min(first + size, len(plan)), numPartitions=1).repartition(tasks)
        yield numbers.mapInArrow(compute, from_arrow_schema(SWEEPS.file_schema)).toArrow().cast(SWEEPS.file_schema)


def _rows(plan: "Broadcast[Plan]", header: SweepHeader, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from header.table(rows(plan.value, batch["id"].to_pylist()), SWEEPS).to_batches()
