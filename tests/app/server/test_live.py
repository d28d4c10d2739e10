"""A real server answers at once, whatever its files, its disk, its mail server or its clients do."""

import http.client
import json
import random
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lag.audit.log import APPEND, AuditLog
from lag.embedded.broker import EmbeddedKafka
from lag.history.store import History
from lag.locked_file import locked_file
from tests.app.cli.commandline import running
from tests.lag.pipeline.broker_side import commit, create_topic
from tests.support.notice_targets import smtp_server
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.process, pytest.mark.timeout(600)]

WITHIN_S = 0.3
LOOK_S = 3.0
POLICY = "min_samples: 3\nmin_s: 3\nopen_polls: 2\nclose_polls: 2\n"
NOTICES = """
email:
  - name: mail
    host: 127.0.0.1
    port: {port}
    security: none
    sender: groupscope@example.com
    to: [ann@example.com]
    threshold: info
"""


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of 8 MB in memory; None where none can be mounted."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], check=False)
    try:
        yield folder if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as growing:
        while True:
            growing.write(bytes(4096))


def slowest_s(url: str) -> float:
    """The longest that /api/live took during LOOK_S."""
    taken, ends_s = list[float](), time.monotonic() + LOOK_S
    while time.monotonic() < ends_s:
        began_s = time.monotonic()
        with urllib.request.urlopen(f"{url}/api/live", timeout=60) as answer:
            assert json.loads(answer.read()) == {"live": True}
        taken.append(time.monotonic() - began_s)
        time.sleep(0.02)
    return max(taken)


def refused(url: str) -> int:
    """The status of a request that a page of another server made."""
    asked = urllib.request.Request(f"{url}/api/v1/clusters", headers={"Origin": "http://evil.example"})
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(asked, timeout=60)
    error.value.close()
    return error.value.code


def with_typos(size: int) -> bytes:
    """A scenario file of that size, with unknown names."""
    names = random.Random(1)

    def name() -> str:
        return "".join(names.choices("ab", k=100))

    members = [{"id": name()} for _ in range(size // 110)]
    unknown = {name(): 1 for _ in range(20)}
    scenario = {"schema_version": 1, "name": "x", "assignor": "range", "members": members, "capacity": unknown}
    return json.dumps(scenario).encode()


def check(url: str, scenario: bytes) -> None:
    """Whatever the answer is, also one that the end of the server cuts off."""
    asked = urllib.request.Request(f"{url}/api/v1/what-if", scenario, {"Content-Type": "application/json"})
    with suppress(OSError, http.client.HTTPException), urllib.request.urlopen(asked, timeout=60) as answer:
        answer.read()


def test_live_answers_while_files_disk_mail_server_and_a_large_file_do_their_worst(
    kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    create_topic(kafka.bootstrap_servers, "live", 1)
    commit(kafka.bootstrap_servers, "live-group", {("live", 0): 5})
    audit = tmp_path / "audit.jsonl"
    (tmp_path / "policy.yaml").write_text(POLICY)
    with small_disk(tmp_path / "disk") as disk, smtp_server("drip EHLO") as mails:
        (tmp_path / "notices.yaml").write_text(NOTICES.format(port=mails.port))
        history = None if disk is None else disk / "history"
        args = ["serve", "--json", "--port", "0", "--interval", "1", "--bootstrap-server", kafka.bootstrap_servers]
        args += ["--audit", str(audit), "--policy", str(tmp_path / "policy.yaml")]
        args += ["--notices", str(tmp_path / "notices.yaml"), *([] if history is None else ["--history", str(history)])]
        with running(tmp_path, *args) as command:
            url = command.first_line()["dashboard"]
            usual_s = slowest_s(url)  # what else this machine does now
            wait_until(lambda: mails.commands, within_s=60)  # the mail server has begun to drip
            if history is not None:
                wait_until(lambda: History(history).exists("group_snapshots"), within_s=60)
                fill(history.parent / "filler")
                wait_until(lambda: "the disk is full" in command.err, within_s=60)
            checking = threading.Thread(target=check, args=(url, with_typos(1_700_000)), daemon=True)
            with locked_file(audit, APPEND):
                checking.start()
                assert [refused(url) for _ in range(3)] == [403] * 3
                assert slowest_s(url) < WITHIN_S + usual_s
                assert audit.read_text() == ""
            wait_until(lambda: len(list(AuditLog(audit).newest_first())) == 3)
            assert command.ends(signal.SIGTERM) == 0
