"""A sweep in this process: on one core, without anything else."""

import time
from collections.abc import Iterator

import pyarrow as pa

from lag.history.schemas import SWEEPS
from lag.sweeps.measures import rows
from lag.sweeps.plan import Plan
from lag.sweeps.sweep_table import Stamp

PORTION_S = 2.0
SAMPLE = 24


def run(plan: Plan, stamp: Stamp) -> Iterator[pa.Table]:
    """The rows of all cases in order, some seconds' worth at a time."""
    portion: list[dict[str, object]] = []
    since = time.monotonic()
    for made in rows(plan, range(len(plan))):
        portion.append(made)
        if time.monotonic() - since >= PORTION_S:
            yield stamp.table(portion, SWEEPS)
            portion, since = [], time.monotonic()
    if portion:
        yield stamp.table(portion, SWEEPS)


def estimate_s(plan: Plan) -> float:
    """How long all cases take one core, judged by some from all over the plan."""
    step = max(1, len(plan) // SAMPLE)
    sample = range(step // 2, len(plan), step)
    started = time.monotonic()
    for _ in rows(plan, sample):
        pass
    return (time.monotonic() - started) * len(plan) / max(1, len(sample))
