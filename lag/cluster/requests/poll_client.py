"""Sends the requests of one poll: every request has a deadline, and brokers fail independently.

A broker that fails once is not asked again in the same poll, so a frozen broker costs a poll one deadline.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from kafka.errors import IncompatibleBrokerVersion, KafkaError, KafkaProtocolError, KafkaTimeoutError
from kafka.future import Future

from lag.cluster.compat.connection_manager import ConnectionManager
from lag.cluster.requests.messages import Message
from lag.errors import ConnectError
from lag.model import Problem, Scope

GRACE_S = 0.25
"""Extra time after the deadline: our own decoding may have delayed the reading of an answer that has arrived."""

Item = TypeVar("Item")


class BrokerFailed(Exception):
    """A broker could not be asked or did not answer; `problem` describes it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class UnsupportedRequest(Exception):
    """The broker does not support this request, or none of the versions that we need."""


@dataclass(slots=True)
class RequestStats:
    """The requests to one broker in a poll, and the total time until their answers."""

    requests: int = 0
    busy_s: float = 0.0


class PollClient:
    """Sends the requests of one poll; a broker that is silent for `deadline_s` has failed."""

    def __init__(self, manager: ConnectionManager, deadline_s: float) -> None:
        self._manager = manager
        self._silence_s = max(0.1, deadline_s - 2 * GRACE_S)
        self.deadline_s = deadline_s
        self.failed: dict[int, Problem] = {}
        self.stats: dict[int, RequestStats] = defaultdict(RequestStats)
        for node in self.nodes():
            manager.allow_retry(node)  # the polls set the pace of retries

    def nodes(self) -> list[int]:
        """Ids of the brokers in the metadata."""
        return [broker.node_id for broker in self._manager.cluster.brokers()]

    def version(self, node: int) -> str | None:
        """The Kafka version that follows from the broker's APIs, None without a connection to it."""
        return self._manager.version_of(node)

    def start(self, coroutine_function: Callable[..., Any], *args: object) -> Future:
        """Run a coroutine function concurrently; returns a future of its result."""
        return self._manager.call_soon(coroutine_function, *args)

    async def pause(self, seconds: float) -> None:
        """Let time pass; other coroutines run on."""
        with suppress(KafkaTimeoutError):
            await self._manager.wait_for(Future(), seconds * 1000)

    async def send(self, node: int, request: Message) -> Message:
        """The broker's answer. Raises BrokerFailed (after the first failure, at once) or UnsupportedRequest."""
        if node in self.failed:
            raise BrokerFailed(self.failed[node])
        started = time.monotonic()
        stats = self.stats[node]
        stats.requests += 1
        try:
            return await self._within_deadline(self._manager.send(request, node_id=node), node, started)
        except IncompatibleBrokerVersion as error:
            raise UnsupportedRequest(request.name) from error
        except (KafkaError, OSError) as error:
            self.failed.setdefault(node, self._problem(node, error))
            raise BrokerFailed(self.failed[node]) from error
        finally:
            stats.busy_s += time.monotonic() - started

    async def send_to_any(self, make_request: Callable[[], Message]) -> Message | None:
        """The first answer that a broker gives; None if none does."""
        for node in self.nodes():
            try:
                return await self.send(node, make_request())
            except (BrokerFailed, UnsupportedRequest):
                continue
        return None

    def no_answer(self) -> ConnectError:
        """The error for a poll in which no broker answered."""
        reasons = "; ".join(sorted({problem.cause for problem in self.failed.values()})) or "no broker is known"
        return ConnectError(f"No broker answers: {reasons}", "Check that the cluster is running")

    async def _within_deadline(self, answer: Future, node: int, started: float) -> Message:
        wait_s = self._silence_s
        while not answer.is_done:
            try:
                await self._manager.wait_for(answer, wait_s * 1000)
            except KafkaTimeoutError:
                late = time.monotonic() - started > self._silence_s + GRACE_S
                if late and not self._manager.was_active(node, GRACE_S) and not answer.is_done:
                    # Later requests would queue up behind the one without an answer.
                    self._manager.disconnect(node, KafkaTimeoutError(f"no answer within {self.deadline_s:g} s"))
                    raise
            wait_s = GRACE_S
        return await answer

    def _problem(self, node: int, error: Exception) -> Problem:
        broker = self._manager.cluster.broker_metadata(node)
        where = f"{broker.host}:{broker.port}" if broker else "an unknown address"
        if isinstance(error, KafkaTimeoutError):
            cause = f"broker {node} at {where} has not answered for {self.deadline_s:g} s"
            return Problem("timeout", Scope.BROKER, str(node), cause, "Check whether it is overloaded or frozen")
        if isinstance(error, KafkaProtocolError):
            cause = f"broker {node} at {where} answers something that is not Kafka's protocol: {_reason(error)}"
            hint = "Check that it is a Kafka broker, and that no proxy changes its answers"
            return Problem("garbled", Scope.BROKER, str(node), cause, hint)
        cause = f"broker {node} at {where} cannot be reached: {_reason(error)}"
        return Problem("unreachable", Scope.BROKER, str(node), cause, "Check that it is running, and the network to it")


def chunks(items: list[Item], size: int) -> Iterable[list[Item]]:
    """`items` in slices of at most `size`."""
    return (items[at : at + size] for at in range(0, len(items), size))


def _reason(error: Exception) -> str:
    text = str(error).removeprefix(type(error).__name__).strip(": ")
    return text or type(error).__name__
