"""The real server with a made-up cluster: `python -m tests.browser.synthetic_server PORT [GROUPS]`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from app.server import web_app
from app.server.source import Source
from app.ui import state
from tests.app import feeds, synthetic
from tests.app.demo import HandControls
from tests.app.last_night import Night


class LiveFeed(feeds.HandFeed):
    """Publishes the same report again every interval, with a new number and a fresh time."""

    specs: Sequence[synthetic.Spec] = ()
    night: Night

    def latest(self) -> Any:
        now = state.now_ms()
        if now - self.report.snapshot.at_ms > self.interval_s * 1000:
            number = self.report.snapshot.number + 1
            self.report = feeds.report(self.specs, number, now, synthetic.BROKEN_BROKER, synthetic.PROBLEMS)
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
    feed = LiveFeed(
        feeds.report(specs, 1, state.now_ms() - 4000, synthetic.BROKEN_BROKER, synthetic.PROBLEMS),
        interval_s=600.0 if groups else 10.0,
    )
    feed.specs, feed.night = specs, Night(feed.report.snapshot.at_ms)
    if not groups:
        feed.record()
    yield feeds.with_demo(feeds.source(demo=feed), LiveControls(feed=feed))


if __name__ == "__main__":
    groups = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    web_app.serve(web_app.build_app(lambda: made_up(groups)), int(sys.argv[1]))
