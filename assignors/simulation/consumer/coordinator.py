"""The coordinator of one KIP-848 group: requests in, answers out.

It behaves as `GroupCoordinatorShard` of Kafka 4.3.1 does for one group id, with the checks of `GroupCoordinatorService`
before it. Not simulated: waiting of a reply for the append of another, failed appends, authorization, transactions,
racks, and what happens when members of another kind (classic, share, streams) come.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from assignors.model import TopicPartition
from assignors.simulation.classic.messages import Commit, CommitReply
from assignors.simulation.classic.offsets import Offsets
from assignors.simulation.classic.records import GroupTombstone, OffsetRecord
from assignors.simulation.consumer import regexes
from assignors.simulation.consumer.group import ConsumerGroup
from assignors.simulation.consumer.heartbeat import REFRESH_AFTER_MS, Turn, is_routine, refuse_when_full
from assignors.simulation.consumer.members import Member, MemberState
from assignors.simulation.consumer.messages import (
    JOINING,
    LEAVING,
    LEAVING_FOR_A_WHILE,
    Answer,
    Heartbeat,
    HeartbeatReply,
    Request,
    refusal,
)
from assignors.simulation.consumer.offsets import check_commit, tombstones
from assignors.simulation.consumer.records import (
    CurrentRecord,
    EpochRecord,
    Log,
    MemberTombstone,
    Record,
    RegexTombstone,
)
from assignors.simulation.consumer.settings import Settings
from assignors.simulation.consumer.topics import Topics
from assignors.simulation.consumer.validation import check, known_static
from assignors.simulation.errors import KafkaError, Refused
from assignors.simulation.kernel import Clock, Timers
from assignors.simulation.log import replicated

SESSION, REBALANCE, REGEX, EXPIRY = "session-timeout", "rebalance-timeout", "regex", "expire-group-metadata"

NewId = Callable[[], str]
"""Returns a new member id."""


class ConsumerCoordinator:
    """Handles requests; `see` announces changes of the topics. An answer is called once.

    `records` are those of an earlier coordinator; all sessions start again. An answer must not send another request
    itself, but let the kernel do so later.
    """

    def __init__(
        self,
        kernel: Clock,
        new_id: NewId,
        log: Log,
        topics: Topics,
        settings: Settings | None = None,
        records: Sequence[Record] = (),
    ) -> None:
        self.timers = Timers(kernel)
        self._new_id = new_id
        self._log = log
        self._topics = topics
        self._new_topics_since = topics.version
        self._settings = settings or Settings()
        self._group: ConsumerGroup | None = None
        self._is_simple = False  # whether the group consists of commits only
        self._offsets: Offsets = {}
        for record in records:
            self._replay(record)
        self._loaded()

    @property
    def group(self) -> ConsumerGroup | None:
        """The group, read-only; None if it does not exist."""
        return self._group

    @property
    def committed(self) -> Mapping[TopicPartition, int]:
        """Committed offsets, as OffsetFetch returns them."""
        return {partition: kept.offset for partition, kept in self._offsets.items() if kept.offset is not None}

    @property
    def looks_for_topics(self) -> bool:
        """Whether regular expressions are not resolved with new topics yet."""
        group, since = self._group, self._new_topics_since
        resolved = {} if group is None else group.resolved
        wanted = () if group is None else group.regexes
        return any(regex not in resolved or resolved[regex].version < since for regex in wanted)

    def handle(self, request: Request, answer: Answer) -> None:
        """Handle a request; `answer` gets a reply of its kind."""
        try:
            if isinstance(request, Commit):
                self._commit(request, answer)
            else:
                check(request, self._settings.assignors)
                leaves = request.epoch in (LEAVING, LEAVING_FOR_A_WHILE)
                (self._leave if leaves else self._beat)(request, answer)
        except Refused as refused:
            answer(refusal(request, refused.error))

    def see(self, topics: Topics) -> None:
        """The topics have changed. The group reacts at its next heartbeat; commits of deleted topics are deleted."""
        before, self._topics = self._topics, topics
        if topics.names.keys() - before.names.keys():
            self._new_topics_since = topics.version
        if self._group is not None and topics.touched_since(before) & self._group.subscribed():
            self._group.refreshed(0, 0)
        deleted = {before.names[uuid] for uuid in before.names.keys() - topics.names.keys()}
        self._write([OffsetRecord(tp, None, self._now_ms) for tp in self._offsets if tp.topic in deleted])

    @property
    def _now_ms(self) -> int:
        return self.timers.kernel.now_ms

    # Heartbeats

    def _beat(self, request: Heartbeat, answer: Answer) -> None:
        if self._group is None and request.epoch != JOINING:
            raise Refused(KafkaError.GROUP_ID_NOT_FOUND)
        group = self._group or ConsumerGroup()
        if is_routine(group, request, self._now_ms):
            self._watch(request.member_id)
            answer(
                HeartbeatReply(KafkaError.NONE, request.member_id, request.epoch, self._settings.heartbeat_interval_ms)
            )
            return
        self._change(group, request, answer)

    def _change(self, group: ConsumerGroup, request: Heartbeat, answer: Answer) -> None:
        refuse_when_full(group, request.member_id, self._settings.max_size)
        member_id = request.member_id or self._new_id()
        turn = Turn(group, request, member_id, self._topics, self._settings, self._now_ms)
        turn.find()
        self._resolve_if_due(turn)
        if turn.reconcile():
            self._watch_revocation(turn.after)
        self._watch(member_id)
        self._write(turn.records, partial(answer, self._reply(turn)))

    def _reply(self, turn: Turn) -> HeartbeatReply:
        member = turn.after
        assignment = frozenset(member.assigned) if turn.includes_assignment else None
        interval_ms = self._settings.heartbeat_interval_ms
        return HeartbeatReply(KafkaError.NONE, member.member_id, member.epoch, interval_ms, assignment)

    def _watch(self, member_id: str) -> None:
        """Arm the session of that member."""
        self.timers.arm((SESSION, member_id), self._settings.session_timeout_ms, partial(self._expire, member_id))

    def _watch_revocation(self, member: Member) -> None:
        """Arm the rebalance timeout of a member that must revoke partitions, and disarm it otherwise."""
        key = (REBALANCE, member.member_id)
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            late = partial(self._expire, member.member_id, member.epoch)
            self.timers.arm(key, member.rebalance_timeout_ms, late)
        else:
            self.timers.disarm(key)

    # Leaving

    def _leave(self, request: Heartbeat, answer: Answer) -> None:
        if self._group is None:
            raise Refused(KafkaError.GROUP_ID_NOT_FOUND)
        reply = HeartbeatReply(KafkaError.NONE, request.member_id, request.epoch)
        if request.instance_id is None:
            member = self._group.member(request.member_id)
        else:
            member = known_static(self._group.static_member(request.instance_id), request.member_id)
        if request.instance_id is not None and request.epoch == LEAVING_FOR_A_WHILE:
            self._write([_away(member)], partial(answer, reply))
        else:
            self._remove(self._group, member, partial(answer, reply))

    def _expire(self, member_id: str, epoch: int | None = None) -> None:
        """The session or the rebalance timeout of the member has expired."""
        member = None if self._group is None else self._group.members.get(member_id)
        if self._group is not None and member is not None and epoch in (None, member.epoch):
            self._remove(self._group, member, replicated)

    def _remove(self, group: ConsumerGroup, member: Member, done: Callable[[], None]) -> None:
        """The next heartbeat of another member computes the new target."""
        records: list[Record] = [MemberTombstone(member.member_id)]
        without = member.regex if group.regexes.get(member.regex) == 1 else None
        if without is not None:
            records.append(RegexTombstone(without))
        by_name = {name for name, count in group.by_name.items() if count > (name in member.topics)}
        seen = self._topics.fingerprint(by_name | group.matched(without))
        records.append(EpochRecord(group.epoch + 1, seen))
        self.timers.disarm((SESSION, member.member_id))
        self.timers.disarm((REBALANCE, member.member_id))
        self._write(records, done)

    # Regular expressions

    def _resolve_if_due(self, turn: Turn) -> None:
        group, change = turn.group, turn.change
        is_new = change is regexes.Change.UPDATED and not group.regexes.get(turn.after.regex)
        if not (is_new or group.regexes) or REGEX in self.timers.deadlines_ms:
            return
        wanted = frozenset(regexes.counted(group, turn.before, turn.after))
        clock = regexes.Clock(self._now_ms, self._new_topics_since, self._settings.regex_refresh_interval_ms)
        if clock.is_due(group, wanted, is_new):
            self.timers.arm(REGEX, 0, partial(self._resolve, wanted))

    def _resolve(self, wanted: frozenset[str]) -> None:
        """In the background, without delay: its duration does not matter to the group."""
        if self._group is None:
            return
        records = regexes.found_out(self._group, wanted, self._topics, self._now_ms)
        for record in records:
            if isinstance(record, EpochRecord):
                self._group.refreshed(self._now_ms + REFRESH_AFTER_MS, record.epoch)
        self._write(records)

    # Offsets

    def _commit(self, request: Commit, answer: Answer) -> None:
        check_commit(self._group, self._is_simple, request, self._topics)
        records = [OffsetRecord(partition, offset, self._now_ms) for partition, offset in request.offsets]
        self._write(records, lambda: answer(CommitReply(KafkaError.NONE)))

    def _await_expiry(self) -> None:
        self.timers.arm(EXPIRY, self._settings.offsets_retention_check_interval_ms, self._expire_offsets)

    def _expire_offsets(self) -> None:
        """Delete expired offsets, and the group if it is Empty and has no offsets left."""
        subscribed = set() if self._group is None else self._group.subscribed()
        oldest_ms = self._now_ms - self._settings.offsets_retention_ms
        records: list[Record] = [*tombstones(self._offsets, subscribed, oldest_ms)]
        is_empty = self._is_simple if self._group is None else not self._group.members
        if is_empty and len(records) == len(self._offsets):
            records.append(GroupTombstone())
        self._write(records)
        self._await_expiry()

    # Records

    def _write(self, records: Sequence[Record], done: Callable[[], None] = replicated) -> None:
        """Apply the records at once; call `done` when they are persisted."""
        for record in records:
            self._replay(record)
        if records:
            self._log.append(records, done)
        else:
            done()

    def remember(self, commits: Iterable[OffsetRecord]) -> None:
        """Offsets that members have committed since they were assigned these partitions."""
        for record in commits:
            self._replay(record)

    def _replay(self, record: Record) -> None:
        match record:
            case GroupTombstone():
                self._group, self._is_simple = None, False
            case OffsetRecord(offset=None):
                self._offsets.pop(record.partition, None)
            case OffsetRecord():
                self._offsets[record.partition] = record
                self._is_simple = self._group is None
            case _:
                self._group, self._is_simple = self._group or ConsumerGroup(), False
                self._group.replay(record)

    def _loaded(self) -> None:
        for member in [] if self._group is None else self._group.members.values():
            self._watch(member.member_id)
            if member.state is MemberState.UNREVOKED_PARTITIONS:
                self._watch_revocation(member)
        self._await_expiry()


def _away(member: Member) -> CurrentRecord:
    """A static member that leaves temporarily: it keeps its partitions and has nothing to revoke."""
    kept = dict.fromkeys(member.assigned, 0)
    return CurrentRecord(member.member_id, LEAVING_FOR_A_WHILE, member.previous_epoch, member.state, kept, {})
