"""What a group would gain, where its cases are measured by different loads."""

from datetime import UTC, datetime

import pandas as pd

from assignors.scenario import load_scenario
from lag.history.schemas import SWEEP_GROUPS, SWEEPS
from lag.sweeps.gains import Gain, gains
from lag.sweeps.measures import current_row, rows
from lag.sweeps.plan import MemberCount, Plan, SweepRequest
from lag.sweeps.sweep_table import SweepHeader

SCENARIO = """
schema_version: 1
name: g
assignor: range
topics: [{name: t, partitions: 4}]
members:
  - {id: a, topics: [t], owned: {t: [0, 1]}, generation: 3}
  - {id: b, topics: [t], owned: {t: [2]}, generation: 3}
rates: {t: [10, 10, 100, null]}
"""
"""Partition 3 has no owner now, and no known rate: only the present assignment can be measured by rates."""


def test_shares_of_different_loads_are_not_compared() -> None:
    scenario = load_scenario(SCENARIO)
    plan = Plan([scenario], SweepRequest(("range", "roundrobin"), (MemberCount(factor=1.0),)))
    header = SweepHeader("x", "c", datetime.now(UTC))
    groups = header.table([current_row(scenario) | {"scenario": "{}"}], SWEEP_GROUPS).to_pandas()
    cells = header.table(list(rows(plan, range(len(plan)))), SWEEPS).to_pandas()
    assert dict(zip(cells["assignor"], cells["hot_by"], strict=True)) == {
        "range": "produced_per_s",
        "roundrobin": "partitions",
    }
    (found,) = gains(groups, cells).to_dict("records")
    assert (found["gain"], pd.isna(found["off"])) == (Gain.NONE, True)
