"""A group of the demo stops, and goes on after a restart of the server: one incident at a webhook, one alert.

The server is the real command, with a policy that needs seconds instead of a minute. Prometheus (promtool) gets what
/metrics served meanwhile, as if each state had lasted some minutes.
"""

import json
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.exports.alerts import Thresholds, alerts
from app.exports.rules import rule_file
from tests.app.cli.commandline import running
from tests.app.exports.promtool import evaluate, input_series, needs_promtool, values
from tests.conftest import Demo
from tests.support.notice_targets import http_server
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.long, pytest.mark.timeout(600)]

GROUP = "order-fulfilment"
REPEAT_S = 10
POLICY = "min_samples: 3\nmin_s: 3\nopen_polls: 2\nclose_polls: 2\n"
NOTICES = """
webhook:
  - name: local
    url: {url}
    groups: {group}
    threshold: critical
    repeat_s: {{critical: {repeat}}}
"""


@dataclass
class Story:
    """What the webhook got, and at each stage what /metrics served and the onset that the API gave."""

    notices: list[Any]
    metrics: dict[str, str]
    onsets: list[Any]


class Server:
    """The address of a server that runs."""

    def __init__(self, url: str) -> None:
        self._url = url

    def text(self, path: str = "/metrics") -> str:
        with urllib.request.urlopen(f"{self._url}{path}") as answer:
            return str(answer.read().decode())

    def metrics(self, verdict: str) -> str:
        """/metrics, once the group has that verdict."""

        def served() -> str | None:
            text = self.text()
            return text if f'group="{GROUP}",verdict="{verdict}"}} 1' in text else None

        return str(wait_until(served, within_s=60, every_s=0.25))

    def onset(self) -> Any:
        (cluster,) = json.loads(self.text("/api/v1/clusters"))["clusters"]
        return json.loads(self.text(f"/api/v1/clusters/{cluster['cluster']}/groups/{GROUP}"))["onset"]


@contextmanager
def serving(folder: Path, demo: Demo) -> Iterator[Server]:
    """`groupscope serve` with the files in the folder above."""
    folder.mkdir()
    files = [f"--{name}={folder.parent / name}.yaml" for name in ("policy", "notices")]
    args = ["serve", "--json", "--port", "0", "--bootstrap-server", demo.kafka.bootstrap_servers, "--interval", "1"]
    with running(folder, *args, *files) as command:
        yield Server(command.first_line()["dashboard"])
        assert command.ends(signal.SIGINT) == 0


@pytest.fixture(scope="module")
def story(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder, panel = tmp_path_factory.mktemp("notices"), demo.workload.controls
    metrics: dict[str, str] = {}
    with http_server() as webhook:
        (folder / "policy.yaml").write_text(POLICY)
        (folder / "notices.yaml").write_text(NOTICES.format(url=webhook.url, group=GROUP, repeat=REPEAT_S))

        def wait_for(event: str, count: int) -> None:
            wait_until(lambda: [notice["event"] for notice in webhook.documents()].count(event) >= count, within_s=60)

        with serving(folder / "first", demo) as server:
            metrics["well"] = server.metrics("ok")
            panel.stop_consuming(GROUP)
            wait_for("repeat", 1)
            metrics["stopped"], onset = server.metrics("stopped"), server.onset()
        with serving(folder / "second", demo) as server:
            metrics["restarted"] = server.text()
            wait_for("repeat", 3)
            metrics["still stopped"], onset_again = server.metrics("stopped"), server.onset()
            panel.resume_consuming(GROUP)
            wait_for("close", 1)
            metrics["well again"] = server.metrics("ok")
        return Story(list(webhook.documents()), metrics, [onset, onset_again])


def test_webhook_gets_one_incident_from_open_to_close(story: Story) -> None:
    events = [notice["event"] for notice in story.notices]
    assert (events[0], events[-1]) == ("open", "close")
    assert set(events[1:-1]) == {"repeat"}
    for name in ("id", "started_ms", "cluster", "group", "severity"):
        assert len({notice[name] for notice in story.notices}) == 1, name
    assert (story.notices[0]["group"], story.notices[0]["severity"]) == (GROUP, "critical")
    assert "stopped" in {notice["verdict"] for notice in story.notices}  # stalled, while not all members have stopped


def test_repetitions_keep_their_distance_over_the_restart(story: Story) -> None:
    sent = [notice["at_ms"] for notice in story.notices[:-1]]
    assert min(later - earlier for earlier, later in pairwise(sent)) >= REPEAT_S * 1000


def test_onset_is_the_last_commit_before_and_after_the_restart(story: Story) -> None:
    before, after = story.onsets
    assert before == after
    assert (before["is_exact"], before["source"]) == (True, "commit_timestamp")
    assert story.notices[0]["started_ms"] <= before["at_ms"]


@needs_promtool
def test_alert_fires_from_open_to_close_and_not_again_after_the_restart(story: Story, tmp_path: Path) -> None:
    lasts = {"well": 3, "stopped": 10, "": 1, "restarted": 1, "still stopped": 10, "well again": 12}
    scrapes = [story.metrics.get(stage, "") for stage, minutes in lasts.items() for _ in range(minutes)]
    expr = f'count by (group) (ALERTS{{alertname="ConsumerGroupStopped",alertstate="firing",group="{GROUP}"}})'
    fires = {f'{{group="{GROUP}"}}': 1.0}
    kept_until = 25 + 5
    minutes = range(len(scrapes))
    expected = [values(expr, f"{minute}m", fires if 8 <= minute < kept_until else {}) for minute in minutes]
    rules = rule_file(alerts("https://scope.example", Thresholds()))
    evaluate(tmp_path, rules, input_series(scrapes), {"promql_expr_test": expected})
