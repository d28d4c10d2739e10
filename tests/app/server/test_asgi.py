"""What the server makes of a poll: it is stored, and its changes of verdicts are kept."""

from collections.abc import Sequence

import pytest

from app.server import asgi
from app.server.settings import ClusterSettings, Settings
from lag.model import ClusterSnapshot, Remainder
from lag.offsets import PartitionLag
from lag.polling.verdict_changes import VerdictChanges
from lag.verdict.health import Health
from lag.verdict.status import Status
from tests.lag.make import cluster, end, group

CLUSTER = ClusterSettings(name="demo", bootstrap_servers="localhost:1")


class Waits:
    """A reader of a cluster where records wait for a group without members."""

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        return cluster({"g": group({"t-0": 1}, members=0, state="Empty")}, {"t-0": end(9)}, number, at_ms)

    def remainders(self, rows: Sequence[PartitionLag]) -> Sequence[Remainder]:
        return [Remainder.UNKNOWN for _ in rows]

    def close(self) -> None:
        """There is nothing to close."""


def test_a_poll_is_stored_and_its_changes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "connect", lambda *_: Waits)
    changes, stored = VerdictChanges(), list[Health]()
    past = asgi.StoredHistory(record=stored.append)
    polls = asgi.collector(CLUSTER, {}, Settings(follow=False, interval_s=3600), past, changes)
    polls.start()
    report = polls.wait_for(1, 30)
    polls.stop()
    assert report is not None
    assert [(one.group_id, one.number, one.after) for one in changes.since(0)] == [("g", 1, Status.NO_MEMBERS)]
    assert stored == [report.health]
