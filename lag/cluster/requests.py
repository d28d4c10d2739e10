"""One poll's conversation with the brokers: every request has a deadline, every broker its own failure.

A broker that fails once is not asked again in the same poll, so a frozen one costs a poll one deadline, not many.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kafka.errors import IncompatibleBrokerVersion, KafkaError, KafkaProtocolError, KafkaTimeoutError
from kafka.future import Future
from kafka.net.manager import KafkaConnectionManager

from lag.cluster.messages import Message
from lag.model import Problem, Scope

GRACE_S = 0.25
"""A second look after the deadline: our own decoding may have kept us from reading an answer that had arrived."""

Item = TypeVar("Item")


class BrokerFailed(Exception):
    """A broker could not be asked or did not answer; `problem` says it for people."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Unsupported(Exception):
    """The broker does not know this request, or no version of it that we need."""


@dataclass(slots=True)
class Traffic:
    """What one broker was asked in a poll: how often, and how long we waited for it in total."""

    requests: int = 0
    busy_s: float = 0.0
    by_api: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class Wire:
    """Sends requests of one poll; `deadline_s` bounds how long a broker may stay silent."""

    def __init__(self, manager: KafkaConnectionManager, deadline_s: float) -> None:
        self._manager = manager
        self._silence_s = max(0.1, deadline_s - 2 * GRACE_S)
        self.deadline_s = deadline_s
        self.failed: dict[int, Problem] = {}
        self.traffic: dict[int, Traffic] = defaultdict(Traffic)
        for node in self.nodes():
            # The pace is set by the polls; a broker that failed the last one is tried afresh in this one.
            manager.reset_backoff(node)
            manager._auth_failures.pop(node, None)

    def nodes(self) -> list[int]:
        """Ids of the brokers in the metadata."""
        return [broker.node_id for broker in self._manager.cluster.brokers()]

    def version(self, node: int) -> str | None:
        """The Kafka version that the broker's APIs tell, None while there is no connection to it."""
        connection = self._manager._conns.get(node)
        version = connection.broker_version if connection is not None else None
        return ".".join(map(str, version)) if version else None

    def spawn(self, conversation: Callable[..., Any], *args: object) -> Future:
        """Run a coroutine function beside the caller's; the future has its result."""
        return self._manager.call_soon(conversation, *args)

    async def ask(self, node: int, request: Message) -> Message:
        """The broker's answer. Raises BrokerFailed (once failed, always in this poll) or Unsupported."""
        if node in self.failed:
            raise BrokerFailed(self.failed[node])
        started = time.monotonic()
        self.traffic[node].requests += 1
        self.traffic[node].by_api[request.name] += 1
        try:
            return await self._within_deadline(self._manager.send(request, node_id=node), node, started)
        except IncompatibleBrokerVersion as error:
            raise Unsupported(request.name) from error
        except (KafkaError, OSError) as error:
            self.failed.setdefault(node, self._problem(node, error))
            raise BrokerFailed(self.failed[node]) from error
        finally:
            self.traffic[node].busy_s += time.monotonic() - started

    async def _within_deadline(self, answer: Future, node: int, started: float) -> Message:
        wait_s = self._silence_s
        while not answer.is_done:
            try:
                await self._manager.wait_for(answer, wait_s * 1000)
            except KafkaTimeoutError:
                late = time.monotonic() - started > self._silence_s + GRACE_S
                if late and not self._heard_lately(node) and not answer.is_done:
                    self._hang_up(node)
                    raise
            wait_s = GRACE_S
        return await answer

    def _heard_lately(self, node: int) -> bool:
        connection = self._manager._conns.get(node)
        transport = connection and connection.transport
        return bool(transport) and time.monotonic() - transport.last_activity < GRACE_S

    def _hang_up(self, node: int) -> None:
        """Drop the connection: requests that wait in it would only pile up behind the one without an answer."""
        connection = self._manager._conns.pop(node, None)
        if connection is not None:
            connection.close(KafkaTimeoutError(f"no answer within {self.deadline_s:g} s"))

    def _problem(self, node: int, error: Exception) -> Problem:
        broker = self._manager.cluster.broker_metadata(node)
        where = f"{broker.host}:{broker.port}" if broker else "an unknown address"
        if isinstance(error, KafkaTimeoutError):
            cause = f"broker {node} at {where} has not answered for {self.deadline_s:g} s"
            return Problem("timeout", Scope.BROKER, str(node), cause, "Check whether it is overloaded or frozen")
        if isinstance(error, KafkaProtocolError):
            cause = f"broker {node} at {where} answers something that is not Kafka's protocol: {_reason(error)}"
            hint = "Check that it is a Kafka broker, and that nothing between us and it changes what it says"
            return Problem("garbled", Scope.BROKER, str(node), cause, hint)
        cause = f"broker {node} at {where} cannot be reached: {_reason(error)}"
        return Problem("unreachable", Scope.BROKER, str(node), cause, "Check that it runs and that we may reach it")


def chunks(items: list[Item], size: int) -> Iterable[list[Item]]:
    """`items` in slices of at most `size`."""
    return (items[at : at + size] for at in range(0, len(items), size))


def _reason(error: Exception) -> str:
    text = str(error).removeprefix(type(error).__name__).strip(": ")
    return text or type(error).__name__
