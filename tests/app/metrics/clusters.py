"""A small cluster made by hand, as a collector would report it after six polls, and its text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.metrics.options import Options
from app.metrics.scrape import scrape
from app.metrics.text_format import PLAIN, TextFormat
from app.metrics.view import Polled
from lag.errors import ConnectError
from lag.model import Broker, ClusterSnapshot, GroupType, Problem, Scope
from lag.polling.report import CollectorStatus, Report
from lag.verdict.judge import Past, judge
from lag.verdict.rules.status_rules import Rules
from lag.verdict.window.sample_window import SampleRing
from tests.lag.make import cluster, deleted, end, failed, group

POLLS = 6
NOW_MS = 1_000_064_500
"""When it is scraped: 4.5 s after the last poll."""
BROKERS = (Broker(1, "b1", 9092, "east", version="4.3"), Broker(2, "b2", 9093, version="4.3"))


def snapshot(number: int) -> ClusterSnapshot:
    """Poll `number` of a cluster with every type of group, and most of what can be unknown."""
    ends = {
        "gone-0": deleted(),
        "orders-0": end(60 + 10 * number, start=20, stable=50 + 10 * number),
        "orders-1": end(50, leader=2),
        "orders-2": failed(),
        "pay-0": end(10),
    }
    undescribed = Problem("undescribed", Scope.GROUP, "ghost", "the broker's response does not include it")
    groups = {
        "beyond": group({"pay-0": 15}),
        "billing": group({"orders-0": 40 + 10 * number, "orders-1": 10}, 2, coordinator=2),
        "early": group({"orders-0": 5}, 0, state="Empty"),
        "ghost": group({}, 0, state="Unknown", complete=False, problems=(undescribed,)),
        "kip": group({"orders-0": 119, "orders-1": None, "orders-2": 7}, 2, type=GroupType.CONSUMER),
        "share": group({"pay-0": 4}, type=GroupType.SHARE, broker_lag={"pay-0": 3}),
        "streams": group({"gone-0": 7, "pay-0": 10}, type=GroupType.STREAMS),
    }
    made = cluster(groups, ends, number, 1_000_000_000 + 10_000 * number, brokers=BROKERS, problems=(undescribed,))
    return _as_the_reader(made)


def _as_the_reader(made: ClusterSnapshot) -> ClusterSnapshot:
    """With what tests of lag do not need: protocol types, replicas and the policies of topics."""
    orders = replace(
        made.topics["orders"],
        replicas=((1, 2), (1, 2), (2, 1)),
        in_sync=((1, 2), (2,), ()),
        cleanup_policy="compact",
        retention_ms=3_600_000,
    )
    protocols = {GroupType.SHARE: "share", GroupType.STREAMS: "streams"}
    groups = tuple(replace(g, protocol_type=protocols.get(g.type, "consumer")) for g in made.groups)
    return replace(made, topics={**made.topics, "orders": orders}, groups=groups)


def report(polls: Sequence[ClusterSnapshot]) -> Report:
    """The report of the last of these polls."""
    ring, past = SampleRing(), Past()
    for polled_snapshot in polls:
        window = ring.append(polled_snapshot)
        health = judge(polled_snapshot, window, Rules(assumed_interval_s=10), past=past)
        past = Past(health.onsets or past.onsets)
    return Report(polls[-1], health, window)


def small(name: str = "prod") -> Polled:
    """The small cluster after its polls."""
    whole = report([snapshot(number) for number in range(1, POLLS + 1)])
    return Polled(name, whole, CollectorStatus(10.0, polls=POLLS, took_s=0.2), NOW_MS, 77, {"billing": 12})


def unread(name: str = "dark") -> Polled:
    """A cluster that no poll could read."""
    return Polled(name, None, CollectorStatus(10.0, error=ConnectError("refused"), consecutive_failures=3), NOW_MS)


def one(made: ClusterSnapshot, name: str = "prod") -> Polled:
    """A cluster after a single poll."""
    return Polled(name, report([made]), CollectorStatus(10.0, polls=1), NOW_MS)


def text(*polled: Polled, form: TextFormat = PLAIN, **options: Any) -> str:
    """The scrape of these clusters."""
    return "".join(scrape(polled, replace(Options(), **options), form))


def samples(*polled: Polled, **options: Any) -> list[str]:
    """The lines of series that are about groups, topics and clusters, not about the scrape."""
    lines = text(*polled, **options).splitlines()
    return [line for line in lines if not line.startswith(("#", "groupscope_scrape_"))]


def of_family(lines: Sequence[str], name: str) -> list[str]:
    """The label pairs and values of one family."""
    return [line.removeprefix(name) for line in lines if line.partition("{")[0].partition(" ")[0] == name]
