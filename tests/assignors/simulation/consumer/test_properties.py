"""What holds for a KIP-848 group whatever its clients do."""

import random
from collections import Counter
from functools import partial
from itertools import chain, count, pairwise

from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.classic.records import GroupTombstone
from assignors.simulation.consumer import (
    ConsumerCoordinator,
    ConsumerGroup,
    GroupState,
    InstantLog,
    MemberState,
    TopicIdPartition,
)
from assignors.simulation.consumer.coordinator import REBALANCE, SESSION
from assignors.simulation.consumer.messages import Heartbeat, HeartbeatReply, Reply
from assignors.simulation.consumer.records import (
    CurrentRecord,
    EpochRecord,
    MemberTombstone,
    TargetEpochRecord,
)
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Kernel
from tests.oracle import consumer_cases
from tests.oracle.consumer_coordinator import look, look_closer
from tests.support.random_examples import random_examples

STEPS = 60
LONGEST_SESSION_MS = 60_000


class Story:
    """A coordinator, random clients and random topics."""

    def __init__(self, seed: int) -> None:
        self._r = random.Random(seed)
        self.kernel, self.log = Kernel(), InstantLog()
        self.topics = consumer_cases.topics(self._r)
        self.settings = consumer_cases.settings(self._r)
        numbers = count(1)
        self.coordinator = ConsumerCoordinator(
            self.kernel, lambda: f"new-{next(numbers)}", self.log, self.topics, self.settings
        )
        self._clients = consumer_cases.Clients(self._r)
        self.answers: list[tuple[int, int, Reply]] = []
        self._asked = 0

    def step(self) -> None:
        """A request, a change of the topics, or some time."""
        doing = self._r.random()
        if doing < 0.75:
            client, request = self._clients.next()
            self._asked += 1
            self.coordinator.handle(request, partial(self._answered, self._asked, client))
        elif doing < 0.82:
            self.topics = consumer_cases.changed(self._r, self.topics)
            self.coordinator.see(self.topics)
        else:
            self.kernel.run_until(self.kernel.now_ms + self._r.choice((0, 1, 1000, 3000, 10_000, 50_000)))

    def _answered(self, ticket: int, client: consumer_cases.Client, reply: Reply) -> None:
        self.answers.append((self.kernel.now_ms, ticket, reply))
        client.learn(reply)

    def groups(self) -> chain[ConsumerGroup]:
        """The group after each step in which there is one."""
        return chain.from_iterable(self._after_step() for _ in range(STEPS))

    def _after_step(self) -> list[ConsumerGroup]:
        self.step()
        return [] if self.coordinator.group is None else [self.coordinator.group]


stories = given(seed=st.integers(0, 2**32))
often = random_examples(40)


@often
@stories
def test_a_partition_has_one_owner_who_may_still_hold_it_and_its_epoch_is_that_owners(seed: int) -> None:
    for group in Story(seed).groups():
        held = [(tp, member.epoch) for member in group.members.values() for tp in (*member.assigned, *member.pending)]
        assert len(held) == len(dict(held))
        assert group.owners == dict(held)


@often
@stories
def test_no_epoch_is_ahead_of_the_one_that_it_follows(seed: int) -> None:
    for group in Story(seed).groups():
        assert group.target_epoch <= group.epoch
        for member in group.members.values():
            assert member.epoch <= group.target_epoch
            assert all(epoch <= max(member.epoch, 0) for epoch in member.assigned.values())


@often
@stories
def test_the_target_gives_a_partition_to_one_member(seed: int) -> None:
    for group in Story(seed).groups():
        given_ = Counter(chain.from_iterable(group.target.values()))
        assert max(given_.values(), default=1) == 1
        assert group.target.keys() <= group.members.keys()


@often
@stories
def test_a_stable_group_owns_nothing_but_its_target_and_an_empty_one_nothing_at_all(seed: int) -> None:
    for group in Story(seed).groups():
        if group.state is GroupState.STABLE:
            for member_id, member in group.members.items():
                assert (member.state, member.epoch, dict(member.pending)) == (MemberState.STABLE, group.epoch, {})
                assert member.assigned.keys() <= set(group.target.get(member_id, ()))
        assert (group.state is GroupState.EMPTY) == (not group.members)


@often
@stories
def test_a_member_has_to_revoke_something_only_while_it_is_asked_to(seed: int) -> None:
    for group in Story(seed).groups():
        for member in group.members.values():
            assert not member.pending or member.state is MemberState.UNREVOKED_PARTITIONS


@often
@stories
def test_every_member_has_a_session_and_who_must_revoke_a_rebalance_timeout(seed: int) -> None:
    story = Story(seed)
    for group in story.groups():
        timers = story.coordinator.timers.deadlines_ms.keys()
        assert {key[1] for key in timers if isinstance(key, tuple) and key[0] == SESSION} >= group.members.keys()
        late = {id_ for id_, member in group.members.items() if member.pending}
        assert {key[1] for key in timers if isinstance(key, tuple) and key[0] == REBALANCE} >= late


@often
@stories
def test_epochs_of_the_group_its_target_and_its_members_only_grow(seed: int) -> None:
    story = Story(seed)
    for _ in story.groups():
        pass
    group_epochs, target_epochs = [1], [1]
    members: dict[str, int] = {}
    for record in story.log.records:
        match record:
            case EpochRecord():
                group_epochs.append(record.epoch)
            case TargetEpochRecord():
                target_epochs.append(record.epoch)
            case GroupTombstone():
                group_epochs, target_epochs = [1], [1]
            case MemberTombstone():
                members.pop(record.member_id, None)
            case CurrentRecord() if record.epoch > 0:
                assert record.epoch >= members.get(record.member_id, 0)
                members[record.member_id] = record.epoch
        assert all(after == before + 1 for before, after in pairwise(group_epochs))
        assert all(after > before for before, after in pairwise(target_epochs))


@often
@stories
def test_a_request_is_answered_once_and_in_its_turn(seed: int) -> None:
    story = Story(seed)
    for _ in story.groups():
        pass
    assert [ticket for _, ticket, _ in story.answers] == list(range(1, len(story.answers) + 1))


@often
@stories
def test_a_group_whose_clients_fall_silent_is_empty_in_the_end(seed: int) -> None:
    story = Story(seed)
    for _ in story.groups():
        pass
    story.kernel.run_until(story.kernel.now_ms + LONGEST_SESSION_MS)
    assert story.coordinator.group is None or not story.coordinator.group.members
    timers = [key for key in story.coordinator.timers.deadlines_ms if isinstance(key, tuple)]
    assert [key for key in timers if key[0] == SESSION] == []


@often
@stories
def test_the_same_requests_have_the_same_answers(seed: int) -> None:
    first, second = Story(seed), Story(seed)
    for _ in range(STEPS):
        first.step()
        second.step()
    assert first.answers == second.answers
    assert first.log.records == second.log.records


@often
@stories
def test_a_coordinator_that_loads_the_log_goes_on_where_the_last_one_was(seed: int) -> None:
    story = Story(seed)
    for _ in story.groups():
        pass
    heir = ConsumerCoordinator(
        story.kernel, lambda: "", InstantLog(), story.topics, story.settings, list(story.log.records)
    )
    assert look(heir) == look(story.coordinator)
    assert look_closer(heir) == look_closer(story.coordinator)


class Honest:
    """A consumer that follows the broker: it reads the assignment, gives up at once what it must, and says so."""

    def __init__(self, name: str, topics: tuple[str, ...]) -> None:
        self.name, self._topics = name, topics
        self.epoch = 0
        self.owned: frozenset[TopicIdPartition] = frozenset()
        self._to_report: frozenset[TopicIdPartition] | None = None

    def beat(self, coordinator: ConsumerCoordinator) -> None:
        if self.epoch == 0:
            self.owned = frozenset()
            request = Heartbeat(self.name, 0, None, 30_000, self._topics, owned=self.owned)
        else:
            request = Heartbeat(self.name, self.epoch, owned=self._to_report)
        self._to_report = None
        coordinator.handle(request, self._learn)

    def _learn(self, reply: Reply) -> None:
        assert isinstance(reply, HeartbeatReply)
        if reply.error is not KafkaError.NONE:
            self.epoch, self.owned = 0, frozenset()
            return
        self.epoch = reply.epoch
        if reply.assignment is not None:
            self.owned = self._to_report = reply.assignment


@often
@given(seed=st.integers(0, 2**32))
def test_honest_members_never_share_a_partition_and_own_everything_once_nothing_changes(seed: int) -> None:
    r = random.Random(seed)
    topics = consumer_cases.topics(r)
    kernel = Kernel()
    coordinator = ConsumerCoordinator(kernel, lambda: "", InstantLog(), topics, consumer_cases.settings(r))
    clients = [Honest(f"m{n}", tuple(r.sample(("t", "u"), r.choice((1, 2))))) for n in range(r.randrange(1, 6))]
    for _ in range(STEPS):
        r.choice(clients).beat(coordinator)
        if r.random() < 0.1:
            topics = topics.changed(
                consumer_cases.topic(r, name) if name in "tu" and r.random() < 0.2 else topic
                for name, topic in topics.by_name.items()
            )
            coordinator.see(topics)
        kernel.run_until(kernel.now_ms + r.choice((0, 1, 500, 5000)))
        _check_nothing_is_shared(coordinator, clients)
    for _ in range(8):  # two rounds at most for each: the target's, revocations, what was released, and one more
        kernel.run_until(kernel.now_ms + 15_000)
        for client in clients:
            client.beat(coordinator)
            _check_nothing_is_shared(coordinator, clients)
    _check_all_is_owned(coordinator, clients)


def _check_nothing_is_shared(coordinator: ConsumerCoordinator, clients: list[Honest]) -> None:
    group = coordinator.group
    members = {} if group is None else group.members
    owned = list(chain.from_iterable(client.owned for client in clients if client.name in members))
    assert len(owned) == len(set(owned))


def _check_all_is_owned(coordinator: ConsumerCoordinator, clients: list[Honest]) -> None:
    group = coordinator.group
    assert group is not None
    assert group.state is GroupState.STABLE
    for client in clients:
        assert client.epoch in (0, group.epoch)  # 0: there was no room for it
        assert client.owned == (group.members[client.name].assigned.keys() if client.epoch else frozenset())
    owned = set(chain.from_iterable(client.owned for client in clients))
    assert owned == set(chain.from_iterable(group.target.values()))
