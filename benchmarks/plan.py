"""`python -m benchmarks.plan`: what a large fleet costs to record, in rows, bytes, cores and money (docs/cluster.md).

Arithmetic on figures that were measured here (`Measured`); nothing is run. Prices are examples, to be put in your own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

DAY_S, MONTH_H = 86_400, 730
GB = 1e9
MINUTES_A_DAY, HOURS_A_DAY = 1_440, 24


@dataclass(frozen=True, slots=True)
class Fleet:
    """What is watched. `fan_out`: groups that read each partition. `topics`: partitions are spread over this many."""

    groups: int = 10_000
    partitions: int = 100_000
    fan_out: float = 1.0
    topics: int = 10_000
    commit_every_s: float = 5.0
    poll_every_s: float = 10.0
    roll_up_every_h: float = 1.0

    @property
    def pairs(self) -> float:
        """A group on a partition: one series each."""
        return self.partitions * self.fan_out


ROW_BYTES = {
    "commits": 11.0,
    "end_offsets": 4.0,
    "group_snapshots": 1.8,
    "lag_1m": 27.8,
    "lag_1h": 44.2,
    "by topic": 28.5,
    "group_health_1m": 4.7,
}
"""As the benchmarks stream and rollup printed them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one core and of one row, as the benchmarks stream, rollup and snapshots print them.

    The stream's and the roll-up's are their goals: what they must reach at least. `record_bytes`: an offset commit in
    the topic, key, value and framing, one replica.
    """

    stream_records_per_s: float = 125_000
    rollup_samples_per_s: float = 120_000
    poll_pairs_per_s: float = 150_000
    record_bytes: float = 100
    row_bytes: Mapping[str, float] = field(default_factory=lambda: ROW_BYTES)


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars; a GB of an object store a month, a core an hour."""

    gb_month: float = 0.023
    core_hour: float = 0.05


KEEP_DAYS = {
    "commits": 7,
    "end_offsets": 7,
    "group_snapshots": 90,
    "lag_1m": 90,
    "lag_1h": 730,
    "by topic": 90,
    "group_health_1m": 730,
}
AGAIN_H = 1
"""A roll-up after the full hour computes the one before again: some of its last rows are new."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What it comes to. `rows` are a day's, `stored` bytes are of all days that are kept; by table."""

    records_per_s: float
    topic_bytes_a_day: float
    rows: dict[str, float]
    stored: dict[str, float]
    stream_cores: float
    rollup_cores: float
    poll_cores: float
    dollars_a_month: float


def plan(fleet: Fleet, measured: Measured | None = None, prices: Prices | None = None) -> Plan:
    """The steady state, when everything that is kept is there."""
    measured, prices = measured or Measured(), prices or Prices()
    rate = fleet.pairs / fleet.commit_every_s
    rows = _rows(fleet, rate)
    stored = {name: count * KEEP_DAYS[name] * measured.row_bytes[name] for name, count in rows.items()}
    samples_per_s = fleet.pairs / fleet.poll_every_s
    again = (AGAIN_H + fleet.roll_up_every_h) / fleet.roll_up_every_h
    cores = (
        rate / measured.stream_records_per_s,
        samples_per_s * again / measured.rollup_samples_per_s,
        samples_per_s / measured.poll_pairs_per_s,
    )
    return Plan(
        rate,
        rate * DAY_S * measured.record_bytes,
        rows,
        stored,
        *cores,
        dollars_a_month=sum(stored.values()) / GB * prices.gb_month + sum(cores) * MONTH_H * prices.core_hour,
    )


def _rows(fleet: Fleet, rate: float) -> dict[str, float]:
    """Of a day. A group is on `fan_out` x partitions of a topic / groups; each topic is read by `fan_out` groups."""
    polls = DAY_S / fleet.poll_every_s
    return {
        "commits": rate * DAY_S,
        "end_offsets": fleet.partitions * polls,
        "group_snapshots": fleet.groups * polls,
        "lag_1m": fleet.pairs * MINUTES_A_DAY,
        "lag_1h": fleet.pairs * HOURS_A_DAY,
        "by topic": fleet.topics * fleet.fan_out * MINUTES_A_DAY,
        "group_health_1m": fleet.groups * MINUTES_A_DAY,
    }


FAN_OUTS = (1.0, 3.0, 10.0)


def table(plans: Sequence[tuple[Fleet, Plan]]) -> Iterator[str]:
    """Markdown: a row for each figure, a column for each fleet."""
    yield "| | " + " | ".join(f"{fleet.pairs:,.0f} series" for fleet, _ in plans) + " |"
    yield "|---|" + "---|" * len(plans)
    figures = [_figures(made) for _, made in plans]
    for name in figures[0]:
        yield f"| {name} | " + " | ".join(one[name] for one in figures) + " |"


def _figures(made: Plan) -> dict[str, str]:
    tables = {
        f"`{name}`, rows a day; kept {KEEP_DAYS[name]} days": f"{_short(count)}; {made.stored[name] / GB:,.0f} GB"
        for name, count in made.rows.items()
    }
    return {
        "commits a second": f"{made.records_per_s:,.0f}",
        "bytes a day in `__consumer_offsets`, per replica": f"{made.topic_bytes_a_day / GB:,.0f} GB",
        **tables,
        "stored in total": f"{sum(made.stored.values()) / GB:,.0f} GB",
        "cores, stream": f"{made.stream_cores:.2f}",
        "cores, roll-up every hour": f"{made.rollup_cores:.2f}",
        "cores, collector": f"{made.poll_cores:.2f}",
        "dollars a month": f"{made.dollars_a_month:,.0f}",
    }


def _short(count: float) -> str:
    return f"{count / 1e9:,.2f} G" if count >= 1e9 else f"{count / 1e6:,.1f} M"


if __name__ == "__main__":
    fleets = [Fleet(fan_out=fan_out) for fan_out in FAN_OUTS]
    print("\n".join(table([(fleet, plan(fleet)) for fleet in fleets])))
