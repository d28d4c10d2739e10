"""Since when a verdict holds: polls, commit records, records about members and stored verdicts, put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from lag.generations.commit_runs import CommitRuns
from lag.verdict.health import Finding
from lag.verdict.judge import Past, judge
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.rules.group_onsets import GroupOnsets
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.lag.generations.commits import Commit, columns
from tests.lag.make import cluster, end, group

START = 1_000_000_000
EVERY = 10_000
POLLS = 12
HOUR = 3_600_000


@dataclass(frozen=True)
class Members:
    """What records about members show."""

    emptied: int | None = None
    joined: int | None = None

    def emptied_ms(self, group_id: str) -> int | None:
        return self.emptied

    def joined_ms(self, group_id: str) -> int | None:
        return self.joined


def watch(
    committed: Mapping[str, int | list[int] | None],
    ends: Mapping[str, int | list[int]],
    records: Sequence[Commit] = (),
    members: int = 1,
    reported: Members | None = None,
    reads_all: bool = True,
    before: GroupOnsets | None = None,
    start_ms: int = START,
) -> Finding:
    """The finding about the group "g" after POLLS polls; a list has a value for each poll."""
    ring, onsets = SampleRing(), before or GroupOnsets.none()
    runs = CommitRuns.none().after(columns(records), source=0)
    for poll in range(POLLS):
        at = {key: value[poll] if isinstance(value, list) else value for key, value in committed.items()}
        high = {key: end(value[poll] if isinstance(value, list) else value) for key, value in ends.items()}
        spec = group(at, members, state="Stable" if members else "Empty")
        snapshot = cluster({"g": spec}, high, poll + 1, start_ms + poll * EVERY)
        window = ring.append(snapshot, runs.of_rows(snapshot))
        health = judge(snapshot, window, past=Past(onsets, reported, reads_all))
        assert health.onsets is not None
        onsets = health.onsets
    return health.groups[0].finding


def remembered(finding: Finding, committed: int, log_end: int) -> GroupOnsets:
    """The memory after polls of one partition with that finding."""
    ring, onsets = SampleRing(), GroupOnsets.none()
    for poll in range(POLLS):
        snapshot = cluster({"g": group({"t-0": committed})}, {"t-0": end(log_end)}, poll + 1, START + poll * EVERY)
        health = judge(snapshot, ring.append(snapshot), past=Past(onsets))
        assert health.onsets is not None
        onsets = health.onsets
    assert health.groups[0].finding.onset == finding.onset
    return onsets


def test_a_group_that_stopped_an_hour_before_our_start_stopped_with_its_last_commit() -> None:
    found = watch({"t-0": 5}, {"t-0": 9}, [Commit("g", "t-0", 5, START - HOUR)])
    assert (found.status, found.onset) == (Status.STOPPED, Onset(START - HOUR, True, OnsetSource.COMMIT))


def test_without_commit_records_it_stopped_at_our_first_poll_or_earlier() -> None:
    assert watch({"t-0": 5}, {"t-0": 9}).onset == Onset(START, False, OnsetSource.WINDOW)


def test_the_last_commit_on_any_partition_counts() -> None:
    records = [Commit("g", "t-0", 5, START - HOUR), Commit("g", "t-1", 3, START - 60_000)]
    found = watch({"t-0": 5, "t-1": 3}, {"t-0": 9, "t-1": 3}, records)
    assert found.onset == Onset(START - 60_000, True, OnsetSource.COMMIT)


def test_a_partition_without_a_record_committed_before_all_records_that_are_read() -> None:
    records = [Commit("g", "t-0", 5, START - HOUR)]
    rows, ends = {"t-0": 5, "t-1": 3}, {"t-0": 9, "t-1": 8}
    assert watch(rows, ends, records).onset == Onset(START - HOUR, True, OnsetSource.COMMIT)
    unread = watch(rows, ends, records, reads_all=False)
    assert unread.onset == Onset(START, False, OnsetSource.WINDOW)


def test_records_that_began_to_wait_after_the_last_commit_are_the_onset() -> None:
    found = watch({"t-0": 5}, {"t-0": [5] * 2 + [9] * 10}, [Commit("g", "t-0", 5, START - HOUR)])
    assert (found.status, found.onset) == (Status.STOPPED, Onset(START + 2 * EVERY, True, OnsetSource.WINDOW))


def test_a_client_that_commits_the_same_offset_again_does_not_move_the_onset() -> None:
    times = (START - HOUR, START - 30_000, START + 5000, START + 70_000)
    records = [Commit("g", "t-0", 4, START - HOUR - 5000), *(Commit("g", "t-0", 5, at) for at in times)]
    assert watch({"t-0": 5}, {"t-0": 9}, records).onset == Onset(START - HOUR, True, OnsetSource.COMMIT)


def test_a_stalled_partition_stalled_with_its_own_commit() -> None:
    moving = [10 * poll for poll in range(POLLS)]
    records = [Commit("g", "t-0", 5, START - HOUR), Commit("g", "t-1", 0, START - 1000)]
    found = watch({"t-0": 5, "t-1": moving}, {"t-0": 9, "t-1": 200}, records)
    assert (found.status, found.onset) == (Status.STALLED, Onset(START - HOUR, True, OnsetSource.COMMIT))


def test_a_record_with_another_offset_than_the_polled_one_gives_no_time() -> None:
    found = watch({"t-0": 5}, {"t-0": 9}, [Commit("g", "t-0", 7, START - HOUR)])
    assert found.onset == Onset(START, False, OnsetSource.WINDOW)


def test_the_clock_of_a_broker_does_not_move_a_commit_out_of_the_polls_that_saw_it() -> None:
    committed = [0, 1, 2, 3] + [4] * 8
    for wrong in (START - HOUR, START + HOUR):
        found = watch({"t-0": committed}, {"t-0": 9}, [Commit("g", "t-0", 4, wrong)])
        assert found.onset is not None
        assert START + 3 * EVERY <= found.onset.at_ms <= START + 4 * EVERY


def test_a_rewound_group_was_rewound_by_the_commit_that_went_back() -> None:
    committed = [100 + poll for poll in range(5)] + [50 + poll for poll in range(7)]
    back_ms = START + 5 * EVERY - 3000
    records = [
        Commit("g", "t-0", 104, START + 4 * EVERY - 1),
        Commit("g", "t-0", 50, back_ms),
        Commit("g", "t-0", 51, 1),
    ]
    found = watch({"t-0": committed}, {"t-0": 200}, records)
    assert (found.status, found.onset) == (Status.REWOUND, Onset(back_ms, True, OnsetSource.COMMIT))


def test_a_group_has_no_members_since_the_record_that_left_it_empty() -> None:
    reported = Members(emptied=START - HOUR)
    found = watch({"t-0": 5}, {"t-0": 9}, members=0, reported=reported)
    assert (found.status, found.onset) == (Status.NO_MEMBERS, Onset(START - HOUR, True, OnsetSource.GENERATION))
    later = watch({"t-0": 5}, {"t-0": [5] * 4 + [9] * 8}, members=0, reported=reported)
    assert later.onset == Onset(START + 4 * EVERY, True, OnsetSource.WINDOW)


def test_a_group_never_committed_since_its_first_member_joined() -> None:
    reported = Members(joined=START - HOUR)
    found = watch({"t-0": None, "t-1": None}, {"t-0": 9, "t-1": 9}, reported=reported)
    assert (found.status, found.onset) == (Status.NEVER_COMMITTED, Onset(START - HOUR, True, OnsetSource.GENERATION))
    partly = watch({"t-0": None, "t-1": 9}, {"t-0": 9, "t-1": 9}, reported=reported)
    assert (partly.status, partly.onset) == (Status.NEVER_COMMITTED, Onset(START, False, OnsetSource.WINDOW))


def test_a_verdict_that_polls_saw_begin_is_exact() -> None:
    found = watch({"t-0": 5}, {"t-0": [5] * 6 + [3] * 6})
    assert found.status is Status.BEYOND_END
    assert found.onset == Onset(START + 6 * EVERY, True, OnsetSource.WINDOW)


@pytest.mark.parametrize("gap_ms", [EVERY, 24 * HOUR])
def test_a_restarted_server_goes_on_with_what_it_knew(gap_ms: int) -> None:
    """The commit is older than all records that are read; after a long gap polls alone prove nothing."""
    first = watch({"t-0": 5}, {"t-0": 9})
    memory = remembered(first, 5, 9)
    again = watch({"t-0": 5}, {"t-0": 9}, before=memory, start_ms=START + POLLS * EVERY + gap_ms)
    assert again.onset is not None
    assert again.onset.at_ms == START
