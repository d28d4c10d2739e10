"""Ready while a cluster is read; otherwise not, and the reason is named."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.server.readiness import readiness
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.errors import AddressError, GroupscopeError
from lag.model import Broker
from lag.polling.collector import Collector
from lag.polling.report import Report
from lag.times import wall_clock_ms
from tests.app import feeds
from tests.app.server.api.conformity import conforming
from tests.app.server.api.reports import NOW_MS, installed, report, source_of
from tests.app.server.client import get, request
from tests.support.waiting import wait_until

DEADLINE_S = 1.0
REFUSED = AddressError("b1:9092 refuses connections", "Check the port")


@pytest.fixture(scope="module")
def read() -> Report:
    return report()


def state(now_ms: int = NOW_MS, **clusters: feeds.HandFeed) -> Mapping[str, Any]:
    return readiness(feeds.source(**clusters), now_ms)


def test_a_cluster_that_was_just_read_is_ready(read: Report) -> None:
    found = state(demo=feeds.HandFeed(read))
    assert (found["ready"], found["reason"], found["clusters"]["demo"]["reason"]) == (True, None, None)


@pytest.mark.parametrize(("late_ms", "is_ready"), [(30_000, True), (30_001, False)])
def test_a_snapshot_is_stale_after_three_intervals(read: Report, late_ms: int, is_ready: bool) -> None:
    found = state(NOW_MS + late_ms, demo=feeds.HandFeed(read, interval_s=10.0))
    assert found["ready"] is is_ready
    assert (found["reason"] or "").startswith("" if is_ready else "demo: the newest snapshot is 30 s old")


def test_the_age_of_the_newest_snapshot_and_the_failures_since_are_in_the_answer(read: Report) -> None:
    one = state(NOW_MS + 12_000, demo=feeds.HandFeed(read, error=REFUSED, consecutive_failures=3))["clusters"]["demo"]
    assert (one["age_s"], one["consecutive_failures"], one["error"]) == (12.0, 3, str(REFUSED))
    none = state(demo=feeds.HandFeed(None))["clusters"]["demo"]
    assert (none["age_s"], none["consecutive_failures"]) == (None, 0)


def test_a_frozen_broker_makes_the_server_unready_until_it_answers_again(kafka: EmbeddedKafka) -> None:
    settings = load_settings(kafka.bootstrap_servers, None, {})
    collector = Collector("demo", lambda: open_reader(settings, "demo", DEADLINE_S), interval_s=1.0)
    found = replace(feeds.source(), feeds={"demo": collector})

    def is_ready() -> bool:
        return bool(readiness(found, wall_clock_ms())["ready"])

    collector.start()
    try:
        wait_until(is_ready, within_s=60)
        kafka.broker(1).pause()
        wait_until(lambda: not is_ready(), within_s=60)
        state = readiness(found, wall_clock_ms())["clusters"]["demo"]
        wait_until(lambda: collector.status().consecutive_failures > 0, within_s=60)
    finally:
        kafka.broker(1).resume()
    try:
        assert state["reason"] is not None
        wait_until(is_ready, within_s=60)
        assert collector.status().consecutive_failures == 0
    finally:
        collector.stop()


def test_no_broker_reachable_is_not_ready_although_the_last_snapshot_is_fresh(read: Report) -> None:
    found = state(demo=feeds.HandFeed(read, error=REFUSED))
    assert (found["ready"], found["reason"]) == (False, f"demo: no broker is reachable: {REFUSED}")


def test_no_broker_that_answers_is_not_ready(read: Report) -> None:
    silent = tuple(Broker(node, f"b{node}", 9092, error="timed out") for node in (1, 2))
    for brokers, is_ready in ((silent, False), ((silent[0], Broker(2, "b2", 9092)), True)):
        one = replace(read, snapshot=replace(read.snapshot, brokers=brokers))
        assert state(demo=feeds.HandFeed(one))["ready"] is is_ready


def test_an_internal_error_is_not_yet_a_reason(read: Report) -> None:
    found = state(demo=feeds.HandFeed(read, error=GroupscopeError("internal error: KeyError")))
    assert (found["ready"], found["clusters"]["demo"]["error"]) == (True, "internal error: KeyError")


def test_every_cluster_is_read_once_before_the_server_is_ready(read: Report) -> None:
    found = state(first=feeds.HandFeed(read), second=feeds.HandFeed(None, error=REFUSED))
    assert (found["ready"], found["reason"]) == (False, f"second: not read yet: {REFUSED}")


def test_one_cluster_that_fails_later_does_not_hide_the_other(read: Report) -> None:
    first, second = feeds.HandFeed(read), feeds.HandFeed(read, error=REFUSED)
    assert state(first=first, second=second)["ready"] is True
    first.error = REFUSED
    assert state(first=first, second=second)["ready"] is False


def test_without_clusters_the_server_is_not_ready() -> None:
    assert state() == {"ready": False, "reason": "no cluster is configured", "clusters": {}}


def test_routes_answer_with_the_status_of_a_probe(read: Report) -> None:
    with installed(source_of(demo=None)):
        assert (get("/api/live").status, get("/api/live").json) == (200, {"live": True})
        assert (get("/api/ready").status, get("/api/ready").json["reason"]) == (503, "demo: not read yet")


def test_the_answers_of_the_probes_are_as_the_openapi_document_describes_them(read: Report) -> None:
    for report_, status in ((read, 200), (None, 503)):
        with installed(source_of(demo=report_)), pytest.MonkeyPatch.context() as patched:
            patched.setattr("app.server.readiness.wall_clock_ms", lambda: NOW_MS)
            assert conforming(get("/api/ready"), "GET", "/api/ready").status == status
            assert conforming(get("/api/live"), "GET", "/api/live").status == 200


@pytest.mark.parametrize("path", ["/api/live", "/api/ready"])
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_wrong_method_on_a_probe_is_refused_with_the_right_ones(path: str, method: str) -> None:
    answer = request(method, path)
    assert (answer.status, answer.headers["content-type"]) == (405, "application/problem+json")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}
