"""`groupscope serve` as a process, watched over HTTP as a user and a program see it."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lag.history.store import History
from tests.app.cli.commandline import Running, running

NAME = "three"
INTERVAL_S = 2
_LOOK_EVERY_S = 0.3
_ANSWER_WITHIN_S = 10.0
_POLICY = "min_samples: 3\nmin_s: 3\n"
"""Verdicts about movement after seconds instead of three quarters of a minute."""

_FAILURES = (OSError, http.client.HTTPException)


@dataclass(frozen=True, slots=True)
class Look:
    """What there was to see at one time (`at_s`, on a monotonic clock). A status of 0: no answer."""

    at_s: float
    page: int
    metrics: int
    ready: bool
    reason: str | None
    cluster: Mapping[str, Any]
    groups: Mapping[str, Mapping[str, Any]]

    @property
    def number(self) -> int:
        """The number of the snapshot; 0 before the first."""
        return int((self.cluster.get("snapshot") or {}).get("number", 0))

    @property
    def poll_ms(self) -> int:
        """When the poll of the snapshot began."""
        return int((self.cluster.get("snapshot") or {}).get("at_ms", 0))

    @property
    def problems(self) -> list[str]:
        """The causes of the snapshot's problems, and why the last poll failed."""
        snapshot = self.cluster.get("snapshot") or {}
        failed = (self.cluster.get("polling") or {}).get("error")
        return [*([failed] if failed else []), *(problem["cause"] for problem in snapshot.get("problems", ()))]

    @property
    def failures(self) -> int:
        """Polls that failed since the last good one."""
        return int((self.cluster.get("polling") or {}).get("consecutive_failures", 0))

    @property
    def whole(self) -> bool:
        """The snapshot is complete and the newest poll did not fail."""
        return bool((self.cluster.get("snapshot") or {}).get("complete")) and not self.problems


@dataclass(slots=True)
class Dashboard:
    """A running dashboard. `looks` grows while it is watched."""

    url: str
    command: Running
    history: History
    looks: list[Look] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def look(self) -> Look:
        """Ask for the page, the metrics, readiness and all groups, now."""
        page, _ = self._get("/")
        metrics, _ = self._get("/metrics")
        ready, readiness = self._get("/api/ready")
        _, cluster = self._get(f"/api/v1/clusters/{NAME}")
        _, groups = self._get(f"/api/v1/clusters/{NAME}/groups?limit=1000")
        state = json.loads(readiness or "{}")
        listed = json.loads(groups or "{}").get("groups", ())
        return Look(
            time.monotonic(),
            page,
            metrics,
            ready == 200,
            state.get("reason"),
            json.loads(cluster or "{}"),
            {group["group_id"]: group for group in listed},
        )

    def watch(self) -> None:
        """Look every 0.3 s until `stopping` is set."""
        while not self.stopping.wait(_LOOK_EVERY_S):
            self.looks.append(self.look())

    def since(self, at_s: float) -> Sequence[Look]:
        """What was seen from that time on."""
        return [look for look in self.looks if look.at_s >= at_s]

    def _get(self, path: str) -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(self.url + path, timeout=_ANSWER_WITHIN_S) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()
        except _FAILURES:
            return 0, b""


@contextmanager
def dashboard(
    folder: Path,
    client_file: Path,
    history: Path,
    env: Mapping[str, str] | None = None,
    interval_s: int = INTERVAL_S,
) -> Iterator[Dashboard]:
    """Start it on the cluster and watch it; `folder` is for its output."""
    folder.mkdir(parents=True)
    (folder / "policy.yaml").write_text(_POLICY)
    args = ["serve", "--json", "--port", "0", "--interval", str(interval_s), f"--cluster={NAME}={client_file}"]
    args += ["--history", str(history), "--policy", str(folder / "policy.yaml")]
    with running(folder, *args, env=env) as command:
        watched = Dashboard(command.first_line()["dashboard"], command, History(history))
        thread = threading.Thread(target=watched.watch, name="watch", daemon=True)
        thread.start()
        try:
            yield watched
        finally:
            watched.stopping.set()
            thread.join(60)
