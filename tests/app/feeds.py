"""A feed that is set by hand, and the sources made of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from app.server.feed import Feed
from app.server.settings import ClusterSettings, Settings
from app.server.source import Source
from lag.errors import ConfigError
from lag.generations.live_group import TargetPartitions
from lag.generations.recent import MAX_REBALANCES, RecentRebalances
from lag.generations.recorded import FollowStatus, Origin, Recording
from lag.model import Broker, Problem
from tests.app import synthetic


@dataclass
class HandFeed:
    """What a collector offers to pages; a test sets report and status."""

    report: Any = None
    error: Any = None
    failing_since_ms: int | None = None
    consecutive_failures: int = 0
    next_poll_ms: int | None = None
    interval_s: float = 10.0
    polled_now: list[int] = field(default_factory=list)
    seen: dict[str, Recording] = field(default_factory=dict)
    followed: FollowStatus | None = None
    recent: RecentRebalances = field(default_factory=RecentRebalances)
    targets: Mapping[str, TargetPartitions] = field(default_factory=dict)

    def latest(self) -> Any:
        return self.report

    def status(self) -> Any:
        return SimpleNamespace(
            error=self.error,
            failing_since_ms=self.failing_since_ms,
            consecutive_failures=self.consecutive_failures,
            last_ok_ms=None,
            next_poll_ms=self.next_poll_ms,
            interval_s=self.interval_s,
            polls=3,
            took_s=0.3,
        )

    def poll_now(self) -> None:
        self.polled_now.append(1)

    def following(self) -> FollowStatus | None:
        return self.followed

    def recent_rebalances(self, until_ms: int | None = None) -> RecentRebalances:
        """As the collector: at most MAX_REBALANCES of them."""
        up_to = [one for one in self.recent.rebalances if until_ms is None or one.at_ms <= until_ms]
        listed, has_older = tuple(up_to[:MAX_REBALANCES]), self.recent.has_older or len(up_to) > MAX_REBALANCES
        return replace(self.recent, rebalances=listed, has_older=has_older)

    def rebalance_counts(self, since_ms: int) -> Mapping[str, int]:
        return Counter(one.group_id for one in self.recent.rebalances if one.at_ms >= since_ms)

    def share_targets(self, group_id: str) -> Mapping[str, TargetPartitions]:
        return self.targets

    def recording(self, group_id: str) -> Recording:
        return self.seen.get(group_id, Recording(Origin.RECORDED))


def report(
    specs: Sequence[synthetic.Spec] | None = None,
    number: int = 1,
    at_ms: int = synthetic.NOW_MS,
    brokers: tuple[Broker, ...] | None = None,
    problems: tuple[Problem, ...] = (),
    samples: int = synthetic.SAMPLES,
    policy_problem: ConfigError | None = None,
) -> Any:
    """The specs as a report."""
    specs = synthetic.specs() if specs is None else specs
    snapshot = synthetic.snapshot(specs, number, at_ms, brokers, problems)
    window = synthetic.window(specs, snapshot, samples)
    return SimpleNamespace(
        snapshot=snapshot, health=synthetic.health(specs, snapshot), window=window, policy_problem=policy_problem
    )


def source(**feeds: Feed) -> Source:
    """A source with those feeds; names of clusters are their keywords."""
    settings = Settings(clusters=tuple(ClusterSettings(name=name, bootstrap_servers=f"{name}:9092") for name in feeds))
    masked = {"bootstrap.servers": "demo:9092", "security.protocol": "SASL_SSL", "sasl.password": "••••"}
    return Source(settings, feeds, versions={"groupscope": "0.1.0"}, connections=dict.fromkeys(feeds, masked))


def with_demo(its: Source, demo: Any) -> Source:
    """The same source, with demo controls."""
    return replace(its, demo=demo)
