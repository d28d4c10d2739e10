"""The leader of a classic group: it assigns with the topics that it knows. Also the memory of assignors."""

from collections.abc import Sequence

from assignors.client.sticky.user_data import Owned, encode
from assignors.layout import read_all
from assignors.model import Group, Member, Topic
from assignors.planning import plan as plan_group
from assignors.protocol_bytes import INT32
from assignors.simulation.classic.messages import JoinedMember
from assignors.simulation.clients.consumer_process import Process
from assignors.simulation.consumer_protocol import decode_subscription, encode_assignment

Topics = dict[str, Topic | None]


def user_data(assignor: str, memory: Owned | None) -> bytes | None:
    """What the assignor adds to a subscription (Kafka: `subscriptionUserData`).

    `memory`: the last assignment that this instance of the assignor remembers; None: it is new.
    """
    if assignor == "sticky" and memory is not None:
        return encode(memory.partitions, memory.generation)
    if assignor == "cooperative-sticky":
        return INT32.pack(-1 if memory is None else memory.generation)
    return None


def plan(joined: Sequence[JoinedMember], leader: Process) -> tuple[tuple[tuple[str, bytes], ...], Topics]:
    """The assignment by member id, and the topics for which it was made. Raises AssignorError."""
    members = _members(joined)
    topics = _known(members, leader)
    known = {name: topic for name, topic in topics.items() if topic is not None}
    made = plan_group(leader.env.assignor, Group("", tuple(members), known, leader.env.assignor.name))
    parts = read_all(made.by_member)
    return tuple((member_id, encode_assignment(part)) for member_id, part in parts.items()), topics


def snapshot(joined: Sequence[JoinedMember], leader: Process) -> Topics:
    """The topics of the present assignment (KIP-814: a static leader that returns does not assign)."""
    return _known(_members(joined), leader)


def _members(joined: Sequence[JoinedMember]) -> list[Member]:
    return [decode_subscription(member.metadata, member.member_id, member.instance_id) for member in joined]


def _known(members: Sequence[Member], leader: Process) -> Topics:
    """All topics of the group, as the leader knows them; None = not yet in its metadata.

    It requests metadata of topics to which it does not subscribe itself (Kafka: `updateGroupSubscription`). A new topic
    of its own subscription is assigned once its metadata has it.
    """
    now = leader.env.topics()
    names = dict.fromkeys(name for member in members for name in member.topics)
    news = names.keys() - leader.topics.keys() - {*leader.member.topics}
    leader.topics = {**leader.topics, **{name: now[name] for name in news & now.keys()}}
    return {name: leader.topics.get(name) for name in names}
