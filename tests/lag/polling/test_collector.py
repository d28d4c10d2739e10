"""The poller: what it publishes, how it fails and recovers, when it polls next, how it ends."""

import gc
import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import pytest

from lag.errors import AddressError, ConfigError, GroupscopeError
from lag.generations.commit_runs import CommitRuns
from lag.generations.group_generations import INCOMPLETE, SWITCHED_OFF
from lag.generations.live_group import TargetPartitions
from lag.generations.recorded import FollowStatus, Origin, Timeouts
from lag.model import ClusterSnapshot, Problem, Scope, Unread, UnreadRange
from lag.polling.collector import Collector
from lag.polling.collectors import Collectors
from lag.polling.evaluation import default_policy
from lag.polling.report import Report
from lag.schedule import Pause, pause_after, pause_before_retry
from lag.verdict.openings.policy import GroupPolicy, Policy
from lag.verdict.rules.status_rules import Rules
from lag.verdict.status import Status
from lag.watched_file import Reading
from tests.lag.generations.recorded.events import recorded
from tests.lag.generations.recorded.test_classic import FIRST, SECOND
from tests.lag.make import cluster, end, group
from tests.support.known import known, the

PATIENCE_S = 20
REFUSED = AddressError("broker1:9092 refuses the connection", "Start the broker")


class Script:
    """A reader that does what the script says poll by poll: an exception is raised, anything else is a snapshot.

    When the script is over it repeats the last line. `asked` has the (number, at_ms) of every poll.
    """

    def __init__(self, *lines: Any) -> None:
        self.lines = list(lines) or [small]
        self.asked: list[tuple[int, int]] = []
        self.opened = self.closed = 0
        self.left: Callable[[UnreadRange], Unread] = unreadable
        self.looked_into: list[list[tuple[str, int, int]]] = []

    def connect(self) -> "Script":
        self.opened += 1
        if isinstance(self.lines[0], ConnectFails):
            raise self.lines.pop(0).error
        return self

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        self.asked.append((number, at_ms))
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        if isinstance(line, BaseException):
            raise line
        return the(ClusterSnapshot, line(number, at_ms))

    def unread(self, ranges: Sequence[UnreadRange]) -> list[Unread]:
        self.looked_into.append([(str(its.tp), its.first, its.end) for its in ranges])
        return [self.left(its) for its in ranges]

    def close(self) -> None:
        self.closed += 1


class ConnectFails:
    def __init__(self, error: Exception) -> None:
        self.error = error


def unreadable(its: UnreadRange) -> Unread:
    return Unread(its.first, reason="TOPIC_AUTHORIZATION_FAILED")


def nothing(its: UnreadRange) -> Unread:
    return Unread(its.end)


def records(its: UnreadRange) -> Unread:
    return Unread(its.first, has_records=True)


def small(number: int, at_ms: int) -> ClusterSnapshot:
    return cluster({"g": group({"t-0": number})}, {"t-0": end(100)}, number, at_ms)


def clock(step_ms: int = 10_000, start_ms: int = 1_000_000) -> Callable[[], int]:
    """Epoch milliseconds that go on by `step_ms` with every look."""
    now = iter(range(start_ms, 10**12, step_ms))
    return lambda: next(now)


@pytest.fixture
def collect() -> Iterator[Callable[..., Collector]]:
    """Makes started collectors and stops them after the test."""
    running: list[Collector] = []

    def start(script: Script, interval_s: float = 0.01, **rest: Any) -> Collector:
        collector = Collector(
            "test", script.connect, interval_s, **{"clock_ms": clock(), "chance": lambda: 0.5, **rest}
        )
        running.append(collector)
        collector.start()
        return collector

    yield start
    for collector in running:
        collector.stop()


def until(collector: Collector, holds: Callable[[Any], bool]) -> Any:
    """Wait for a status."""
    with collector._changed:
        assert collector._changed.wait_for(lambda: holds(collector.status()), PATIENCE_S)
    return collector.status()


def test_nothing_is_published_before_the_first_poll() -> None:
    collector = Collector("test", Script().connect, 7.0)
    assert collector.latest() is None
    status = collector.status()
    assert (status.interval_s, status.polls, status.error, status.next_poll_ms) == (7.0, 0, None, None)
    assert collector.wait_for(1, 0) is None


def test_polls_are_numbered_and_published_with_their_health(collect: Any) -> None:
    collector = collect(Script())
    report = collector.wait_for(3, PATIENCE_S)
    assert report.snapshot.number >= 3
    assert report.health.snapshot is report.snapshot
    assert len(report.health.times_ms) == report.snapshot.number
    assert report.window.times_ms.tolist() == report.health.times_ms.tolist()
    assert report.health.groups[0].lag.records == 100 - report.snapshot.number


def test_what_changes_between_polls_is_a_generation(collect: Any) -> None:
    def of(members: int) -> Callable[[int, int], ClusterSnapshot]:
        return lambda number, at_ms: cluster({"g": group({"t-0": 1}, members)}, {"t-0": end(100)}, number, at_ms)

    collector = collect(Script(of(1), of(2)))
    collector.wait_for(3, PATIENCE_S)
    recording = collector.recording("g")
    assert [(one.generation.number, one.generation.event) for one in recording.generations] == [
        (1, "first seen"),
        (2, "c1 joined"),
    ]
    assert (recording.origin, recording.problem) == (Origin.INFERRED, SWITCHED_OFF)


class Followed:
    """A tail that knows what a test says."""

    def __init__(self, events: Any = (), problem: Problem | None = None, known: bool = True) -> None:
        self.reported, self.its, self.known, self.running = recorded(*events), problem, known, False

    def start(self) -> None:
        self.running = True

    def stop(self, timeout_s: float = 10.0) -> None:
        self.running = False

    def observe(self, snapshot: ClusterSnapshot) -> None:
        self.seen = snapshot

    def recorded(self, group_id: str) -> Any:
        return self.reported

    def all_states(self) -> Any:
        return {}

    def knows(self, group_id: str) -> bool:
        return self.known

    def timeouts(self, group_id: str) -> dict[str, Timeouts]:
        return {"a": Timeouts(10_000, 300_000)}

    def share_targets(self, group_id: str) -> dict[str, TargetPartitions]:
        return {"a": (("orders", ()),)}

    def commits(self) -> CommitRuns:
        return CommitRuns.none()

    def reads_all(self) -> bool:
        return False

    def emptied_ms(self, group_id: str) -> int | None:
        return None

    def joined_ms(self, group_id: str) -> int | None:
        return None

    def problem(self, group_id: str) -> Problem | None:
        return self.its

    def status(self) -> FollowStatus:
        return FollowStatus(50, 49, 12)


DENIED = Problem("unauthorized", Scope.TOPIC, "__consumer_offsets", "denied")
RECORDED = (FIRST, SECOND)


@pytest.mark.parametrize(
    ("tail", "how", "numbers", "problem"),
    [
        (Followed(RECORDED), Origin.RECORDED, [0, 1, 2], None),
        (Followed(), Origin.RECORDED, [], None),
        (Followed(problem=DENIED), Origin.INFERRED, [1, 2], DENIED),
        (Followed(RECORDED, problem=DENIED), Origin.INFERRED, [1, 2], DENIED),
        (Followed(known=False), Origin.INFERRED, [1, 2], INCOMPLETE),
    ],
    ids=["recorded", "nothing happened", "denied", "denied since", "known in part"],
)
def test_generations_are_the_recorded_ones_as_long_as_records_are_read(
    collect: Any, tail: Any, how: Any, numbers: Any, problem: Any
) -> None:
    def of(members: int) -> Callable[[int, int], ClusterSnapshot]:
        return lambda number, at_ms: cluster({"g": group({"t-0": 1}, members)}, {"t-0": end(100)}, number, at_ms)

    collector = collect(Script(of(1), of(2)), follower=tail)
    collector.wait_for(3, PATIENCE_S)
    found = collector.recording("g")
    reported = [one.generation.number for one in found.generations]
    assert (found.origin, reported, found.problem) == (how, numbers, problem)
    assert dict(found.timeouts) == ({"a": Timeouts(10_000, 300_000)} if how is Origin.RECORDED else {})


def test_recorded_ones_stay_while_polls_have_seen_nothing_newer(collect: Any) -> None:
    collector = collect(Script(), follower=Followed(RECORDED, problem=DENIED))
    collector.wait_for(2, PATIENCE_S)
    found = collector.recording("g")
    assert (found.origin, len(found.generations), found.problem) == (Origin.RECORDED, 3, DENIED)


def test_each_poll_is_judged_by_the_policy_of_its_time(collect: Any) -> None:
    patient = Reading(Policy(GroupPolicy(Rules(trend_samples=9))))
    broken = Reading(patient.value, ConfigError("policy.yaml is broken"))
    readings = iter([default_policy(), patient])
    lost = Script(lambda number, at_ms: cluster({"g": group({"t-0": 50})}, {"t-0": end(150)}, number, at_ms))
    collector = collect(lost, interval_s=3600, read_policy=lambda: next(readings, broken))
    seen = []
    for number in (1, 2, 3):
        seen.append(the(Report, collector.wait_for(number, PATIENCE_S)))
        collector.poll_now()
    evidence = [report.health.groups[0].finding.evidence for report in seen]
    assert ["a verdict needs 9 in" in sentence for sentence in evidence] == [False, True, True]
    assert [report.policy_problem for report in seen] == [None, None, broken.problem]


def test_the_tail_runs_with_the_collector() -> None:
    tail = Followed()
    collector = Collector("test", Script().connect, follower=tail)
    collector.start()
    assert tail.running
    assert collector.following() == FollowStatus(50, 49, 12)
    assert Collector("test", Script().connect).following() is None
    collector.stop()
    assert not tail.running


def test_the_status_shows_the_last_poll_and_the_next(collect: Any) -> None:
    collector = collect(Script(), interval_s=3600, monotonic_s=clock(step_ms=2, start_ms=0))
    collector.wait_for(1, PATIENCE_S)
    status = collector.status()
    assert (status.polls, status.took_s, status.error, status.consecutive_failures) == (1, 2, None, 0)
    assert status.interval_s == 3600
    assert status.last_ok_ms == 1_010_000
    assert status.next_poll_ms == 1_010_000 + 3_598_000


def test_a_cluster_that_cannot_be_read_is_reported_and_tried_again(
    collect: Any, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(small, REFUSED, REFUSED, small)
    with caplog.at_level(logging.INFO, "lag.polling.collector"):
        collector = collect(script)
        collector.wait_for(1, PATIENCE_S)
        failing = until(collector, lambda status: status.consecutive_failures == 2)
        assert str(failing.error) == "broker1:9092 refuses the connection. Start the broker"
        assert collector.latest().snapshot.number == 1
        assert failing.polls == 1
        collector.poll_now()
        assert collector.wait_for(2, PATIENCE_S).snapshot.number == 2
    status = collector.status()
    assert (status.error, status.failing_since_ms, status.consecutive_failures) == (None, None, 0)
    assert [number for number, _ in script.asked[:4]] == [1, 2, 2, 2]
    assert [record.getMessage() for record in caplog.records[:2]] == [
        "cluster test: broker1:9092 refuses the connection. Start the broker",
        "cluster test: read again after 2 failures",
    ]


def test_the_time_of_the_first_failure_stays_while_it_lasts(collect: Any) -> None:
    collector = collect(Script(REFUSED))
    first = until(collector, lambda status: status.consecutive_failures == 1)
    collector.poll_now()
    second = until(collector, lambda status: status.consecutive_failures == 2)
    assert first.failing_since_ms == second.failing_since_ms == 1_010_000
    assert first.next_poll_ms == 1_010_000 + 1000
    assert second.next_poll_ms == second.failing_since_ms + 20_000 + 2000


def test_every_failure_closes_the_connection_and_opens_another(collect: Any) -> None:
    script = Script(ConnectFails(REFUSED), REFUSED, small)
    collector = collect(script)
    until(collector, lambda status: status.consecutive_failures == 1)
    collector.poll_now()
    until(collector, lambda status: status.consecutive_failures == 2)
    collector.poll_now()
    assert collector.wait_for(1, PATIENCE_S) is not None
    assert (script.opened, script.closed) == (3, 1)


@pytest.mark.parametrize("bug", [KeyError("node"), OSError(9, "bad file"), ZeroDivisionError()])
def test_a_bug_shows_as_an_error_and_does_not_end_the_polling(
    collect: Any, caplog: pytest.LogCaptureFixture, bug: Any
) -> None:
    collector = collect(Script(bug, small))
    failing = until(collector, lambda status: status.consecutive_failures == 1)
    assert type(failing.error) is GroupscopeError
    assert str(failing.error) == f"internal error: {type(bug).__name__}. Please report it with the server's log"
    assert known(caplog.records[0].exc_info)[1] is bug
    collector.poll_now()
    assert collector.wait_for(1, PATIENCE_S) is not None


def test_an_error_does_not_keep_its_frames_alive(collect: Any) -> None:
    collector = collect(Script(AddressError("refused")))
    error = until(collector, lambda status: status.consecutive_failures == 1).error
    assert (error.__traceback__, error.__cause__, error.__context__) == (None, None, None)


def test_a_group_whose_coordinator_fell_silent_stays_in_the_report(collect: Any) -> None:
    silent = Problem("timeout", Scope.BROKER, "1", "broker 1 did not answer within 5 s")
    collector = collect(
        Script(small, lambda number, at_ms: cluster({}, {"t-0": end(100)}, number, at_ms, problems=[silent]))
    )
    report = collector.wait_for(3, PATIENCE_S)
    assert [g.group_id for g in report.snapshot.groups] == ["g"]
    assert report.snapshot.groups[0].complete is False
    assert report.snapshot.groups[0].at_ms == 1_000_000


def test_a_client_may_ask_for_a_poll_before_its_time(collect: Any) -> None:
    collector = collect(Script(), interval_s=3600)
    collector.wait_for(1, PATIENCE_S)
    collector.poll_now()
    assert collector.wait_for(2, PATIENCE_S).snapshot.number == 2


def test_waiting_ends_when_the_time_is_over_or_polling_stops(collect: Any) -> None:
    collector = collect(Script(), interval_s=3600)
    collector.wait_for(1, PATIENCE_S)
    assert collector.wait_for(2, 0.01) is None
    stopper = threading.Timer(0.05, collector.stop)
    stopper.start()
    assert collector.wait_for(2, PATIENCE_S) is None
    stopper.join()


def test_a_lag_of_one_that_never_moves_is_looked_into_once_and_then_explained(collect: Any) -> None:
    script = Script(lambda number, at_ms: cluster({"g": group({"t-0": 99})}, {"t-0": end(100)}, number, at_ms))
    script.left = nothing
    report = collect(script).wait_for(12, PATIENCE_S)
    assert script.looked_into == [[("t-0", 99, 100)]]
    finding = report.health.groups[0].finding
    assert finding.status is Status.OK
    assert "only transaction markers or aborted records are left between committed offset 99 and log end 100" in (
        finding.evidence
    )
    assert report.health.groups[0].is_markers_only


def test_a_single_record_that_nobody_reads_is_no_marker(collect: Any) -> None:
    script = Script(lambda number, at_ms: cluster({"g": group({"t-0": 99})}, {"t-0": end(100)}, number, at_ms))
    script.left = records
    report = collect(script).wait_for(12, PATIENCE_S)
    assert script.looked_into == [[("t-0", 99, 100)]]
    assert report.health.groups[0].finding.status is Status.STOPPED
    assert not report.health.groups[0].is_markers_only


def test_when_the_log_grows_the_look_goes_on_where_the_last_one_ended(collect: Any) -> None:
    def growing(number: int, at_ms: int) -> ClusterSnapshot:
        return cluster({"g": group({"t-0": 98})}, {"t-0": end(99 if number < 10 else 100)}, number, at_ms)

    script = Script(growing)
    script.left = nothing
    collect(script).wait_for(14, PATIENCE_S)
    assert script.looked_into == [[("t-0", 98, 99)], [("t-0", 99, 100)]]


def test_a_poll_looks_into_a_bounded_number_of_partitions(collect: Any) -> None:
    ends = {f"t-{p}": end(100) for p in range(30)}
    script = Script(lambda number, at_ms: cluster({"g": group(dict.fromkeys(ends, 99))}, ends, number, at_ms))
    script.left = nothing
    collect(script).wait_for(14, PATIENCE_S)
    assert [len(rows) for rows in script.looked_into] == [20, 10]


def test_stopping_ends_the_thread_and_closes_the_connection(collect: Any) -> None:
    script = Script()
    collector = collect(script, interval_s=3600)
    collector.wait_for(1, PATIENCE_S)
    collector.stop()
    assert not collector._thread.is_alive()
    assert script.closed == 1


def test_stopping_breaks_into_a_poll_that_hangs(collect: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Hanging(Script):
        begun, cut = threading.Event(), threading.Event()

        def read(self, number: int, at_ms: int) -> NoReturn:
            self.begun.set()
            assert self.cut.wait(PATIENCE_S)
            raise OSError(9, "closed under us")

        def close(self) -> None:
            self.cut.set()

    script = Hanging()
    collector = collect(script)
    assert script.begun.wait(PATIENCE_S)
    collector.stop()
    assert not collector._thread.is_alive()
    assert caplog.records == []


def test_a_collector_that_never_started_can_be_stopped() -> None:
    Collector("test", Script().connect).stop()


def test_a_reader_that_fails_to_close_does_no_harm(collect: Any) -> None:
    class Broken(Script):
        def close(self) -> None:
            super().close()
            raise RuntimeError("no running loop")

    collector = collect(Broken(REFUSED, small))
    until(collector, lambda status: status.consecutive_failures == 1)
    collector.poll_now()
    assert collector.wait_for(1, PATIENCE_S) is not None


def test_memory_stays_flat_over_many_polls(collect: Any) -> None:
    published: list[weakref.ref[Any]] = []

    def watched(number: int, at_ms: int) -> ClusterSnapshot:
        snapshot = small(number, at_ms)
        published.append(weakref.ref(snapshot.offsets.committed))
        return snapshot

    collector = collect(Script(watched), interval_s=0)
    report = collector.wait_for(150, PATIENCE_S)
    collector.stop()
    assert len(report.health.times_ms) == 60
    del report
    gc.collect()
    assert sum(ref() is not None for ref in published) == 1  # the latest report's


def test_several_clusters_are_polled_side_by_side() -> None:
    scripts = {"east": Script(), "west": Script(REFUSED)}
    clusters = Collectors({name: Collector(name, script.connect, 3600) for name, script in scripts.items()})
    with clusters:
        assert list(clusters) == ["east", "west"]
        assert clusters["east"].wait_for(1, PATIENCE_S) is not None
        until(clusters["west"], lambda status: status.consecutive_failures == 1)
    assert not any(collector._thread.is_alive() for collector in clusters.values())


@pytest.mark.parametrize(
    ("interval_s", "took_s", "pause"),
    [(10, 2, Pause(8, 1)), (10, 6, Pause(4, 3)), (10, 8, Pause(4, 4)), (10, 30, Pause(15, 15))],
)
def test_a_cluster_rests_for_at_least_half_the_time_that_a_poll_took(interval_s: int, took_s: int, pause: Any) -> None:
    assert pause_after(interval_s, took_s) == pause


def test_the_interval_in_force_grows_with_slow_polls(collect: Any) -> None:
    collector = collect(Script(), interval_s=10, monotonic_s=clock(step_ms=30, start_ms=0))
    collector.wait_for(1, PATIENCE_S)
    assert collector.status().interval_s == 45


def test_a_cluster_without_groups_is_looked_at_every_second_until_the_first_one_comes(collect: Any) -> None:
    script = Script(lambda number, at_ms: cluster({}, {}, number, at_ms), small)
    collector = collect(script, interval_s=3600, monotonic_s=lambda: 0.0)
    collector.wait_for(1, PATIENCE_S)
    assert collector.status().interval_s == 1
    collector.wait_for(2, PATIENCE_S)
    assert collector.status().interval_s == 3600


@pytest.mark.parametrize(
    ("failures", "chance", "seconds"),
    [(1, 0.5, 1), (2, 0.5, 2), (4, 0.5, 8), (6, 0.5, 32), (7, 0.5, 60), (5000, 0.5, 60), (7, 0.99, 60), (3, 0, 3.2)],
)
def test_retries_come_ever_more_slowly(failures: int, chance: float, seconds: float) -> None:
    assert pause_before_retry(failures, chance) == Pause(seconds)
