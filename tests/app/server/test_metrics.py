"""`/metrics`: the settings are the defaults of a scrape, its query overrides them, and no scrape reaches Kafka."""

import gzip
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.types import Message

from app.metrics.options import NAME_SETS
from app.server import metrics, source
from app.server.routes import ROUTES
from app.server.settings import Settings
from app.server.source import Source
from lag.generations.recorded import FollowStatus
from tests.app import feeds
from tests.app.metrics.clusters import of_family, report, snapshot
from tests.app.server.client import Request, get
from tests.app.server.tools.clients import run_apart

POLLS = [snapshot(number) for number in range(1, 5)]


@dataclass
class MovingFeed(feeds.HandFeed):
    """A collector that publishes the next report whenever it is asked."""

    asked: int = 0
    reports: list[Any] = field(default_factory=lambda: [report(POLLS[:n]) for n in range(1, len(POLLS) + 1)])

    def latest(self) -> Any:
        self.asked += 1
        return self.reports[min(self.asked, len(self.reports)) - 1]


@pytest.fixture
def feed() -> feeds.HandFeed:
    return feeds.HandFeed(report(POLLS), followed=FollowStatus(records=5))


@pytest.fixture
def served(feed: feeds.HandFeed) -> Iterator[Source]:
    """A cluster called prod."""
    its = feeds.source(prod=feed)
    source.install(its)
    yield its
    source.uninstall()


def test_scrape_has_our_own_names_in_the_plain_format(served: Source) -> None:
    answer = get("/metrics")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert 'groupscope_group_lag_records{cluster="prod",group="billing"} 60\n' in answer.text
    assert "kminion" not in answer.text


def test_openmetrics_is_served_to_clients_that_prefer_it(served: Source) -> None:
    answer = get("/metrics", headers={"accept": "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"})
    assert answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert answer.text.endswith("\n# EOF\n")


def test_query_chooses_names_groups_and_granularity(served: Source) -> None:
    answer = get("/metrics", "names=kafka-exporter,burrow&groups=billing&granularity=topic")
    lines = answer.text.splitlines()
    assert of_family(lines, "kafka_consumergroup_lag_sum") == ['{consumergroup="billing",topic="orders"} 60']
    assert of_family(lines, "burrow_kafka_consumer_lag_total") == ['{cluster="prod",consumer_group="billing"} 60']
    assert of_family(lines, "kafka_consumergroup_lag") == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("names=kminnion", "names: unknown; did you mean kminion?\n"),
        ("cluster=other", "cluster: unknown; choose from prod\n"),
        ("max_series=1000000", "max_series: must be a number from 1 to 500000, the server's own limit\n"),
    ],
)
def test_wrong_parameter_is_a_bad_request_that_names_it(served: Source, query: str, message: str) -> None:
    answer = get("/metrics", query)
    assert (answer.status, answer.text) == (400, message)


def test_settings_are_the_defaults_of_a_scrape(feed: feeds.HandFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "NAMES": "burrow, kminion",
        "GRANULARITY": "topic",
        "GROUPS": "b.*",
        "EXCLUDE_GROUPS": "beyond",
        "TOPICS": "orders",
        "EXCLUDE_TOPICS": "pay",
        "MAX_SERIES": "1000",
    }.items():
        monkeypatch.setenv(f"GROUPSCOPE_METRICS_{name}", value)
    source.install(replace(feeds.source(prod=feed), settings=Settings()))
    lines = get("/metrics").text.splitlines()
    source.uninstall()
    assert of_family(lines, "burrow_kafka_consumer_lag_total") == ['{cluster="prod",consumer_group="billing"} 60']
    assert of_family(lines, "kminion_kafka_topic_high_water_mark_sum") == []
    assert [line for line in lines if line.startswith("groupscope_group_")] == []
    assert "partition_id" not in " ".join(lines)


def test_groups_of_our_own_readers_are_left_out_unless_they_are_asked_for(feed: feeds.HandFeed) -> None:
    groups = tuple(
        replace(group, group_id="groupscope-internal-1") if group.group_id == "early" else group
        for group in POLLS[0].groups
    )
    feed.report = report([replace(POLLS[0], groups=groups)])
    source.install(feeds.source(prod=feed))
    by_default, all_groups = get("/metrics").text, get("/metrics", "exclude_groups=").text
    source.uninstall()
    assert "groupscope-internal-1" not in by_default
    assert "groupscope-internal-1" in all_groups


def test_scrape_during_a_poll_sees_one_snapshot() -> None:
    moving = MovingFeed()
    source.install(feeds.source(prod=moving))
    lines = get("/metrics", "names=all").text.splitlines()
    source.uninstall()
    assert moving.asked == 1
    assert moving.polled_now == []
    partition = 'cluster="prod",topic="orders",partition="0"}'
    assert of_family(lines, "groupscope_partition_log_end_offset")[0] == f"{{{partition} 70"
    assert of_family(lines, "burrow_kafka_topic_partition_offset")[0] == f"{{{partition} 70"
    owned = 'group="billing",topic="orders",partition="0"'
    (offset,) = [line for line in of_family(lines, "groupscope_group_partition_committed_offset") if owned in line]
    assert offset.endswith("} 50")


def test_records_that_were_read_are_counted_while_the_topic_is_followed(served: Source, feed: feeds.HandFeed) -> None:
    family = "kminion_exporter_offset_consumer_records_consumed_total"
    assert of_family(get("/metrics", "names=kminion").text.splitlines(), family) == [" 5"]
    feed.followed = None
    assert of_family(get("/metrics", "names=kminion").text.splitlines(), family) == [" 0"]


def test_cluster_without_a_report_is_served_as_down() -> None:
    source.install(feeds.source(prod=feeds.HandFeed()))
    lines = get("/metrics").text.splitlines()
    source.uninstall()
    assert of_family(lines, "groupscope_cluster_up") == ['{cluster="prod"} 0']


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.5", "GZIP", "gzip; q=1", "br\ngzip"])
def test_text_is_compressed_for_clients_that_accept_it(served: Source, accepted: str) -> None:
    plain, packed = get("/metrics", "names=kminion"), get("/metrics", "names=kminion", {"accept-encoding": accepted})
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body).decode() == plain.text
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept, Accept-Encoding"


@pytest.mark.parametrize(
    "accepted", ["", "identity", "gzip;q=0", "gzip; q=0.0", "gzip;q=0.000, br", "br\ngzip;q=0", "deflate"]
)
def test_text_is_plain_for_clients_that_do_not_accept_gzip(served: Source, accepted: str) -> None:
    answer = get("/metrics", headers={"accept-encoding": accepted})
    assert "content-encoding" not in answer.headers
    assert answer.text.startswith("# HELP")


def test_every_set_is_served_by_its_name(served: Source) -> None:
    assert all(get("/metrics", f"names={name}").status == 200 for name in (*NAME_SETS, "all"))


@pytest.mark.parametrize("accepted", ["identity", "gzip"])
def test_a_scrape_that_fails_in_the_middle_has_no_answer_that_looks_whole(
    served: Source, accepted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Iterator[str]:
        yield "# HELP groupscope_cluster_up\n"
        raise LookupError("in the middle")

    monkeypatch.setattr(metrics, "scrape", broken)
    sent: list[Message] = []

    async def asked() -> None:
        async def receive() -> Message:
            await anyio.sleep_forever()
            raise AssertionError

        async def send(message: Message) -> None:
            sent.append(message)

        scope = Request("GET", "/metrics", headers={"accept-encoding": accepted}).scope()
        with suppress(LookupError):  # the server logs it
            await Starlette(routes=ROUTES)(scope, receive, send)

    run_apart(asked)
    assert [message.get("status") for message in sent] == [500, None]
    assert sent[1]["body"] == b"Internal Server Error"
