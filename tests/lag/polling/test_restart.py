"""A server that is started again goes on with the verdicts that it stored: a restart changes nothing.

A letter for each poll of the group: d topic deleted, b committed beyond the end, . ok. One poll shows each of them.
"""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from lag.history.recorder import group_snapshots
from lag.history.resume.last_verdicts import last_verdicts
from lag.history.store import History
from lag.model import ClusterSnapshot, Unread, UnreadRange
from lag.polling.evaluation import Evaluator
from lag.verdict.health import Finding
from lag.verdict.openings.policy import GroupPolicy, Policy
from lag.verdict.openings.stored_verdicts import StoredVerdicts
from lag.verdict.status import Status
from lag.watched_file import Reading
from tests.lag.make import cluster, deleted, end, group

START_MS, EVERY_MS = 1_790_000_000_000, 10_000
POLLS = "d.d.b..dd.bb.d....d."
LETTERS = {Status.TOPIC_DELETED: "d", Status.BEYOND_END: "b", Status.OK: ".", Status.FLAPPING: "~"}
GROUPS = {"d": group({"t-0": 9, "gone-0": 5}), "b": group({"t-0": 12}), ".": group({"t-0": 9})}


class Server:
    """A process that polls the group and stores the polls when it ends; it begins with what is stored."""

    def __init__(self, policy: GroupPolicy, history: History) -> None:
        self._history = history
        self._evaluator = Evaluator(lambda: Reading(Policy(policy)), last_verdicts=self._last)

    def _last(self, cluster_id: str, at_ms: int, openings_s: float) -> StoredVerdicts:
        return last_verdicts(self._history, cluster_id, at_ms, openings_s)

    def polls(self, numbers: Sequence[int]) -> list[Finding]:
        """What it shows at each of these polls."""
        seen = [self._evaluator.evaluate(self, number, START_MS + number * EVERY_MS).health for number in numbers]
        self._history.append("group_snapshots", pa.concat_tables(map(group_snapshots, seen)))
        return [health.groups[0].finding for health in seen]

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        return cluster({"g": GROUPS[POLLS[number]]}, {"t-0": end(9), "gone-0": deleted()}, number + 1, at_ms)

    def unread(self, ranges: Sequence[UnreadRange]) -> Sequence[Unread]:
        return [Unread(its.first, has_records=True) for its in ranges]

    def close(self) -> None:
        """Nothing is open."""


def letters(found: Sequence[Finding]) -> str:
    return "".join(LETTERS[one.status] for one in found)


def known(found: Sequence[Finding]) -> list[tuple[Status, int | None, str]]:
    """What is shown of each poll: the status, its onset, and how often verdicts opened."""
    evidence = [one.evidence.partition("; now: ")[0] if one.status is Status.FLAPPING else "" for one in found]
    onsets = [one.onset.at_ms if one.onset else None for one in found]
    return list(zip([one.status for one in found], onsets, evidence, strict=True))


@pytest.mark.parametrize("restart", range(1, len(POLLS), 3))
def test_openings_are_counted_over_a_restart(tmp_path: Path, restart: int) -> None:
    policy, polls = GroupPolicy(flapping_openings=2, flapping_s=80), range(len(POLLS))
    unbroken = Server(policy, History(tmp_path / "unbroken")).polls(polls)
    assert letters(unbroken) == "d.d.b~~~~~bb.~~...d."
    history = History(tmp_path / "restarted")
    found = Server(policy, history).polls(polls[:restart]) + Server(policy, history).polls(polls[restart:])
    assert known(found) == known(unbroken)


def test_openings_count_from_every_earlier_start(tmp_path: Path) -> None:
    policy, history = GroupPolicy(flapping_openings=2, flapping_s=80), History(tmp_path)
    found = [finding for number in range(len(POLLS)) for finding in Server(policy, history).polls([number])]
    assert letters(found) == "d.d.b~~~~~bb.~~...d."


def test_an_open_verdict_stays_open_over_a_restart(tmp_path: Path) -> None:
    policy, history = GroupPolicy(open_polls=2, close_polls=3), History(tmp_path)
    assert letters(Server(policy, history).polls(range(7, 9))) == ".d"
    found = Server(policy, history).polls([9, 12, 14, 15])
    assert letters(found) == "dd.."
    assert found[0].evidence == "found before the start of this server; OK in 1 poll, closes after 3 in a row"
    assert found[0].onset is not None
    assert found[0].onset.at_ms == START_MS + 7 * EVERY_MS
