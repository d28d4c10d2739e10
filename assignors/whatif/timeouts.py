"""The timeouts that decide when a group notices what happened to a member or a topic."""

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.durations import seconds_text
from assignors.model import AssignorError
from assignors.whatif.rebalance_protocol import RebalanceProtocol, is_classic

Setting = str | int | float | bool

HEARTBEATS = 4
"""Every rebalance of members that all answer is complete within this number of heartbeat intervals.

Members learn of it with their next heartbeat, and a cooperative one has a second round. Under KIP-848 one member gives
partitions up and says so, and then another one receives them, each with a heartbeat.
"""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Kafka's own, and what the simulator assumes, in milliseconds.

    `rebalance_ms` is the longest time of a rebalance in which every member answers, `start_ms` the wait of a new group
    for more members. `freezes_process`: a frozen member sends no heartbeats either.
    """

    session_ms: int
    max_poll_interval_ms: int
    metadata_max_age_ms: int
    restart_ms: int
    rebalance_ms: int
    start_ms: int
    freezes_process: bool

    @classmethod
    def of(cls, settings: Mapping[str, Setting], protocol: RebalanceProtocol) -> "Timeouts":
        """Those of a scenario's `protocol` section, else Kafka's. Raises AssignorError for what is no number."""

        def ms(name: str, default_ms: int) -> int:
            text = str(settings.get(name, default_ms)).strip()
            if not text.isdecimal():
                raise AssignorError(
                    f"The scenario's {name} is {text[:40]!r}, which is not a whole number of milliseconds."
                )
            return int(text)

        classic = is_classic(protocol)
        server = "" if classic else "group.consumer."
        return cls(
            ms(f"{server}session.timeout.ms", 45_000),
            ms("max.poll.interval.ms", 300_000),
            ms("metadata.max.age.ms", 300_000) if classic else 0,
            ms("simulated.restart.ms", 5_000),
            HEARTBEATS * ms(f"{server}heartbeat.interval.ms", 3_000 if classic else 5_000),
            ms("group.initial.rebalance.delay.ms", 3_000) if classic else 0,
            str(settings.get("simulated.freeze", "")).strip() == "process",
        )

    @property
    def session_text(self) -> str:
        """The session timeout for a sentence: `45 s`."""
        return seconds_text(self.session_ms)

    @property
    def max_poll_interval_text(self) -> str:
        """max.poll.interval.ms for a sentence: `300 s`."""
        return seconds_text(self.max_poll_interval_ms)
