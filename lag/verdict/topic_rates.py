"""The produce rate of every partition of the cluster, whether a group reads it or not."""

import numpy as np

from lag.verdict.rules import status_rules
from lag.verdict.rules.status_rules import Rules
from lag.verdict.window import rates
from lag.verdict.window.rates import Floats
from lag.verdict.window.sample_window import Window


def produce_rates(window: Window, rules: Rules | None = None) -> Floats:
    """float64[n_rows of EndOffsets]: records per second; NaN where `rates.rate` knows none."""
    last = status_rules.recent(window.times_ms, rules or Rules())
    columns, times_ms = window.log_end[last], window.times_ms[last]
    blocks = window.blocks(len(columns[-1]))
    return np.concatenate([rates.rate(np.stack([column[rows] for column in columns]), times_ms) for rows in blocks])
