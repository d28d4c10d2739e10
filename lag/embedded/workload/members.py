"""The members on duty: threads of the stage, or processes of their own that can be killed and frozen.

Processes are forked from a small clean server process, so that a member costs a few megabytes only. They end when their
line to the stage does; a frozen one cannot, so a guard kills it when the stage has died without a word.
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
class Hand:
    """One member on duty."""

    name: str
    plan: GroupPlan
    line: Connection
    body: ForkServerProcess | threading.Thread
    ready: bool = False
    frozen: bool = False
    stopped: bool = False

    @property
    def pid(self) -> int | None:
        """The process id of a member that is a process of its own."""
        return None if isinstance(self.body, threading.Thread) else self.body.pid


class Crew:
    """Hires, commands and dismisses members. EmbeddedError when an order makes no sense."""

    def __init__(self, bootstrap_servers: str, refill: Refill) -> None:
        self._bootstrap_servers, self._refill = bootstrap_servers, refill
        self._hands: dict[str, Hand] = {}
        self._lock = threading.RLock()
        self._forks = multiprocessing.get_context("forkserver")
        self._forks.set_forkserver_preload(["lag.embedded.workload.member"])
        self._guard: Connection | None = None

    def post_guard(self) -> None:
        """Make sure that nobody outlives the stage. Only for a stage that leads a process group of its own."""
        if os.getpgrp() == os.getpid():
            self._guard, line = multiprocessing.Pipe()
            self._forks.Process(target=_guard, args=(line,), name="guard", daemon=True).start()
            line.close()

    def hire_all(self, groups: Iterable[GroupPlan]) -> None:
        """Start every planned member of those groups."""
        for group in groups:
            for _ in range(group.members):
                self.hire(group)

    def hire(self, group: GroupPlan) -> Hand:
        """Start one more member; it takes the lowest free number of its group."""
        with self._lock:
            taken = {hand.name for hand in self._of(group.group_id)}
            if len(taken) >= MAX_MEMBERS:
                raise EmbeddedError(f"{group.group_id} has {MAX_MEMBERS} members already", "Kill one first.")
            name = next(name for n in range(1, 99) if (name := f"{group.group_id}-{n}") not in taken)
            hand = self._start(group, name)
            self._hands[name] = hand
            return hand

    def hands(self) -> tuple[Hand, ...]:
        """Everybody on duty, by name."""
        with self._lock:
            return tuple(self._hands[name] for name in sorted(self._hands))

    def waiting(self) -> tuple[str, ...]:
        """The members that have not joined yet."""
        return tuple(hand.name for hand in self.hands() if not hand.ready)

    def kill(self, name: str) -> None:
        """SIGKILL: the member vanishes without a word, and the broker finds out by its session timeout."""
        with self._lock:
            hand = self._playable(name)
            _signal(hand, signal.SIGKILL)
            hand.body.join(LEAVE_S)
            del self._hands[name]

    def freeze(self, name: str) -> None:
        """SIGSTOP: the member is there, but sends nothing."""
        hand = self._playable(name)
        if hand.frozen:
            raise EmbeddedError(f"{name} is frozen already", "Thaw it first.")
        _signal(hand, signal.SIGSTOP)
        hand.frozen = True

    def thaw(self, name: str) -> None:
        """SIGCONT: a frozen member goes on, and joins anew if it was put out meanwhile."""
        hand = self._playable(name)
        if not hand.frozen:
            raise EmbeddedError(f"{name} is not frozen", "Freeze it first.")
        _signal(hand, signal.SIGCONT)
        hand.frozen = False

    def tell(self, group_id: str, order: Order) -> int:
        """Give an order to all members of a group; how many there are."""
        with self._lock:
            told = self._of(group_id)
            for hand in told:
                _tell(hand.line, order)
                hand.stopped = order is Order.STOP_CONSUMING
            return len(told)

    def listen(self, stop: threading.Event) -> None:
        """Take the members' messages, and notice who is gone, until told to stop."""
        while not stop.is_set():
            hands = self.hands()
            speaking = wait([hand.line for hand in hands], LISTEN_S)
            for hand in hands:
                if hand.line in speaking:
                    self._hear(hand)

    def dismiss(self) -> None:
        """Let everybody leave their group; who has not gone within 4 s is killed."""
        hands = self.hands()
        for hand in hands:
            _dismiss(hand)
        deadline_s = now_s() + LEAVE_S
        for hand in hands:
            hand.body.join(max(0.0, deadline_s - now_s()))
            if hand.body.is_alive():
                _signal(hand, signal.SIGKILL)
        if self._guard is not None:
            _tell(self._guard, Order.LEAVE)

    def _start(self, group: GroupPlan, name: str) -> Hand:
        mine, theirs = multiprocessing.Pipe()
        args = (self._bootstrap_servers, group, name, theirs)
        if not group.own_process:
            thread = threading.Thread(target=_act_in_thread, args=args, name=name, daemon=True)
            thread.start()
            return Hand(name, group, mine, thread)
        process = self._forks.Process(target=_act_in_process, args=args, name=name, daemon=True)
        process.start()
        theirs.close()
        return Hand(name, group, mine, process)

    def _hear(self, hand: Hand) -> None:
        try:
            word, topic, partition = hand.line.recv()
        except (EOFError, OSError):
            self._strike_off(hand)
            return
        if word == READY:
            hand.ready = True
        else:
            self._refill(hand.plan, topic, partition)

    def _strike_off(self, hand: Hand) -> None:
        with self._lock:
            if self._hands.get(hand.name) is hand:
                log.warning("%s has ended", hand.name)
                del self._hands[hand.name]

    def _of(self, group_id: str) -> list[Hand]:
        return [hand for hand in self._hands.values() if hand.plan.group_id == group_id]

    def _playable(self, name: str) -> Hand:
        with self._lock:
            hand = self._hands.get(name)
        if hand is None or hand.pid is None:
            known = ", ".join(hand.name for hand in self.hands() if hand.pid is not None)
            raise EmbeddedError(f"No member to play with is called {name}", f"There are: {known}.")
        return hand


def find_group(group_id: str) -> GroupPlan:
    """The group of that id, if its members are processes. EmbeddedError else."""
    groups = {group.group_id: group for group in planned.playable_groups()}
    if group_id not in groups:
        raise EmbeddedError(f"No group to play with is called {group_id}", f"There are: {', '.join(groups)}.")
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
    """Wait for a word of the stage's. If the line breaks instead, kill the stage's process group, this one included."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        line.recv()
    except EOFError:
        os.killpg(os.getpgrp(), signal.SIGKILL)


def _dismiss(hand: Hand) -> None:
    if hand.frozen:
        _signal(hand, signal.SIGKILL)
        return
    _tell(hand.line, Order.LEAVE)


def _tell(line: Connection, order: Order) -> None:
    try:
        line.send(order)
    except OSError:
        log.debug("nobody there to %s", order)


def _signal(hand: Hand, number: signal.Signals) -> None:
    if hand.pid is not None:
        try:
            os.kill(hand.pid, number)
        except ProcessLookupError:
            log.debug("%s had gone already", hand.name)
