"""What pages and the history get when a policy holds verdicts back or open."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lag.history.recorder import group_snapshots
from lag.lazy_sequence import LazySequence
from lag.model import ClusterSnapshot
from lag.offsets import PartitionProblem
from lag.verdict.health import GroupHealth, Health
from lag.verdict.judge import Past, judge
from lag.verdict.onset import OnsetSource
from lag.verdict.openings.open_verdicts import OpenVerdicts
from lag.verdict.openings.policy import GroupPolicy, Policy
from lag.verdict.status import STATUS_CODE, TOO_EARLY, Status
from lag.verdict.window.sample_window import SampleRing
from tests.lag.make import cluster, end, failed, group

HELD = Policy(GroupPolicy(open_polls=2, close_polls=3))


def poll(number: int, lost: Sequence[str], rest: Sequence[str] = ("a", "b", "c")) -> ClusterSnapshot:
    """Three groups that keep up; those in `lost` have lost records."""
    ends = {f"{name}-0": end(100, start=50) for name in "abc"}
    groups = {name: group({f"{name}-0": 40 if name in lost else 100}) for name in rest}
    return cluster(groups, ends, number, 1_000_000 + number * 10_000)


class Server:
    """Polls that are judged and shown one after the other."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self._ring, self._past, self.verdicts = policy, SampleRing(), Past(), OpenVerdicts()

    def see(self, snapshot: ClusterSnapshot) -> Health:
        rules = self.policy.rules_of([one.group_id for one in snapshot.groups])
        found = judge(snapshot, self._ring.append(snapshot), rules, past=self._past)
        self._past = Past(found.onsets or self._past.onsets)
        self.verdicts, shown = self.verdicts.after(found, self.policy)
        return shown


def statuses(health: Health) -> list[Status]:
    return [one.finding.status for one in health.groups]


def test_the_default_shows_each_poll_as_it_is() -> None:
    server = Server(Policy())
    server.see(poll(1, []))
    assert statuses(server.see(poll(2, ["b"]))) == [Status.OK, Status.LOST, Status.OK]
    assert statuses(server.see(poll(3, []))) == [Status.OK] * 3
    assert server.verdicts == OpenVerdicts()


def test_a_verdict_opens_and_closes_on_pages_and_in_the_history_together() -> None:
    server = Server(HELD)
    seen = []
    for number, lost in enumerate(["", "b", "b", "", "", "", ""], start=1):
        health = server.see(poll(number, list(lost)))
        assert health.columns.status.tolist() == [STATUS_CODE[status] for status in statuses(health)]
        stored = group_snapshots(health).to_pylist()[1]
        assert (stored["onset"] is not None) == (health.groups[1].finding.onset is not None)
        seen.append(statuses(health)[1])
        assert statuses(health)[::2] == [Status.OK, Status.OK]
    assert seen == [Status.OK, Status.OK, *[Status.LOST] * 3, Status.OK, Status.OK]
    assert server.verdicts.states == {}


def test_the_onset_is_the_poll_that_found_it_first() -> None:
    server = Server(HELD)
    for number, lost in enumerate(["", "b", "b", ""], start=1):
        health = server.see(poll(number, list(lost)))
    onset = health.groups[1].finding.onset
    assert onset is not None
    assert (onset.at_ms, onset.is_exact, onset.source) == (1_020_000, True, OnsetSource.WINDOW)
    assert health.columns.onsets.at_ms.tolist() == [-1, 1_020_000, -1]


def test_the_rest_of_the_group_is_that_of_the_last_poll() -> None:
    server = Server(HELD)
    for number, lost in enumerate(["", "b", "b", ""], start=1):
        health = server.see(poll(number, list(lost)))
    held = health.group("b")
    assert held is not None
    assert (held.finding.status, held.lag.records, held.unhealthy) == (Status.LOST, 0, {})
    assert health.groups[-2] == health.groups[1:][0] == list(health.groups)[1]


def test_a_poll_that_shows_too_little_changes_nothing() -> None:
    server = Server(HELD)
    for number in (1, 2):
        server.see(poll(number, ["b"]))
    unread = {"a-0": end(100), "b-0": failed(PartitionProblem.LEADERLESS), "c-0": end(100)}
    snapshot = cluster({name: group({f"{name}-0": 100}) for name in "abc"}, unread, 3, 1_030_000)
    assert statuses(server.see(snapshot))[1] is Status.UNKNOWN
    missed = server.see(poll(4, [])).groups[1].finding
    assert missed.status is Status.LOST
    assert "committed offset 40 is below the log start 50" in missed.evidence
    assert missed.evidence.endswith("OK in 1 poll, closes after 3 in a row")


def test_a_group_that_is_gone_leaves_nothing() -> None:
    server = Server(HELD)
    for number in (1, 2):
        server.see(poll(number, ["b"]))
    server.see(poll(3, [], rest=("a", "c")))
    assert server.verdicts == OpenVerdicts(settled=frozenset("ac"))


@pytest.mark.parametrize(("name", "expected"), [("a", Status.OK), ("b", Status.LOST)])
def test_each_group_has_the_policy_of_its_pattern(name: str, expected: Status) -> None:
    server = Server(Policy(GroupPolicy(open_polls=3), groups=(("b*", GroupPolicy()),)))
    health = server.see(poll(1, ["a", "b"]))
    found = health.group(name)
    assert found is not None
    assert found.finding.status is expected


def test_a_verdict_that_the_first_polls_find_is_none_until_it_opens_rather_than_ok() -> None:
    """A server that was restarted does not know that it was open before: an OK would end an incident."""
    server = Server(Policy(GroupPolicy(open_polls=3)))
    codes = [server.see(poll(number, ["b"])).columns.status.tolist() for number in (1, 2, 3)]
    ok = STATUS_CODE[Status.OK]
    assert codes == [[ok, TOO_EARLY, ok], [ok, TOO_EARLY, ok], [ok, STATUS_CODE[Status.LOST], ok]]


def test_a_policy_that_is_set_later_does_not_end_what_every_poll_showed() -> None:
    server = Server(Policy())
    server.see(poll(1, ["b"]))
    server.policy = HELD
    assert server.see(poll(2, ["b"])).columns.status[1] == TOO_EARLY
    assert statuses(server.see(poll(3, ["b"])))[1] is Status.LOST


def test_a_group_that_was_read_and_ok_stays_ok_until_a_verdict_opens() -> None:
    server = Server(HELD)
    server.see(poll(1, [], rest=("a",)))
    server.see(poll(2, []))
    assert server.see(poll(3, ["a", "b"])).columns.status.tolist() == [STATUS_CODE[Status.OK]] * 3


class Unread(LazySequence[GroupHealth]):
    """Evidence that nobody asked for: it takes 0.1 ms for each group."""

    def __len__(self) -> int:
        return 3

    def _entry(self, at: int) -> GroupHealth:
        raise AssertionError("read")


def test_a_verdict_that_holds_asks_for_no_evidence() -> None:
    server = Server(HELD)
    for number in (1, 2):
        server.see(poll(number, ["a", "b", "c"]))
    third = server.see(poll(3, ["a", "b", "c"]))
    _, shown = server.verdicts.after(replace(third, groups=Unread()), HELD)
    assert shown.columns.status.tolist() == [STATUS_CODE[Status.LOST]] * 3


def test_a_new_policy_counts_from_the_next_poll() -> None:
    server = Server(HELD)
    server.see(poll(1, ["b"]))
    server.policy = Policy()
    assert statuses(server.see(poll(2, ["b"])))[1] is Status.LOST
