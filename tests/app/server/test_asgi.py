"""What the server makes of a poll: it is stored, and its changes of verdicts are kept."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.server import asgi
from app.server.settings import ClusterSettings, Settings
from lag.model import ClusterSnapshot, UnreadRange
from lag.polling.verdict_changes import VerdictChanges
from lag.verdict.health import Health
from lag.verdict.status import Status
from tests.lag.make import cluster, end, group
from tests.support.notice_targets import http_server
from tests.support.waiting import wait_until

CLUSTER = ClusterSettings(name="demo", bootstrap_servers="localhost:1")


class Waits:
    """A reader of a cluster where records wait for a group without members."""

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        return cluster({"g": group({"t-0": 1}, members=0, state="Empty")}, {"t-0": end(9)}, number, at_ms)

    def unread(self, ranges: Sequence[UnreadRange]) -> Sequence[None]:
        return [None for _ in ranges]

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
    assert [(one.group_id, one.number, one.after) for one in changes.after(0).changes] == [("g", 1, Status.NO_MEMBERS)]
    assert stored == [report.health]


def test_a_poll_is_sent_as_a_notice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(asgi, "connect", lambda *_: Waits)
    file = tmp_path / "notices.yaml"
    with http_server() as server:
        file.write_text(f"webhook: [{{name: a, url: '{server.url}', threshold: info}}]")
        settings = Settings(clusters=(CLUSTER,), follow=False, interval_s=3600, notices=file)
        with asgi.notifying(settings) as notifier:
            polls = asgi.collector(CLUSTER, {}, settings, asgi.StoredHistory(), VerdictChanges(), notifier=notifier)
            polls.start()
            wait_until(lambda: server.got)
            polls.stop()
        (sent,) = server.documents()
    assert (sent["cluster"], sent["group"], sent["verdict"]) == ("demo", "g", "no_members")


def test_without_a_file_no_notices_are_sent() -> None:
    with asgi.notifying(Settings()) as notifier:
        assert notifier is None
