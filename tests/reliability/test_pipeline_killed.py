"""The pipeline is killed at random moments while groups commit."""

import random
from collections import Counter
from pathlib import Path

import pytest

from lag.embedded.broker import EmbeddedKafka
from lag.history.store import History
from tests.lag.pipeline.broker_side import commit, committing, create_topic, places, records
from tests.lag.pipeline.test_kill import finished, killed_once
from tests.reliability import rows
from tests.reliability.bench import today
from tests.reliability.faults import ORDER

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(1_500)]

KILLS = 3


def test_pipeline_killed(tmp_path: Path) -> None:
    history, dice = History(tmp_path / "history"), random.Random()
    with EmbeddedKafka(heap_mb=256, offsets_partitions=8) as kafka:
        servers = kafka.bootstrap_servers
        create_topic(servers, "orders", 64)
        commit(servers, "group-0", {("orders", 0): 1})
        with committing(servers):
            for number in range(KILLS):
                killed_once(tmp_path / str(number), servers, history, dice)
        finished(tmp_path / "rest", servers, history)
        truth = Counter(places(records(servers), commits=True))
    found = Counter(
        (row["src_partition"], row["src_offset"])
        for row in history.query("SELECT src_partition, src_offset FROM commits", "commits").to_pylist()
    )
    row = rows.FaultRow(
        fault="Pipeline killed",
        made=f"SIGKILL of `pipeline stream`, {KILLS} times, up to 1.2 s into a batch, while groups commit; then ended",
        seen=f"{truth.total():,} commits at the broker, {found.total():,} rows in `commits`",
        seconds=None,
        polls=None,
        wrong=0,
        lost=(truth - found).total(),
        doubled=(found - truth).total(),
        page_up=True,
        measured=today(),
    )
    rows.keep(row, ORDER)
    assert row.shortcomings() == []
