"""Which logs are checked for records that a read_committed consumer reads, when, and what verdicts make of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lag.model import ClusterSnapshot, Unread, UnreadRange
from lag.polling.evaluation import Evaluator, default_policy
from lag.polling.marker_checks import CHECKS_PER_POLL
from lag.verdict.health import GroupHealth, TimeLag
from lag.verdict.status import Status
from tests.lag.make import End, GroupSpec, cluster, end, group
from tests.support.known import known

INTERVAL_MS = 10_000


@dataclass
class Log:
    """A cluster by hand.

    `readable` has the offset of the first committed record of a partition, if it has one; `broken` why a topic cannot
    be read. `written_ms` has the time of every record of a partition; others have none. `asked` has the ranges of each
    request. There is no time for the first requests, as many as `unanswered`.
    """

    groups: dict[str, GroupSpec]
    ends: dict[str, End]
    readable: dict[str, int] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    written_ms: dict[str, int] = field(default_factory=dict)
    asked: list[list[UnreadRange]] = field(default_factory=list)
    polls: int = 0
    interval_ms: int = INTERVAL_MS
    unanswered: int = 0
    evaluator: Evaluator = field(default_factory=lambda: Evaluator(default_policy))

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        return cluster(self.groups, self.ends, number, at_ms)

    def close(self) -> None:
        raise AssertionError

    def unread(self, ranges: Sequence[UnreadRange]) -> Sequence[Unread | None]:
        self.asked.append(list(ranges))
        if len(self.asked) <= self.unanswered:
            return [None] * len(ranges)
        return [self._found(its) for its in ranges]

    def _found(self, its: UnreadRange) -> Unread:
        if its.tp.topic in self.broken:
            return Unread(its.first, reason=self.broken[its.tp.topic])
        record = self.readable.get(str(its.tp))
        if record is None or record >= its.end:
            return Unread(its.end)
        return Unread(max(record, its.first), has_records=True, record_ms=self.written_ms.get(str(its.tp)))

    def poll(self, times: int = 1) -> Mapping[str, GroupHealth]:
        """The verdicts of the last of so many polls."""
        for _ in range(times):
            self.polls += 1
            report = self.evaluator.evaluate(self, self.polls, self.polls * self.interval_ms)
        return {its.group_id: known(report.health.group(its.group_id)) for its in report.snapshot.groups}

    def status(self, times: int = 1) -> list[Status]:
        """The verdict on group `g` in each of so many polls."""
        return [self.poll()["g"].finding.status for _ in range(times)]

    def taken(self) -> list[tuple[str, int, int]]:
        """What was asked since the last call."""
        ranges = [(str(its.tp), its.first, its.end) for asked in self.asked for its in asked]
        self.asked.clear()
        return ranges


def reader(log_end: int = 500, committed: int = 11, **its: int) -> Log:
    """A group with a member, whose partition has aborted records alone after its commit."""
    return Log({"g": group({"t-0": committed})}, {"t-0": end(log_end, **its)})


def test_a_reader_of_everything_readable_is_never_stopped_and_has_no_time_lag() -> None:
    log = reader()
    for _ in range(20):
        health = log.poll()["g"]
        assert (health.finding.status, health.time_lag.seconds, health.lag.records) == (Status.OK, 0.0, 489)
    assert log.taken() == [("t-0", 11, 500)]


def test_a_reader_that_committed_before_the_aborted_records_came_is_never_stopped() -> None:
    log = reader(log_end=11, committed=5)
    log.poll()
    log.groups, log.ends = {"g": group({"t-0": 11})}, {"t-0": end(500)}
    assert log.status(20) == [Status.OK] * 20
    assert log.poll()["g"].time_lag.seconds == 0.0
    assert log.taken() == [("t-0", 5, 11), ("t-0", 11, 500)]


def test_aborted_records_that_arrive_while_it_is_calm_change_no_verdict() -> None:
    log = reader()
    log.poll(20)
    for log_end in range(600, 2600, 100):
        log.ends = {"t-0": end(log_end)}
        health = log.poll()["g"]
        assert health.finding.status is Status.OK
        assert known(health.time_lag.seconds) <= INTERVAL_MS / 1000
    assert log.taken() == [("t-0", 11, 500), *(("t-0", at, at + 100) for at in range(500, 2500, 100))]
    assert log.poll()["g"].time_lag.seconds == 0.0


def test_a_record_after_them_waits_since_it_came_and_not_since_the_commit() -> None:
    log = reader()
    log.poll(20)
    log.ends, log.readable = {"t-0": end(503)}, {"t-0": 500}
    found = [log.poll()["g"] for _ in range(10)]
    assert [health.time_lag.seconds for health in found] == [10.0 * poll for poll in range(1, 11)]
    expected = [Status.OK] * 8 + [Status.WATCHING, Status.STOPPED]
    assert [health.finding.status for health in found] == expected
    assert log.taken() == [("t-0", 11, 500), ("t-0", 500, 503)]


def test_records_are_found_once_until_the_commit_moves() -> None:
    log = reader()
    log.readable = {"t-0": 20}
    assert log.status(10)[-1] is Status.STOPPED
    log.ends = {"t-0": end(900)}
    assert log.status(3) == [Status.STOPPED] * 3
    assert log.taken() == [("t-0", 11, 500)]
    log.groups = {"g": group({"t-0": 21})}
    log.poll(3)
    assert log.taken() == [("t-0", 21, 900)]


def test_an_open_transaction_after_aborted_records_holds_the_reader() -> None:
    log = reader(stable=400)
    assert log.status(8) == [Status.UNKNOWN] * 5 + [Status.OK] + [Status.HELD] * 2
    assert log.taken() == [("t-0", 11, 400)]
    log.ends = {"t-0": end(500)}
    assert log.status(8) == [Status.OK] * 8
    assert log.taken() == [("t-0", 400, 500)]


def test_a_topic_that_is_created_again_is_checked_again() -> None:
    log = reader()
    log.poll(3)
    log.ends = {"t-0": end(300)}
    log.poll()
    assert log.taken() == [("t-0", 11, 500), ("t-0", 11, 300)]


def test_a_check_that_fails_is_repeated_and_the_verdict_is_as_without_it() -> None:
    log = reader()
    log.broken = {"t": "NotLeaderOrFollowerError"}
    assert log.status(10)[-1] is Status.STOPPED
    assert log.taken() == [("t-0", 11, 500)] * 10
    log.broken = {}
    health = log.poll()["g"]
    assert (health.finding.status, health.time_lag.seconds) == (Status.OK, 0.0)


def test_a_group_that_reads_on_is_not_checked() -> None:
    log = reader(log_end=12)
    log.interval_ms = 1_000
    log.poll()
    log.taken()
    log.ends = {"t-0": end(500)}
    for committed in range(12, 20):
        log.groups = {"g": group({"t-0": committed})}
        log.poll()
    assert log.taken() == []


def test_nothing_is_asked_about_partitions_whose_lag_needs_no_check() -> None:
    log = Log(
        {"g": group({"t-0": 500, "u-0": 5, "v-0": 700, "w-0": None})},
        {"t-0": end(500), "u-0": end(9, start=7), "v-0": end(600), "w-0": end(3)},
    )
    log.poll(3)
    assert log.asked == []


def test_verdicts_of_groups_with_members_are_checked_first_and_small_lags_before_large_ones() -> None:
    idle = {f"idle-{at:02}": group({f"i{at}-0": 5}, members=0, state="Empty") for at in range(CHECKS_PER_POLL)}
    ends = {f"i{at}-0": end(8) for at in range(CHECKS_PER_POLL)} | {"t-0": end(900), "t-1": end(500)}
    log = Log({**idle, "g": group({"t-0": 11, "t-1": 11})}, ends, unanswered=1)
    log.poll()
    by_lag, first = log.asked
    assert [str(its.tp) for its in by_lag[:3]] == ["t-0", "t-1", "i0-0"]
    assert len(first) == CHECKS_PER_POLL
    assert [str(its.tp) for its in first[:3]] == ["t-1", "t-0", "i0-0"]
    log.poll()
    assert [str(its.tp) for its in log.asked[2]] == ["i18-0", "i19-0"]


def test_rows_that_stay_unknown_do_not_hold_up_the_others() -> None:
    shut = {f"shut-{at:02}": group({f"shut{at}-0": 5}, members=0, state="Empty") for at in range(CHECKS_PER_POLL)}
    ends = {f"shut{at}-0": end(8) for at in range(CHECKS_PER_POLL)} | {"tx-0": end(8)}
    broken = {f"shut{at}": "TopicAuthorizationFailedError" for at in range(CHECKS_PER_POLL)}
    log = Log({**shut, "tx": group({"tx-0": 5}, members=0, state="Empty")}, ends, broken=broken)
    found = log.poll(3)
    asked = [topic for topic, _, _ in log.taken()]
    assert asked.count("tx-0") == 1
    assert min(asked.count(f"shut{at}-0") for at in range(CHECKS_PER_POLL)) >= 2
    assert found["tx"].finding.status == "ok"


def far_behind(committed: int) -> Log:
    """Its records were written a day before the first poll."""
    log = Log({"g": group({"t-0": committed})}, {"t-0": end(90_000)}, {"t-0": 0}, written_ms={"t-0": -86_400_000})
    log.polls = 10_000
    log.written_ms = {"t-0": 10_000 * INTERVAL_MS - 86_400_000}
    return log


def test_the_time_lag_of_a_group_that_is_far_behind_is_known_at_the_first_poll() -> None:
    log = far_behind(5)
    lags = [log.poll()["g"].time_lag for _ in range(3)]
    assert lags == [TimeLag(86_400.0 + 10 * poll, 0.0) for poll in (1, 2, 3)]
    assert log.taken() == [("t-0", 5, 90_000)]


def test_it_is_read_again_when_the_commit_moves() -> None:
    log = far_behind(5)
    for committed in (100, 200, 300):
        log.groups = {"g": group({"t-0": committed})}
        log.written_ms["t-0"] += 1_000
        assert log.poll()["g"].time_lag.error_bound_s == 0.0
    assert log.taken() == [("t-0", at, 90_000) for at in (100, 200, 300)]


def test_a_record_without_a_timestamp_leaves_the_bound_of_the_polls_and_is_read_once() -> None:
    log = far_behind(5)
    log.written_ms = {}
    assert [log.poll()["g"].time_lag.at_least_s for _ in range(3)] == [None, 10.0, 20.0]
    assert len(log.taken()) == 1


def test_a_time_lag_that_the_polls_tell_within_a_second_or_a_twentieth_is_not_read() -> None:
    log = Log({"g": group({"t-0": 11})}, {"t-0": end(11)}, {"t-0": 11}, written_ms={"t-0": 30_000})
    log.poll()
    log.ends = {"t-0": end(21)}
    log.poll(21)  # the record at 16 was written between the first two polls, 205 s before the last one
    log.taken()
    log.groups = {"g": group({"t-0": 16})}
    assert log.poll()["g"].time_lag == TimeLag(215.0, 10.0)
    assert log.taken() == []


def test_the_groups_that_are_furthest_behind_are_read_first() -> None:
    count = 2 * CHECKS_PER_POLL
    log = Log(
        {f"g{at:02}": group({f"t-{at}": 5}) for at in range(count)}, {f"t-{at}": end(100 + at) for at in range(count)}
    )
    log.readable = {f"t-{at}": 0 for at in range(count)}
    log.written_ms = dict.fromkeys(log.readable, 1)
    timed = log.poll()
    first = {name for name, its in timed.items() if its.time_lag.seconds is not None}
    assert {f"g{at:02}" for at in range(count - CHECKS_PER_POLL, count)} <= first
    assert all(its.time_lag.seconds is not None for its in log.poll(3).values())
