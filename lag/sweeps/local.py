"""Runs a sweep in this process, on one core."""

import time
from collections.abc import Iterator

import pyarrow as pa

from lag.history.schemas import SWEEPS
from lag.sweeps.measures import rows
from lag.sweeps.plan import Plan
from lag.sweeps.sweep_table import SweepHeader

BATCH_S = 2.0
SAMPLE = 24


def run(plan: Plan, header: SweepHeader, batch_s: float = BATCH_S) -> Iterator[pa.Table]:
    """The rows of all cases in order, in batches of about `batch_s` seconds."""
    batch: list[dict[str, object]] = []
    since = time.monotonic()
    for made in rows(plan, range(len(plan))):
        batch.append(made)
        if time.monotonic() - since >= batch_s:
            yield header.table(batch, SWEEPS)
            batch, since = [], time.monotonic()
    if batch:
        yield header.table(batch, SWEEPS)


def estimate_s(plan: Plan) -> float:
    """The estimated time of all cases on one core, from SAMPLE of them."""
    step = max(1, len(plan) // SAMPLE)
    sample = range(step // 2, len(plan), step)
    started = time.monotonic()
    for _ in rows(plan, sample):
        pass
    return (time.monotonic() - started) * len(plan) / max(1, len(sample))
