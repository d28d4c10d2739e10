"""What happens to a group in a scenario, and the scenario itself. The file format: `assignors.scenario`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from assignors.model import Member, Topic, TopicPartition


@dataclass(frozen=True, slots=True)
class Join:
    """A member joins; `member` has its id, subscription, rack and instance id, and owns nothing."""

    member: Member
    capacity_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """A member closes: it says goodbye and the group rebalances at once."""

    member_id: str


@dataclass(frozen=True, slots=True)
class Crash:
    """A member dies without a word: its partitions wait until its session has expired."""

    member_id: str


@dataclass(frozen=True, slots=True)
class Freeze:
    """A member stops polling: once max.poll.interval.ms has passed, it counts as gone."""

    member_id: str


@dataclass(frozen=True, slots=True)
class Resume:
    """A frozen member polls again: it joins anew."""

    member_id: str


@dataclass(frozen=True, slots=True)
class GcPause:
    """A member's whole process stands still for `lasts_ms`, heartbeats included, and goes on by itself."""

    member_id: str
    lasts_ms: int


@dataclass(frozen=True, slots=True)
class Slow:
    """From now on a member takes `processing_ms` from one poll to the next (0: it waits in poll)."""

    member_id: str
    processing_ms: int


@dataclass(frozen=True, slots=True)
class Split:
    """The network between a member and the coordinator fails: their messages are lost, the process lives on."""

    member_id: str


@dataclass(frozen=True, slots=True)
class Heal:
    """A member that was split off reaches the coordinator again: it joins anew."""

    member_id: str


@dataclass(frozen=True, slots=True)
class Restart:
    """A member closes and comes back: a static one (KIP-345) gets its partitions back without a rebalance."""

    member_id: str


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A member's subscription becomes these topics, or those that match `pattern`."""

    member_id: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeRack:
    """A member moves to another rack (None: to an unknown one)."""

    member_id: str
    rack: str | None


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """A topic grows to `partitions` partitions; they never become fewer."""

    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """A topic is created; whoever has subscribed to its name already gets it."""

    topic: Topic


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    """A topic is deleted; subscriptions to its name stay."""

    topic: str


@dataclass(frozen=True, slots=True)
class UseAssignor:
    """Every member now plans with another assignor."""

    assignor: str


@dataclass(frozen=True, slots=True)
class CoordinatorDown:
    """The group's coordinator is lost: nothing is reassigned until it is back."""


@dataclass(frozen=True, slots=True)
class CoordinatorUp:
    """The coordinator is back."""


Action = (
    Join
    | Leave
    | Crash
    | Freeze
    | Resume
    | GcPause
    | Slow
    | Split
    | Heal
    | Restart
    | Subscribe
    | ChangeRack
    | AddPartitions
    | CreateTopic
    | DeleteTopic
    | UseAssignor
    | CoordinatorDown
    | CoordinatorUp
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens `at_ms` after the scenario begins."""

    at_ms: int
    action: Action


@dataclass(frozen=True, slots=True)
class Loads:
    """What is known of partitions and members beside their names; what is missing is unknown, not zero.

    `weights` are the scenario's own measure, `lag_records` and `produced_per_s` Kafka's. `capacity_per_s` is how many
    records a second a member can process, `default_capacity_per_s` that of members not named.
    """

    weights: Mapping[TopicPartition, float] = field(default_factory=dict)
    lag_records: Mapping[TopicPartition, float] = field(default_factory=dict)
    produced_per_s: Mapping[TopicPartition, float] = field(default_factory=dict)
    capacity_per_s: Mapping[str, float] = field(default_factory=dict)
    default_capacity_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A group and what happens to it. Members own what they own when it begins; events are in order of time."""

    name: str
    assignor: str
    topics: Mapping[str, Topic]
    members: tuple[Member, ...]
    events: tuple[Event, ...] = ()
    loads: Loads = field(default_factory=Loads)
    protocol: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    description: str = ""
