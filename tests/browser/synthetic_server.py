"""The real server with a made-up cluster: `python -m tests.browser.synthetic_server PORT [GROUPS]`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from app.server import web_app
from app.server.listener import Listener
from app.server.open_access import open_access
from app.server.source import Source
from app.ui import state
from lag.audit.log import AuditLog
from lag.polling.report import Report
from tests.app import feeds, synthetic
from tests.app.demo import HandControls
from tests.app.last_night import Night


def report_of(specs: Sequence[synthetic.Spec], number: int, at_ms: int) -> Report:
    """The report of a poll with a broken broker."""
    made = feeds.report(specs, number, at_ms, synthetic.BROKEN_BROKER, synthetic.PROBLEMS)
    return Report(made.snapshot, made.health, made.window)


class LiveFeed(feeds.HandFeed):
    """Publishes the same report again every interval, with a new number and a fresh time."""

    specs: Sequence[synthetic.Spec] = ()
    night: Night

    def latest(self) -> Any:
        now = state.now_ms()
        if now - self.report.snapshot.at_ms > self.interval_s * 1000:
            self.report = report_of(self.specs, self.report.snapshot.number + 1, now)
        return self.report

    def record(self) -> None:
        """The generations and rebalances up to now."""
        self.seen, self.recent = self.night.recordings(), self.night.recent()


@dataclass
class LiveControls(HandControls):
    """The demo panel, whose "Add a member" makes one more rebalance of `DEPLOYED`, whichever group is chosen."""

    feed: LiveFeed = field(default_factory=LiveFeed)

    def add_member(self, group_id: str) -> str:
        self.feed.night.deploy(state.now_ms())
        self.feed.record()
        return f"{group_id}: one more rebalance"


@contextmanager
def made_up(groups: int) -> Iterator[Source]:
    specs = synthetic.many(groups) if groups else synthetic.specs()
    feed = LiveFeed(report_of(specs, 1, state.now_ms() - 4000), interval_s=600.0 if groups else 10.0)
    feed.specs, feed.night = specs, Night(feed.report.snapshot.at_ms)
    if not groups:
        feed.record()
    its = feeds.with_demo(feeds.source(demo=feed), LiveControls(feed=feed))
    audit = AuditLog(its.settings.audit)
    yield replace(its, access=open_access(its.settings, audit), audit=audit)


if __name__ == "__main__":
    groups = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    web_app.serve(web_app.build_app(lambda: made_up(groups)), Listener(int(sys.argv[1])))
