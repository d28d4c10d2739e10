"""A member of a classic group (Kafka: ClassicGroupMember)."""

from dataclasses import dataclass, replace

from assignors.simulation.classic.messages import AnswerJoin, AnswerSync, Join, JoinedMember, Protocols
from assignors.simulation.classic.records import MemberRecord


@dataclass(slots=True)
class Member:
    """A member as the coordinator knows it. `parked_join` and `parked_sync` answer its waiting requests."""

    member_id: str
    instance_id: str | None
    client_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False
    parked_join: AnswerJoin | None = None
    parked_sync: AnswerSync | None = None

    @classmethod
    def joining(cls, request: Join, member_id: str) -> "Member":
        return cls(
            member_id,
            request.instance_id,
            request.client_id,
            request.session_timeout_ms,
            request.rebalance_timeout_ms,
            request.protocol_type,
            request.protocols,
            is_new=True,
        )

    @classmethod
    def loaded(cls, record: MemberRecord, protocol_type: str, protocol: str) -> "Member":
        """A member from its record, which has only the selected protocol."""
        return cls(
            record.member_id,
            record.instance_id,
            record.client_id,
            record.session_timeout_ms,
            record.rebalance_timeout_ms,
            protocol_type,
            ((protocol, record.subscription),),
            record.assignment,
        )

    def renamed(self, member_id: str) -> "Member":
        """The same static member under a new id, with nothing parked."""
        return replace(self, member_id=member_id, is_new=False, parked_join=None, parked_sync=None)

    @property
    def outlives_session(self) -> bool:
        """Whether it stays when its session ends: a parked request keeps it alive, unless it is new."""
        return not self.is_new and (self.parked_join is not None or self.parked_sync is not None)

    def metadata(self, protocol: str | None) -> bytes:
        """Its subscription for that protocol. Raises KeyError if it does not support it."""
        return dict(self.protocols)[protocol or ""]

    def described(self, protocol: str | None) -> JoinedMember:
        """The member as the leader sees it."""
        return JoinedMember(self.member_id, self.instance_id, self.metadata(protocol))

    def record(self, protocol: str | None, assignment: bytes) -> MemberRecord:
        return MemberRecord(
            self.member_id,
            self.instance_id,
            self.client_id,
            self.session_timeout_ms,
            self.rebalance_timeout_ms,
            self.metadata(protocol),
            assignment,
        )
