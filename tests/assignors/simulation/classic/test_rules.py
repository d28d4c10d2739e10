"""The table of errors by state, refusals above the coordinator's shard, settings, failover."""

from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import pytest

from assignors.model import TopicPartition
from assignors.simulation.classic import ClassicCoordinator, InstantLog, Settings, State
from assignors.simulation.classic.messages import (
    Commit,
    CommitReply,
    Heartbeat,
    HeartbeatReply,
    Join,
    JoinReply,
    Leave,
    Leaver,
    LeaveReply,
    Reply,
    Request,
    Sync,
    SyncReply,
    while_loading,
)
from assignors.simulation.classic.records import Record
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Kernel
from tests.oracle.held_log import HeldLog
from tests.support.known import known, the

RANGE = (("range", b""),)
OFFSETS = ((TopicPartition("t", 0), 5),)


@dataclass
class Desk:
    """A coordinator, and what it answered."""

    settings: Settings = field(default_factory=Settings)
    kernel: Kernel = field(default_factory=Kernel)
    log: InstantLog | HeldLog[Any] = field(default_factory=InstantLog)

    def __post_init__(self) -> None:
        numbers = count(1)
        self.coordinator = ClassicCoordinator(
            self.kernel, lambda prefix: f"{prefix}-{next(numbers)}", self.log, self.settings, list(self.log.records)
        )

    def ask(self, request: Request) -> list[Reply]:
        """A list that gets the reply, now or later."""
        replies: list[Reply] = []
        self.coordinator.handle(request, replies.append)
        return replies

    def error(self, request: Request) -> KafkaError | None:
        """The error; None while the request is parked."""
        replies = self.ask(request)
        return replies[0].error if replies else None

    @property
    def state(self) -> State | None:
        return None if self.coordinator.group is None else self.coordinator.group.state


def completing() -> Desk:
    """Member a-1 leads generation 1, whose plan is awaited."""
    desk = Desk()
    desk.ask(Join("a", RANGE))
    desk.ask(Join("a", RANGE, "a-1"))
    desk.kernel.run_until(3000)
    return desk


def stable() -> Desk:
    """Generation 1 of member a-1."""
    desk = completing()
    desk.ask(Sync("a-1", 1, (("a-1", b"plan"),)))
    return desk


def preparing() -> Desk:
    """Member b-2 waits for a-1 to join again."""
    desk = stable()
    desk.ask(Join("b", RANGE))
    desk.ask(Join("b", RANGE, "b-2"))
    return desk


def dead() -> Desk:
    """The group is given up."""
    desk = stable()
    desk.coordinator.unload()
    return desk


def empty() -> Desk:
    """All have left generation 1."""
    desk = stable()
    desk.ask(Leave((Leaver("a-1"),)))
    return desk


STATES = {
    None: Desk,
    State.EMPTY: empty,
    State.PREPARING_REBALANCE: preparing,
    State.COMPLETING_REBALANCE: completing,
    State.STABLE: stable,
    State.DEAD: dead,
}
UNKNOWN, NONE, REBALANCE = KafkaError.UNKNOWN_MEMBER_ID, KafkaError.NONE, KafkaError.REBALANCE_IN_PROGRESS
GONE = KafkaError.COORDINATOR_NOT_AVAILABLE
TABLE: list[tuple[Request, list[KafkaError | None]]] = [
    (Heartbeat("a-1", 1), [UNKNOWN, UNKNOWN, REBALANCE, NONE, NONE, GONE]),
    (Heartbeat("a-1", 0), [UNKNOWN, UNKNOWN, *[KafkaError.ILLEGAL_GENERATION] * 3, GONE]),
    (Heartbeat("stranger", 1), [*[UNKNOWN] * 5, GONE]),
    (Sync("a-1", 1), [UNKNOWN, UNKNOWN, REBALANCE, NONE, NONE, GONE]),
    (Commit(OFFSETS, "a-1", 1), [KafkaError.GROUP_ID_NOT_FOUND, UNKNOWN, NONE, REBALANCE, NONE, GONE]),
    (Commit(OFFSETS, "a-1", 1, version=8), [KafkaError.ILLEGAL_GENERATION, UNKNOWN, NONE, REBALANCE, NONE, GONE]),
    (Commit(OFFSETS), [NONE, NONE, UNKNOWN, UNKNOWN, UNKNOWN, GONE]),
    (Leave((Leaver("a-1"),), version=2), [UNKNOWN, UNKNOWN, NONE, NONE, NONE, GONE]),
    (Join("a", RANGE, "stranger"), [*[UNKNOWN] * 5, GONE]),
    (
        Join("c", (("sticky", b""),)),
        [*[KafkaError.MEMBER_ID_REQUIRED] * 2, *[KafkaError.INCONSISTENT_GROUP_PROTOCOL] * 3, GONE],
    ),
]


@pytest.mark.parametrize(
    ("request_", "state", "error"),
    [(request, state, error) for request, row in TABLE for state, error in zip(STATES, row, strict=True)],
)
def test_the_error_of_a_request_in_a_state(request_: Request, state: State | None, error: KafkaError | None) -> None:
    desk = STATES[state]()
    assert desk.state is state
    assert desk.error(request_) is error


@pytest.mark.parametrize(("session_ms", "error"), [(5999, 26), (6000, 79), (1_800_000, 79), (1_800_001, 26)])
def test_sessions_outside_the_brokers_bounds_are_refused(session_ms: int, error: int) -> None:
    assert Desk().error(Join("a", RANGE, session_timeout_ms=session_ms)) == error


def test_leaving_before_version_3_is_for_one_member() -> None:
    assert Desk().ask(Leave((Leaver("a"), Leaver("b")), version=2)) == [LeaveReply(KafkaError.UNSUPPORTED_VERSION)]


def test_a_batch_leaves_with_an_error_for_each() -> None:
    leavers = (Leaver("stranger"), Leaver("a-1"), Leaver("", "pod-1"))
    desk = stable()
    errors = (UNKNOWN, NONE, UNKNOWN)
    assert desk.ask(Leave(leavers)) == [LeaveReply(NONE, tuple(zip(leavers, errors, strict=True)))]
    assert desk.state is State.EMPTY


def test_an_admin_removes_a_static_member_by_its_instance() -> None:
    desk = Desk()
    joined = desk.ask(Join("a", RANGE, instance_id="pod-1"))
    assert desk.error(Leave((Leaver("", "pod-1"),), version=2)) is NONE
    assert joined == [JoinReply(UNKNOWN)]


def test_a_static_leader_whose_return_is_overtaken_by_a_rebalance_joins_in_it() -> None:
    """Kafka cannot list the members of a group that prepares, and answers nothing (found by make fuzz)."""
    log = HeldLog[Record]()
    desk = Desk(log=log)
    desk.ask(Join("a", RANGE, instance_id="i", version=9))
    desk.ask(Join("c", RANGE, version=3))
    desk.kernel.run_until(6000)
    desk.ask(Sync("i-1", 1, (("i-1", b"plan"),), "i"))
    assert desk.state is State.STABLE
    log.held = True
    back = desk.ask(Join("a", RANGE, instance_id="i", version=9))
    desk.ask(Join("b", RANGE, version=3))
    log.replicate()
    assert (desk.state, back) == (State.PREPARING_REBALANCE, [])
    desk.ask(Join("c", RANGE, "c-2", version=3))
    answered = [(reply.error, reply.generation, reply.skip_assignment) for reply in map(partial(the, JoinReply), back)]
    assert answered == [(KafkaError.NONE, 2, False)]


def test_a_promised_id_cannot_become_a_static_member() -> None:
    desk = Desk()
    desk.ask(Join("a", RANGE))
    assert desk.error(Join("a", RANGE, "a-1", "pod-1")) is KafkaError.UNKNOWN_SERVER_ERROR


def test_a_coordinator_that_loads_lets_heartbeats_pass() -> None:
    loading = KafkaError.COORDINATOR_LOAD_IN_PROGRESS
    assert [
        while_loading(request)
        for request in (Heartbeat("a", 1), Sync("a", 1), Commit(()), Leave(()), Join("a", RANGE, "a-1"))
    ] == [
        HeartbeatReply(NONE),
        SyncReply(loading),
        CommitReply(loading),
        LeaveReply(loading),
        JoinReply(loading, "a-1"),
    ]


# Five ways in which a coordinator dies


def next_coordinator(desk: Desk) -> Desk:
    """Another one, with what this one persisted."""
    desk.coordinator.unload()
    return Desk(desk.settings, desk.kernel, desk.log)


def test_a_coordinator_that_dies_in_peace_leaves_a_stable_group_and_new_sessions() -> None:
    desk = stable()
    desk.ask(Commit(OFFSETS, "a-1", 1))
    desk.kernel.run_until(40_000)
    after = next_coordinator(desk)
    assert after.error(Sync("a-1", 1)) is NONE
    assert after.ask(Sync("a-1", 1)) == [SyncReply(NONE, b"plan", "consumer", "range")]
    assert after.coordinator.committed == dict(OFFSETS)
    after.kernel.run_until(84_999)
    assert str(after.state) == str(State.STABLE)
    after.kernel.run_until(85_000)
    assert after.state is State.EMPTY


def test_members_that_were_asked_to_rejoin_bring_the_rebalance_along() -> None:
    desk = preparing()
    assert desk.error(Heartbeat("a-1", 1)) is REBALANCE
    after = next_coordinator(desk)
    assert (after.state, after.error(Join("a", RANGE, "a-1"))) == (State.STABLE, NONE)
    assert known(after.coordinator.group).generation == 2


def test_parked_joins_of_a_coordinator_that_dies_are_sent_away_and_newcomers_start_anew() -> None:
    desk = stable()
    desk.ask(Join("b", RANGE))
    parked = desk.ask(Join("b", RANGE, "b-2"))
    after = next_coordinator(desk)
    assert parked == [JoinReply(KafkaError.NOT_COORDINATOR, "b-2")]
    assert after.error(Join("b", RANGE, "b-2")) is UNKNOWN


def test_a_generation_that_was_not_persisted_is_counted_again() -> None:
    desk = stable()
    (lost,) = desk.ask(Join("a", RANGE, "a-1"))
    after = next_coordinator(desk)
    assert after.error(Heartbeat("a-1", 2)) is KafkaError.ILLEGAL_GENERATION
    (again,) = after.ask(Join("a", RANGE, "a-1"))
    assert (the(JoinReply, lost).generation, the(JoinReply, again).generation) == (2, 2)


def test_a_plan_that_was_persisted_survives_its_lost_replies() -> None:
    desk = completing()
    desk.ask(Sync("a-1", 1, (("a-1", b"plan"),)))  # the reply gets lost
    (again,) = next_coordinator(desk).ask(Sync("a-1", 1))
    assert the(SyncReply, again).assignment == b"plan"


def test_a_group_larger_than_the_new_coordinator_allows_rebalances_at_once() -> None:
    desk = preparing()
    desk.ask(Join("a", RANGE, "a-1"))
    desk.ask(Sync("a-1", 2))
    desk.settings = Settings(max_size=1)
    after = next_coordinator(desk)
    assert after.state is State.PREPARING_REBALANCE
    parked = after.ask(Join("a", RANGE, "a-1"))
    assert parked == []
    assert after.error(Join("b", RANGE, "b-2")) is KafkaError.GROUP_MAX_SIZE_REACHED
