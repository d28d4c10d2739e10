"""The demo panel's actions on the running workload, for any process that has the address and the key.

The parent process passes both in the environment variable `GROUPSCOPE_DEMO_CONTROLS`; without it there is no panel.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from typing import Any, Self

from lag.errors import EmbeddedError

ENVIRONMENT = "GROUPSCOPE_DEMO_CONTROLS"
ANSWER_S = 60.0
HINT = "Is `groupscope up` still running? Start it again."
START_AGAIN = "End `groupscope up` with Ctrl-C, and start it again."


@dataclass(frozen=True, slots=True)
class DemoMember:
    """A member that the panel can control; `state` is joining, running, stopped (reads nothing) or frozen."""

    name: str
    group_id: str
    pid: int
    state: str


@dataclass(frozen=True, slots=True)
class DemoTopic:
    """A topic that the panel can change, and the records produced to it per second."""

    name: str
    partitions: int
    rate_per_s: float


@dataclass(frozen=True, slots=True)
class Running:
    """Groups, members and topics that the panel can control, and topics with a transaction that it opened."""

    groups: tuple[str, ...]
    members: tuple[DemoMember, ...]
    topics: tuple[DemoTopic, ...]
    transactions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether every case is set up, which members have not joined yet, and the failure (None: none)."""

    ready: bool
    waiting: tuple[str, ...]
    failure: str | None


@dataclass(frozen=True, slots=True)
class Controls:
    """The panel's actions. Each returns a sentence about what was done, or raises EmbeddedError."""

    port: int
    key: bytes = field(repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self | None:
        """The controls from the environment; None if there is no demo workload."""
        port, _, key = environment.get(ENVIRONMENT, "").partition(":")
        return cls(int(port), bytes.fromhex(key)) if port and key else None

    @property
    def environment(self) -> dict[str, str]:
        """The environment variable for the process that shows the panel."""
        return {ENVIRONMENT: f"{self.port}:{self.key.hex()}"}

    def readiness(self) -> Readiness:
        """Progress of the set-up."""
        answer = self._ask("status")
        return Readiness(answer["ready"], tuple(answer["waiting"]), answer["failure"])

    def running(self) -> Running:
        """What the panel can control now."""
        answer = self._ask("running")
        return Running(
            groups=tuple(answer["groups"]),
            members=tuple(DemoMember(**member) for member in answer["members"]),
            topics=tuple(DemoTopic(name, **topic) for name, topic in sorted(answer["topics"].items())),
            transactions=tuple(answer["transactions"]),
        )

    def add_member(self, group_id: str) -> str:
        """Start one more member of the group."""
        return str(self._ask("add_member", group_id=group_id))

    def kill_member(self, member: str) -> str:
        """SIGKILL the member."""
        return str(self._ask("kill_member", member=member))

    def freeze_member(self, member: str) -> str:
        """SIGSTOP the member."""
        return str(self._ask("freeze_member", member=member))

    def thaw_member(self, member: str) -> str:
        """SIGCONT the member."""
        return str(self._ask("thaw_member", member=member))

    def stop_consuming(self, group_id: str) -> str:
        """Let all members of the group stay in it, but read nothing."""
        return str(self._ask("stop_consuming", group_id=group_id))

    def resume_consuming(self, group_id: str) -> str:
        """Let its paused members read again."""
        return str(self._ask("resume_consuming", group_id=group_id))

    def burst(self, topic: str, records: int) -> str:
        """Produce that many records to the topic at once."""
        return str(self._ask("burst", topic=topic, records=records))

    def open_transaction(self, topic: str) -> str:
        """Open a transaction over all partitions of the topic, and leave it open."""
        return str(self._ask("open_transaction", topic=topic))

    def commit_transaction(self, topic: str) -> str:
        """Commit the transaction that is open on the topic."""
        return str(self._ask("end_transaction", topic=topic, commit=True))

    def abort_transaction(self, topic: str) -> str:
        """Abort the transaction that is open on the topic."""
        return str(self._ask("end_transaction", topic=topic, commit=False))

    def delete_topic(self, topic: str) -> str:
        """Delete the topic, and produce no more to it."""
        return str(self._ask("delete_topic", topic=topic))

    def add_partitions(self, topic: str, count: int) -> str:
        """Give the topic `count` more partitions."""
        return str(self._ask("add_partitions", topic=topic, count=count))

    def _ask(self, action: str, **arguments: str | int | bool) -> Any:
        try:
            answer = self._exchange(json.dumps({"action": action, "arguments": arguments}).encode())
        except AuthenticationError as error:
            raise EmbeddedError("The demo workload does not accept our key", HINT) from error
        except ConnectionRefusedError as error:
            raise EmbeddedError("The demo workload has ended: its groups have no members now", START_AGAIN) from error
        except (OSError, EOFError) as error:
            raise EmbeddedError("The demo workload does not answer", HINT) from error
        if "done" not in answer:
            raise EmbeddedError(answer["cause"], answer["hint"])
        return answer["done"]

    def _exchange(self, request: bytes) -> Any:
        with Client(("127.0.0.1", self.port), authkey=self.key) as connection:
            connection.send_bytes(request)
            if not connection.poll(ANSWER_S):
                raise EmbeddedError(f"The demo workload did not answer within {ANSWER_S:.0f} s", HINT)
            return json.loads(connection.recv_bytes())
