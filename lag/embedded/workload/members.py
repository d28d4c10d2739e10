"""The running members: threads of this process, or separate processes that can be killed and frozen.

Processes are forked from a small fork server, so each member needs only a few megabytes. They end when their connection
to the stage closes. A frozen process cannot, so a guard process kills it when the stage has died.
"""

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess

from confluent_kafka import KafkaException

from lag.embedded.workload import plan as planned
from lag.embedded.workload.member import READY, Order, act
from lag.embedded.workload.plan import GroupPlan
from lag.embedded.workload.records import now_s
from lag.errors import EmbeddedError

log = logging.getLogger(__name__)

MAX_MEMBERS = 8
LEAVE_S = 4.0
LISTEN_S = 0.5

Refill = Callable[[GroupPlan, str, int], None]


@dataclass(slots=True)
class RunningMember:
    """One running member."""

    name: str
    plan: GroupPlan
    line: Connection
    body: ForkServerProcess | threading.Thread
    ready: bool = False
    frozen: bool = False
    stopped: bool = False

    @property
    def pid(self) -> int | None:
        """The process id of a member that runs in its own process."""
        return None if isinstance(self.body, threading.Thread) else self.body.pid


class Members:
    """Starts, controls and stops members. Raises EmbeddedError if an order is not possible."""

    def __init__(self, bootstrap_servers: str, refill: Refill) -> None:
        self._bootstrap_servers, self._refill = bootstrap_servers, refill
        self._running: dict[str, RunningMember] = {}
        self._lock = threading.RLock()
        self._forks = multiprocessing.get_context("forkserver")
        self._forks.set_forkserver_preload(["lag.embedded.workload.member"])
        self._guard: Connection | None = None

    def start_guard(self) -> None:
        """Start the guard. Only if this process leads its own process group."""
        if os.getpgrp() == os.getpid():
            self._guard, line = multiprocessing.Pipe()
            self._forks.Process(target=_guard, args=(line,), name="guard", daemon=True).start()
            line.close()

    def add_all(self, groups: Iterable[GroupPlan]) -> None:
        """Start every planned member of those groups."""
        for group in groups:
            for _ in range(group.members):
                self.add(group)

    def add(self, group: GroupPlan) -> RunningMember:
        """Start one more member; it takes the lowest free number of its group."""
        with self._lock:
            taken = {member.name for member in self._of(group.group_id)}
            if len(taken) >= MAX_MEMBERS:
                raise EmbeddedError(f"{group.group_id} already has {MAX_MEMBERS} members", "Kill one first.")
            name = next(name for n in range(1, 99) if (name := f"{group.group_id}-{n}") not in taken)
            member = self._start(group, name)
            self._running[name] = member
            return member

    def running(self) -> tuple[RunningMember, ...]:
        """All running members, by name."""
        with self._lock:
            return tuple(self._running[name] for name in sorted(self._running))

    def waiting(self) -> tuple[str, ...]:
        """The members that have not joined yet."""
        return tuple(member.name for member in self.running() if not member.ready)

    def kill(self, name: str) -> None:
        """SIGKILL: the member ends without leaving; the broker removes it when its session times out."""
        with self._lock:
            member = self._playable(name)
            _signal(member, signal.SIGKILL)
            member.body.join(LEAVE_S)
            del self._running[name]

    def freeze(self, name: str) -> None:
        """SIGSTOP: the process exists, but sends nothing."""
        member = self._playable(name)
        if member.frozen:
            raise EmbeddedError(f"{name} is already frozen", "Thaw it first.")
        _signal(member, signal.SIGSTOP)
        member.frozen = True

    def thaw(self, name: str) -> None:
        """SIGCONT: the member continues, and rejoins if the group has removed it."""
        member = self._playable(name)
        if not member.frozen:
            raise EmbeddedError(f"{name} is not frozen", "Freeze it first.")
        _signal(member, signal.SIGCONT)
        member.frozen = False

    def send(self, group_id: str, order: Order) -> int:
        """Send an order to all members of a group; returns how many there are."""
        with self._lock:
            members = self._of(group_id)
            for member in members:
                _send(member.line, order)
                member.stopped = order is Order.STOP_CONSUMING
            return len(members)

    def listen(self, stop: threading.Event) -> None:
        """Take the members' messages, and notice which are gone, until it must stop."""
        while not stop.is_set():
            members = self.running()
            speaking = wait([member.line for member in members], LISTEN_S)
            for member in members:
                if member.line in speaking:
                    self._receive(member)

    def stop(self) -> None:
        """Let all members leave their groups; members that are still there after 4 s are killed."""
        members = self.running()
        for member in members:
            _dismiss(member)
        deadline_s = now_s() + LEAVE_S
        for member in members:
            member.body.join(max(0.0, deadline_s - now_s()))
            if member.body.is_alive():
                _signal(member, signal.SIGKILL)
        if self._guard is not None:
            _send(self._guard, Order.LEAVE)

    def _start(self, group: GroupPlan, name: str) -> RunningMember:
        mine, theirs = multiprocessing.Pipe()
        args = (self._bootstrap_servers, group, name, theirs)
        if not group.own_process:
            thread = threading.Thread(target=_act_in_thread, args=args, name=name, daemon=True)
            thread.start()
            return RunningMember(name, group, mine, thread)
        process = self._forks.Process(target=_act_in_process, args=args, name=name, daemon=True)
        process.start()
        theirs.close()
        return RunningMember(name, group, mine, process)

    def _receive(self, member: RunningMember) -> None:
        try:
            word, topic, partition = member.line.recv()
        except (EOFError, OSError):
            self._remove(member)
            return
        if word == READY:
            member.ready = True
        else:
            self._refill(member.plan, topic, partition)

    def _remove(self, member: RunningMember) -> None:
        with self._lock:
            if self._running.get(member.name) is member:
                log.warning("%s has ended", member.name)
                del self._running[member.name]

    def _of(self, group_id: str) -> list[RunningMember]:
        return [member for member in self._running.values() if member.plan.group_id == group_id]

    def _playable(self, name: str) -> RunningMember:
        with self._lock:
            member = self._running.get(name)
        if member is None or member.pid is None:
            known = ", ".join(member.name for member in self.running() if member.pid is not None)
            raise EmbeddedError(f"The panel has no member {name}", f"Choose from {known}.")
        return member


def find_group(group_id: str) -> GroupPlan:
    """The group of that id. Raises EmbeddedError unless its members are processes."""
    groups = {group.group_id: group for group in planned.playable_groups()}
    if group_id not in groups:
        raise EmbeddedError(f"The panel has no group {group_id}", f"Choose from {', '.join(groups)}.")
    return groups[group_id]


def _act_in_thread(bootstrap_servers: str, plan: GroupPlan, name: str, line: Connection) -> None:
    try:
        act(bootstrap_servers, plan, name, line)
    except KafkaException as error:
        log.warning("%s gave up: %s", name, error)
    finally:
        line.close()


def _act_in_process(bootstrap_servers: str, plan: GroupPlan, name: str, line: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _act_in_thread(bootstrap_servers, plan, name, line)


def _guard(line: Connection) -> None:
    """Wait for a message of the stage. If the connection closes, kill the process group of the stage."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        line.recv()
    except EOFError:
        os.killpg(os.getpgrp(), signal.SIGKILL)


def _dismiss(member: RunningMember) -> None:
    if member.frozen:
        _signal(member, signal.SIGKILL)
        return
    _send(member.line, Order.LEAVE)


def _send(line: Connection, order: Order) -> None:
    try:
        line.send(order)
    except OSError:
        log.debug("no member to receive %s", order)


def _signal(member: RunningMember, number: signal.Signals) -> None:
    if member.pid is not None and member.body.is_alive():  # else its id may be another process's by now
        try:
            os.kill(member.pid, number)
        except ProcessLookupError:
            log.debug("%s had ended already", member.name)
