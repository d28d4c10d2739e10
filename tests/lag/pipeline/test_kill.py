"""The command killed (SIGKILL) at random moments while groups commit: every commit is recorded once."""

import json
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lag.embedded.broker import EmbeddedKafka
from lag.history.store import History
from lag.pipeline.checkpoint import FOLDER
from tests.app.cli.commandline import running
from tests.lag.pipeline.broker_side import commit, committing, places, records
from tests.support.processes import using
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.long, pytest.mark.timeout(900)]

KILLS = 10


def killed_once(folder: Path, servers: str, history: History, dice: random.Random) -> None:
    """Start the command and kill it up to a second after it has begun its next batch."""
    begun = Path(history.root) / FOLDER / "spark" / "offsets"
    before = batches(begun)
    folder.mkdir()
    with running(folder, "pipeline", "stream", "--history", history.root, "--bootstrap-server", servers) as command:
        wait_until(lambda: batches(begun) > before, within_s=240)
        time.sleep(dice.uniform(0, 1.2))
        assert command.ends(signal.SIGKILL) == -signal.SIGKILL
        wait_until(lambda: not using(command.temp))


def finished(folder: Path, servers: str, history: History) -> Any:
    """Let the command read what is left; what it says in the end."""
    folder.mkdir()
    args = ["pipeline", "stream", "--history", history.root, "--bootstrap-server", servers, "--once", "--json"]
    with running(folder, *args) as command:
        assert command.ends(within_s=400) == 0, command.err
        return json.loads(command.out)


def batches(folder: Path) -> int:
    return len([one for one in folder.glob("*") if one.name.isdigit()])


def test_every_commit_is_recorded_once_however_often_the_stream_is_killed(
    tmp_path: Path, cluster: EmbeddedKafka, capsys: pytest.CaptureFixture[str]
) -> None:
    servers, history = cluster.bootstrap_servers, History(tmp_path / "history")
    seed = random.randrange(2**32)
    dice = random.Random(seed)
    commit(servers, "group-0", {("orders", 0): 1})
    with committing(servers):
        for number in range(KILLS):
            killed_once(tmp_path / str(number), servers, history, dice)
    done = finished(tmp_path / "rest", servers, history)
    truth = Counter(places(records(servers), commits=True))
    rows = history.query("SELECT src_partition, src_offset FROM commits", "commits").to_pylist()
    found = Counter((row["src_partition"], row["src_offset"]) for row in rows)
    twice, missing = (found - truth).total(), (truth - found).total()
    with capsys.disabled():
        sys.stderr.write(
            f"\n{KILLS} kills, {truth.total():,} commits at the broker, {found.total():,} rows, {twice} twice, "
            f"{missing} missing, seed {seed}\n"
        )
    assert (twice, missing) == (0, 0)
    assert done["rows"]["decode_errors"] == 0
    again = finished(tmp_path / "again", servers, history)
    assert again["rows"] == {"commits": 0, "group_events": 0, "decode_errors": 0}
