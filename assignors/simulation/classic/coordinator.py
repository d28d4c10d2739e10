"""The coordinator of one classic group: requests in, answers out, now or later.

It behaves as `GroupCoordinatorShard` of Kafka 4.3.1 does for one group id, with the checks of `GroupCoordinatorService`
before it. Not simulated: waiting of a reply for the append of another, failed appends, authorization, transactions, and
what happens when members of another kind (KIP-848, share, streams) come.
"""

from collections.abc import Iterable, Mapping, Sequence

from assignors.model import TopicPartition
from assignors.simulation.classic import offsets as rules
from assignors.simulation.classic.group import ClassicGroup, State, answer_sync
from assignors.simulation.classic.join import Ids, join
from assignors.simulation.classic.leave import leave
from assignors.simulation.classic.messages import (
    Answer,
    AnswerJoin,
    AnswerSync,
    Commit,
    CommitReply,
    Heartbeat,
    HeartbeatReply,
    Join,
    JoinReply,
    Leave,
    Request,
    Sync,
    SyncReply,
)
from assignors.simulation.classic.rebalance import Rebalance
from assignors.simulation.classic.records import GroupRecord, GroupTombstone, Log, OffsetRecord, Record
from assignors.simulation.classic.settings import Settings
from assignors.simulation.classic.sync import sync
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Clock, Timers
from assignors.simulation.log import replicated

EXPIRY = "expire-group-metadata"
_BEATEN = {error: HeartbeatReply(error) for error in KafkaError}
"""Shared, because most replies are this one."""


class ClassicCoordinator:
    """Handles requests. An answer is called once, or never if another request replaces its request.

    `records` are those of an earlier coordinator; all sessions start again. An answer must not send another request
    itself, but let the kernel do so later.
    """

    def __init__(
        self, kernel: Clock, ids: Ids, log: Log, settings: Settings | None = None, records: Sequence[Record] = ()
    ) -> None:
        self.timers = Timers(kernel)
        self._ids = ids
        self._log = log
        self._settings = settings or Settings()
        self._rebalance: Rebalance | None = None
        self._offsets: rules.Offsets = {}
        for record in records:
            self._replay(record)
        self._loaded()

    @property
    def group(self) -> ClassicGroup | None:
        """The group, read-only; None if it does not exist."""
        return None if self._rebalance is None else self._rebalance.group

    @property
    def committed(self) -> Mapping[TopicPartition, int]:
        """Committed offsets, as OffsetFetch returns them; none once the group is Dead here."""
        if self.group is not None and self.group.state is State.DEAD:
            return {}
        return {partition: kept.offset for partition, kept in self._offsets.items() if kept.offset is not None}

    def handle(self, request: Request, answer: Answer) -> None:
        """Handle a request; `answer` gets a reply of its kind."""
        match request:
            case Heartbeat():
                answer(_BEATEN[self._heartbeat(request)])
            case Join():
                self._join(request, answer)
            case Sync():
                self._sync(request, answer)
            case Leave():
                leave(self._rebalance, request, answer)
            case Commit():
                self._commit(request, answer)

    def unload(self) -> None:
        """Unload the group: parked requests get NOT_COORDINATOR, the group is Dead here, timers are disarmed."""
        self.timers.disarm_all()
        if self._rebalance is None:
            return
        group = self._rebalance.group
        group.move_to(State.DEAD, self._rebalance.now_ms)
        for member in list(group.members.values()):
            if group.previous_state is State.PREPARING_REBALANCE:
                group.answer_join(member, JoinReply(KafkaError.NOT_COORDINATOR, member.member_id))
            else:
                answer_sync(member, SyncReply(KafkaError.NOT_COORDINATOR))

    # Requests

    def _join(self, request: Join, answer: AnswerJoin) -> None:
        low, high = self._settings.min_session_timeout_ms, self._settings.max_session_timeout_ms
        if not low <= request.session_timeout_ms <= high:
            answer(JoinReply(KafkaError.INVALID_SESSION_TIMEOUT, request.member_id))
        elif self._rebalance is not None:
            join(self._rebalance, self._ids, request, answer)
        elif request.member_id:
            answer(JoinReply(KafkaError.UNKNOWN_MEMBER_ID, request.member_id))
        else:
            self._found_group(request, answer)

    def _found_group(self, request: Join, answer: AnswerJoin) -> None:
        rebalance = self._create()
        join(rebalance, self._ids, request, answer)
        self._log.append([GroupRecord(0, None, None, None, rebalance.group.state_since_ms)], replicated)

    def _sync(self, request: Sync, answer: AnswerSync) -> None:
        if self._rebalance is None:
            answer(SyncReply(KafkaError.UNKNOWN_MEMBER_ID))
        else:
            sync(self._rebalance, request, answer)

    def _heartbeat(self, request: Heartbeat) -> KafkaError:
        if self._rebalance is None:
            return KafkaError.UNKNOWN_MEMBER_ID
        group = self._rebalance.group
        error = group.validate_current(request)
        if error is not KafkaError.NONE:
            return error
        self._rebalance.keep_alive(group.members[request.member_id])
        # None in CompletingRebalance: a member may not have sent its Sync yet.
        asked_to_join = group.state is State.PREPARING_REBALANCE
        return KafkaError.REBALANCE_IN_PROGRESS if asked_to_join else KafkaError.NONE

    def _commit(self, request: Commit, answer: Answer) -> None:
        if self._rebalance is None and request.generation >= 0:
            answer(CommitReply(rules.refusal_without_group(request)))
            return
        rebalance = self._rebalance or self._create()
        error = rules.refusal(rebalance.group, request)
        if error is not KafkaError.NONE:
            answer(CommitReply(error))
            return
        if rebalance.group.state in (State.STABLE, State.PREPARING_REBALANCE):
            rebalance.keep_alive(rebalance.group.members[request.member_id])
        records = [OffsetRecord(partition, offset, rebalance.now_ms) for partition, offset in request.offsets]
        for record in records:
            self._replay(record)
        self._log.append(records, lambda: answer(CommitReply(KafkaError.NONE)))

    # Loading and expiry

    def _create(self, group: ClassicGroup | None = None) -> Rebalance:
        made = group or ClassicGroup(self.timers.kernel.now_ms)
        self._rebalance = Rebalance(made, self._settings, self.timers, self._log)
        return self._rebalance

    def remember(self, commits: Iterable[OffsetRecord]) -> None:
        """Offsets that members have committed since they were assigned these partitions."""
        for record in commits:
            self._replay(record)

    def _replay(self, record: Record) -> None:
        match record:
            case GroupRecord():
                self._create(ClassicGroup.loaded(record))
            case GroupTombstone():
                self._rebalance = None
            case OffsetRecord(offset=None):
                self._offsets.pop(record.partition, None)
            case OffsetRecord():
                if self._rebalance is None:
                    self._create()
                self._offsets[record.partition] = record

    def _loaded(self) -> None:
        if self._rebalance is not None:
            group = self._rebalance.group
            for member in group.members.values():
                self._rebalance.keep_alive(member)
            if len(group.members) > self._settings.max_size:
                self._rebalance.prepare()
        self._await_expiry()

    def _await_expiry(self) -> None:
        self.timers.arm(EXPIRY, self._settings.offsets_retention_check_interval_ms, self._expire)

    def _expire(self) -> None:
        """Delete expired offsets, and the group if it is Empty and has no offsets left."""
        if self._rebalance is not None:
            group = self._rebalance.group
            oldest_ms = self._rebalance.now_ms - self._settings.offsets_retention_ms
            records: list[Record] = [*rules.expired(group, self._offsets, oldest_ms)]
            if len(records) == len(self._offsets) and group.state is State.EMPTY:
                records.append(GroupTombstone())
            for record in records:
                self._replay(record)
            if records:
                self._log.append(records, replicated)
        self._await_expiry()
