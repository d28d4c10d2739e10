"""Runs the demo: sets up the cases, keeps producing, and carries out the panel's actions."""

import inspect
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaException

from lag.embedded.workload import faults, plan
from lag.embedded.workload.admin import Admin
from lag.embedded.workload.member import Order
from lag.embedded.workload.members import Members, RunningMember, find_group
from lag.embedded.workload.plan import GroupPlan
from lag.embedded.workload.records import burst, spread
from lag.embedded.workload.traffic import Traffic
from lag.embedded.workload.transactions import HeldPartition, PanelTransactions
from lag.errors import EmbeddedError

log = logging.getLogger(__name__)

TRIM_EVERY_S = 600.0
MAX_BURST = 200_000
MAX_PARTITIONS = 64

ACTIONS = frozenset(
    {
        *("status", "running", "burst", "open_transaction", "end_transaction", "delete_topic", "add_partitions"),
        *("add_member", "kill_member", "freeze_member", "thaw_member", "stop_consuming", "resume_consuming"),
    }
)
"""The methods of `Stage` that the panel may call."""

Answer = str | dict[str, Any]


class Stage:
    """All parts of a running workload. `start` returns at once; `status` reports the progress of the set-up.

    `lag.embedded.workload.controls.Controls` describes the other ACTIONS.
    """

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._stop = threading.Event()
        self._members = Members(bootstrap_servers, self._refill)
        self._transactions = PanelTransactions(bootstrap_servers)
        self._partitions = {name: plan.partitions_of(name) for name in plan.PLAYABLE_TOPICS}
        self._playing = threading.Lock()
        self._set_up = False
        self._failure: str | None = None
        self._admin: Admin
        self._traffic: Traffic

    def start(self) -> None:
        """Begin the set-up, in the background."""
        self._spawn(self._set_up_or_fail, "set-up")

    def stop(self) -> None:
        """End traffic and members."""
        self._stop.set()
        self._members.stop()

    def status(self) -> Answer:
        """Whether everything is set up, which members have not joined yet, and what failed."""
        waiting = self._members.waiting()
        ready = self._set_up and not waiting
        return {"ready": ready, "waiting": list(waiting), "failure": self._failure}

    def running(self) -> Answer:
        """Members, topics with their partitions and rates, and open transactions, as the panel shows them."""
        rates = self._traffic.rates()
        topics = {name: {"partitions": n, "rate_per_s": rates.get(name, 0.0)} for name, n in self._partitions.items()}
        return {
            "groups": [group.group_id for group in plan.playable_groups()],
            "members": [_describe(member) for member in self._members.running() if member.pid is not None],
            "topics": topics,
            "transactions": list(self._transactions.topics()),
        }

    def add_member(self, group_id: str) -> Answer:
        member = self._members.add(find_group(group_id))
        return f"{member.name} is starting (process {member.pid}) and will join {group_id}."

    def kill_member(self, member: str) -> Answer:
        self._members.kill(member)
        return f"{member} was killed; its partitions wait until its session times out."

    def freeze_member(self, member: str) -> Answer:
        self._members.freeze(member)
        return f"{member} is frozen; the group removes it when its session times out."

    def thaw_member(self, member: str) -> Answer:
        self._members.thaw(member)
        return f"{member} continues, and rejoins if the group has removed it."

    def stop_consuming(self, group_id: str) -> Answer:
        count = self._members.send(find_group(group_id).group_id, Order.STOP_CONSUMING)
        return f"The {count} members of {group_id} stay in the group but read nothing."

    def resume_consuming(self, group_id: str) -> Answer:
        count = self._members.send(find_group(group_id).group_id, Order.RESUME)
        return f"The {count} members of {group_id} read again."

    def burst(self, topic: str, records: int) -> Answer:
        if not 0 < records <= MAX_BURST:
            raise EmbeddedError(f"A burst has 1 to {MAX_BURST:,} records, not {records:,}")
        partitions = self._playable(topic)
        burst(self._bootstrap_servers, "demo-burst", spread(topic, partitions, records))
        return f"{records:,} records were produced to {topic}, spread over {partitions} partitions."

    def open_transaction(self, topic: str) -> Answer:
        return self._transactions.open(topic, self._playable(topic))

    def end_transaction(self, topic: str, commit: bool) -> Answer:
        return self._transactions.end(topic, commit)

    def delete_topic(self, topic: str) -> Answer:
        self._playable(topic)
        if topic in self._transactions.topics():
            self._transactions.end(topic, commit=False)
        self._traffic.drop(topic)
        self._admin.delete([topic])
        del self._partitions[topic]
        return (
            f"{topic} is deleted, and Kafka drops the commits of its groups: those that read nothing else get the "
            "verdict No partitions."
        )

    def add_partitions(self, topic: str, count: int) -> Answer:
        total = self._playable(topic) + count
        if count < 1 or total > MAX_PARTITIONS:
            raise EmbeddedError(
                f"{topic} cannot have {total} partitions here", f"Choose more than it has, at most {MAX_PARTITIONS}."
            )
        self._admin.add_partitions(topic, total)
        self._partitions[topic] = total
        self._traffic.grow(topic, total)
        return f"{topic} has {total} partitions now; its groups rebalance after the next metadata refresh."

    def act(self, action: str, arguments: Mapping[str, Any]) -> Answer:
        """Carry out an action of the panel, one at a time. Raises EmbeddedError with the reason if it cannot."""
        if action not in ACTIONS:
            raise EmbeddedError(f"The workload has no action {action}")
        if action == "status":
            return self.status()
        if not self._set_up:
            raise EmbeddedError("The demo workload is still being set up", "Try again in a few seconds.")
        with self._playing:
            return self._carry_out(action, arguments)

    def _carry_out(self, action: str, arguments: Mapping[str, Any]) -> Answer:
        method: Callable[..., Answer] = getattr(self, action)
        try:
            inspect.signature(method).bind(**arguments)
        except TypeError as error:
            raise EmbeddedError(f"The arguments of {action} are wrong: {error}") from error
        try:
            return method(**arguments)
        except KafkaException as error:
            raise EmbeddedError(f"Kafka refused the request: {error.args[0]}", "See the broker's log.") from error

    def _set_up_or_fail(self) -> None:
        try:
            self._start_parts()
        except EmbeddedError as error:
            self._failure = str(error)
        except KafkaException as error:
            self._failure = f"Kafka refused the request: {error.args[0]}"
        if self._failure:
            log.error("%s", self._failure)

    def _start_parts(self) -> None:
        held = HeldPartition(self._bootstrap_servers)
        self._admin = Admin(self._bootstrap_servers)
        faults.break_things(self._admin, self._bootstrap_servers)
        self._spawn(lambda: self._members.listen(self._stop), "listen")
        self._members.start_guard()
        self._members.add_all(plan.playable_groups())
        faults.set_scene(self._admin, self._bootstrap_servers)
        held.renew()
        self._traffic = Traffic(self._bootstrap_servers)
        self._spawn(lambda: self._traffic.run(self._stop), "traffic")
        self._spawn(lambda: held.keep(self._stop), "held")
        self._spawn(self._trim, "trim")
        self._members.add_all(group for group in plan.GROUPS if not group.own_process)
        self._set_up = True

    def _trim(self) -> None:
        while not self._stop.wait(TRIM_EVERY_S):
            try:
                faults.trim(self._admin)
            except EmbeddedError as error:
                log.warning("could not trim: %s", error)

    def _refill(self, group: GroupPlan, topic: str, partition: int) -> None:
        burst(self._bootstrap_servers, "receipt-import", [(topic, partition, group.refill)])

    def _playable(self, topic: str) -> int:
        if topic not in self._partitions:
            hint = f"Its topics are: {', '.join(sorted(self._partitions))}."
            raise EmbeddedError(f"The panel has no topic {topic}", hint)
        return self._partitions[topic]

    def _spawn(self, target: Callable[[], None], name: str) -> None:
        threading.Thread(target=target, name=name, daemon=True).start()


def _describe(member: RunningMember) -> dict[str, Any]:
    state = "frozen" if member.frozen else "stopped" if member.stopped else "running" if member.ready else "joining"
    return {"name": member.name, "group_id": member.plan.group_id, "pid": member.pid, "state": state}
