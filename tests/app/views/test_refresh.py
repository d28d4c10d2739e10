"""Whether the server follows the groups' records is a setting."""

import pytest

from app.server import asgi
from app.server.settings import ClusterSettings, Settings
from lag.generations.recorded import FollowStatus
from lag.polling.verdict_changes import VerdictChanges

CLUSTER = ClusterSettings(name="demo", bootstrap_servers="localhost:1")


@pytest.mark.parametrize(("stated", "status"), [(None, FollowStatus()), ("true", FollowStatus()), ("false", None)])
def test_records_are_followed_unless_it_is_switched_off(
    monkeypatch: pytest.MonkeyPatch, stated: str | None, status: FollowStatus | None
) -> None:
    if stated is not None:
        monkeypatch.setenv("GROUPSCOPE_FOLLOW", stated)
    polls = asgi.collector(CLUSTER, {}, Settings(), asgi.StoredHistory(), VerdictChanges())
    assert polls.following() == status
