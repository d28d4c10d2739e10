"""The join and sync phases of one group, and the timers that drive them (Kafka: GroupMetadataManager).

Answers are called during the work, and must not send another request before they return.
"""

from collections.abc import Mapping
from functools import partial

from assignors.simulation.classic.group import PREDECESSORS, ClassicGroup, State, answer_sync
from assignors.simulation.classic.members import Member
from assignors.simulation.classic.messages import JoinReply, SyncReply
from assignors.simulation.classic.records import Log
from assignors.simulation.classic.settings import Settings
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Timers
from assignors.simulation.log import replicated

JOIN, SYNC, SESSION = "join", "sync", "session"


class Rebalance:
    """Moves a group from one generation to the next."""

    def __init__(self, group: ClassicGroup, settings: Settings, timers: Timers, log: Log) -> None:
        self.group = group
        self.settings = settings
        self.timers = timers
        self.log = log

    @property
    def now_ms(self) -> int:
        return self.timers.kernel.now_ms

    # The join phase

    def prepare_or_complete(self) -> None:
        """Start a rebalance, or complete the join phase of the present one if possible."""
        if self.group.state in PREDECESSORS[State.PREPARING_REBALANCE]:
            self.prepare()
        else:
            self.complete_if_all_joined()

    def prepare(self) -> None:
        """Tell all members to rejoin. A group that was Empty waits for more members first."""
        group = self.group
        if group.state is State.COMPLETING_REBALANCE:
            self.take_back_assignments(KafkaError.REBALANCE_IN_PROGRESS)
        group.pending_syncs.clear()
        self.timers.disarm(SYNC)
        if group.state is State.EMPTY:
            delay_ms = self.settings.initial_rebalance_delay_ms
            self._delay(delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
            group.move_to(State.PREPARING_REBALANCE, self.now_ms)
        else:
            group.move_to(State.PREPARING_REBALANCE, self.now_ms)
            self._complete_or_wait()

    def _delay(self, delay_ms: int, remaining_ms: int) -> None:
        self.timers.arm(JOIN, delay_ms, partial(self._delay_is_over, delay_ms, remaining_ms))

    def _delay_is_over(self, delay_ms: int, remaining_ms: int) -> None:
        if not self.group.new_member_added or not remaining_ms:
            self._complete_join()
            return
        self.group.new_member_added = False
        next_delay_ms = min(self.settings.initial_rebalance_delay_ms, remaining_ms)
        self._delay(next_delay_ms, max(remaining_ms - delay_ms, 0))

    def _complete_or_wait(self) -> None:
        if self.group.all_joined:
            self._complete_join()
        else:
            self.timers.arm(JOIN, self.group.rebalance_timeout_ms, self._complete_join)

    def complete_if_all_joined(self) -> None:
        """Complete the join phase, unless the group was Empty: then the initial delay applies."""
        group = self.group
        if group.state is State.PREPARING_REBALANCE and group.previous_state is not State.EMPTY and group.all_joined:
            self._complete_join()

    def _complete_join(self) -> None:
        """Remove the dynamic members that did not join and continue; static ones are kept."""
        self.timers.disarm(JOIN)
        group = self.group
        for member in list(group.members.values()):
            if member.parked_join is None and member.instance_id is None:
                self.expel(member.member_id)
        if not group.elect_leader() and group.members:
            self.timers.arm(JOIN, group.rebalance_timeout_ms, self._complete_join)
            return
        group.next_generation(self.now_ms)
        if group.state is State.EMPTY:
            self.log.append([group.record({})], replicated)
        else:
            self._answer_joins()

    def _answer_joins(self) -> None:
        group = self.group
        for member in group.members.values():
            group.answer_join(member, self.current(member.member_id))
            self.keep_alive(member)
            member.is_new = False
            group.pending_syncs.add(member.member_id)
        self.timers.arm(SYNC, group.rebalance_timeout_ms, self._expire_syncs)

    def current(self, member_id: str) -> JoinReply:
        """The reply to a join in the present generation, with the members if it is the leader."""
        group = self.group
        members = group.members.values() if group.leader == member_id else ()
        return JoinReply(
            KafkaError.NONE,
            member_id,
            group.generation,
            group.leader,
            group.protocol_type,
            group.protocol,
            members=tuple(member.described(group.protocol) for member in members),
        )

    # The sync phase

    def assign(self, assignments: Mapping[str, bytes]) -> None:
        """The assignment is persisted: all members get theirs, and the group is Stable."""
        for member in self.group.members.values():
            member.assignment = assignments.get(member.member_id, b"")
        self._answer_syncs(KafkaError.NONE)
        self.group.move_to(State.STABLE, self.now_ms)

    def take_back_assignments(self, error: KafkaError) -> None:
        """There is no assignment: parked syncs get that error."""
        for member in self.group.members.values():
            member.assignment = b""
        self._answer_syncs(error)

    def _answer_syncs(self, error: KafkaError) -> None:
        group = self.group
        chosen = (group.protocol_type, group.protocol) if error is KafkaError.NONE else (None, None)
        for member in group.members.values():
            if answer_sync(member, SyncReply(error, member.assignment, *chosen)):
                self.keep_alive(member)

    def synced(self, member_id: str) -> None:
        """That member has sent its sync; once all have, the sync timer stops."""
        self.group.pending_syncs.discard(member_id)
        if not self.group.pending_syncs:
            self.timers.disarm(SYNC)

    def _expire_syncs(self) -> None:
        # Each new rebalance disarms this timer, so it belongs to the present generation.
        for member_id in list(self.group.pending_syncs):
            self.expel(member_id)
        self.prepare()

    # Sessions

    def keep_alive(self, member: Member, timeout_ms: int | None = None) -> None:
        """Arm the member's session, with its own timeout or that one."""
        self.watch(member.member_id, member.session_timeout_ms if timeout_ms is None else timeout_ms)

    def watch(self, member_id: str, timeout_ms: int) -> None:
        """Arm the session of that member or pending id."""
        self.timers.arm((SESSION, member_id), timeout_ms, partial(self._expire_session, member_id))

    def _expire_session(self, member_id: str) -> None:
        group = self.group
        if member_id in group.pending_ids:
            group.remove(member_id)
            self._complete_after_removal()
        elif member_id in group.members and not group.members[member_id].outlives_session:
            self.dismiss(member_id)
            if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
                self.prepare_or_complete()
            else:
                self._complete_after_removal()

    def _complete_after_removal(self) -> None:
        # Unlike complete_if_all_joined, this ends even the initial delay: so does Kafka.
        if self.group.state is State.PREPARING_REBALANCE and self.group.all_joined:
            self._complete_join()

    def dismiss(self, member_id: str) -> None:
        """Remove a member; its parked requests get UNKNOWN_MEMBER_ID, so that it joins as a new one."""
        self.group.answer_join(self.group.members[member_id], JoinReply(KafkaError.UNKNOWN_MEMBER_ID))
        self.group.remove(member_id)

    def expel(self, member_id: str) -> None:
        """Remove a member and its session without an answer."""
        self.group.remove(member_id)
        self.timers.disarm((SESSION, member_id))
