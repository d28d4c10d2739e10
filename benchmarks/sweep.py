"""The sweep of the worked run: 2,000 groups x 6 assignors x 20 member counts, on Spark and in plain Python.

By default a share of its groups, with all assignors and numbers: SWEEP_GROUPS=2000 takes them all.
"""

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pyarrow as pa

from benchmarks.fleet import fleet
from benchmarks.report import Row
from lag.pipeline import sweep
from lag.pipeline.session import session
from lag.sweeps import local
from lag.sweeps.plan import MemberCount, Plan, SweepRequest
from lag.sweeps.sweep_table import SweepHeader

WORKED_RUN, SHARE = 2_000, 100
MEMBERS = 20
WARM = 2
"""Groups of the run that is not timed: workers start and import."""

STAMP = SweepHeader("benchmark", "made-up", datetime(2026, 1, 1, tzinfo=UTC))
Run = Callable[[Plan], Iterator[pa.Table]]


def rows() -> Iterator[Row]:
    """Rows a second in this process, on Spark with one core and with two; each has the same rows."""
    groups = int(os.environ.get("SWEEP_GROUPS", SHARE))
    plan = _plan(groups)
    of = f"{groups:,} of {WORKED_RUN:,} groups x 6 assignors x {MEMBERS} member counts, {len(plan):,} rows"
    plain_s = _seconds(lambda its: local.run(its, STAMP), plan)
    yield Row("plain Python", f"{len(plan) / plain_s:,.0f}/s", f"{of}; {plain_s:.1f} s")
    spark_s = [_on_spark(plan, cores) for cores in (1, 2)]
    for cores, took_s in zip((1, 2), spark_s, strict=True):
        held = f"{plain_s / took_s:.2f} x plain Python"
        yield Row(f"Spark local[{cores}]", f"{len(plan) / took_s:,.0f}/s", f"{took_s:.1f} s warm; {held}")
    yield Row("Spark, from 1 core to 2", f"{spark_s[0] / spark_s[1]:.2f} x", "warm")


def _plan(groups: int) -> Plan:
    return Plan(
        list(fleet(groups)), SweepRequest((), tuple(MemberCount(count=count) for count in range(1, MEMBERS + 1)))
    )


def _on_spark(plan: Plan, cores: int) -> float:
    with session(cores) as spark:
        _seconds(lambda its: sweep.run(spark, its, STAMP), _plan(WARM))
        return _seconds(lambda its: sweep.run(spark, its, STAMP), plan)


def _seconds(run: Run, plan: Plan) -> float:
    started = time.monotonic()
    made = sum(len(portion) for portion in run(plan))
    assert made == len(plan), f"{made} rows of {len(plan)}"
    return time.monotonic() - started
