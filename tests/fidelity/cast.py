"""The groups that play stories, and where their consumers live."""

from dataclasses import dataclass, field

from assignors.whatif.events import Action, CoordinatorDown, Crash, Freeze
from assignors.whatif.rebalance_protocol import RebalanceProtocol, is_classic
from tests.fidelity.stories import ASSIGNORS, CLIENT, KIP_848_REFUSES, Story

STEADY, KILLED, FROZEN, LATE = "steady", "killed", "frozen", "late"
"""Hosts: of those to whom no signal is sent, of who is killed, who is frozen, of those who see the broker restart."""

_BASE = "org.apache.kafka.clients.consumer."
_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
_CLASSES = {"range": "RangeAssignor", "cooperative-sticky": "CooperativeStickyAssignor"}


@dataclass
class Cast:
    """A group of consumers that plays a story; `done`: when what was done to it, in ms since 1970
    (None: its host reports when)."""

    story: Story
    protocol: RebalanceProtocol
    began_ms: float = 0.0
    ended_ms: float = 0.0
    done: list[tuple[float | None, Action]] = field(default_factory=list)

    @property
    def group_id(self) -> str:
        """Its group."""
        return f"{self.story.name}-{self.protocol}"

    def key(self, name: str) -> str:
        """A consumer's name among all."""
        return f"{self.group_id}/{name}"

    def host_of(self, name: str) -> str:
        """Where that consumer lives."""
        actions = self.story.actions
        if CoordinatorDown() in actions:
            return LATE
        if Crash(name) in actions:
            return KILLED
        return FROZEN if self.story.freezes_process and Freeze(name) in actions else STEADY

    def properties(self, name: str, bootstrap_servers: str) -> dict[str, str]:
        """The command for that consumer."""
        given = {
            "bootstrap.servers": bootstrap_servers,
            "group.id": self.group_id,
            "client.id": name,
            "enable.auto.commit": "false",
            "key.deserializer": _BYTES,
            "value.deserializer": _BYTES,
        }
        own = {**CLIENT, **self.story.settings}
        if is_classic(self.protocol):
            given["partition.assignment.strategy"] = _BASE + _CLASSES[ASSIGNORS[self.protocol]]
        else:
            given["group.protocol"] = "consumer"
            own = {setting: value for setting, value in own.items() if setting not in KIP_848_REFUSES}
        if self.story.static:
            given["group.instance.id"] = name
        return given | {setting: str(value) for setting, value in own.items() if not setting.startswith("simulated.")}
