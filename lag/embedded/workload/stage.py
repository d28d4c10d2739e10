"""Where the demo happens: it sets the scene, keeps the traffic going and carries out the panel's wishes."""

import inspect
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaException

from lag.embedded.workload import faults, plan
from lag.embedded.workload.admin import Admin
from lag.embedded.workload.member import Order
from lag.embedded.workload.members import Crew, Hand, find_group
from lag.embedded.workload.plan import GroupPlan
from lag.embedded.workload.records import burst, spread
from lag.embedded.workload.traffic import Traffic
from lag.embedded.workload.transactions import HeldPartition, PanelTransactions
from lag.errors import EmbeddedError

log = logging.getLogger(__name__)

TRIM_EVERY_S = 600.0
MAX_BURST = 200_000
MAX_PARTITIONS = 64

Answer = str | dict[str, Any]


class Stage:
    """All parts of a running workload. `start` returns at once; `status` tells how far it is."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._stop = threading.Event()
        self._crew = Crew(bootstrap_servers, self._refill)
        self._transactions = PanelTransactions(bootstrap_servers)
        self._partitions = {name: plan.partitions_of(name) for name in plan.PLAYABLE_TOPICS}
        self._playing = threading.Lock()
        self._set_up = False
        self._failure: str | None = None
        self._admin: Admin
        self._traffic: Traffic
        self.actions: Mapping[str, Callable[..., Answer]] = {
            "status": self.status,
            "running": self.running,
            "add_member": self.add_member,
            "kill_member": self.kill_member,
            "freeze_member": self.freeze_member,
            "thaw_member": self.thaw_member,
            "stop_consuming": self.stop_consuming,
            "resume_consuming": self.resume_consuming,
            "burst": self.burst,
            "open_transaction": self.open_transaction,
            "end_transaction": self.end_transaction,
            "delete_topic": self.delete_topic,
            "add_partitions": self.add_partitions,
        }

    def start(self) -> None:
        """Begin to set the scene, in the background."""
        self._spawn(self._set_up_all, "set-up")

    def stop(self) -> None:
        """End traffic and members."""
        self._stop.set()
        self._crew.dismiss()

    def status(self) -> Answer:
        """Whether everything is set up, who is still awaited, and what went wrong."""
        waiting = self._crew.waiting()
        ready = self._set_up and not waiting
        return {"ready": ready, "waiting": list(waiting), "failure": self._failure}

    def running(self) -> Answer:
        """Members, topics with their partitions and rates, and open transactions, as the panel shows them."""
        rates = self._traffic.rates()
        topics = {name: {"partitions": n, "rate_per_s": rates.get(name, 0.0)} for name, n in self._partitions.items()}
        return {
            "groups": [group.group_id for group in plan.playable_groups()],
            "members": [_describe(hand) for hand in self._crew.hands() if hand.pid is not None],
            "topics": topics,
            "transactions": list(self._transactions.topics()),
        }

    def add_member(self, group_id: str) -> Answer:
        """Start one more member."""
        hand = self._crew.hire(find_group(group_id))
        return f"{hand.name} is starting (process {hand.pid}) and will join {group_id}."

    def kill_member(self, member: str) -> Answer:
        """SIGKILL a member."""
        self._crew.kill(member)
        return f"{member} was killed; its partitions wait until its session times out."

    def freeze_member(self, member: str) -> Answer:
        """SIGSTOP a member."""
        self._crew.freeze(member)
        return f"{member} is frozen; the group puts it out when its session times out."

    def thaw_member(self, member: str) -> Answer:
        """SIGCONT a frozen member."""
        self._crew.thaw(member)
        return f"{member} goes on, and joins anew if the group has put it out."

    def stop_consuming(self, group_id: str) -> Answer:
        """Pause all members of a group; they stay in it."""
        count = self._crew.tell(find_group(group_id).group_id, Order.STOP_CONSUMING)
        return f"The {count} members of {group_id} stay in the group but read nothing."

    def resume_consuming(self, group_id: str) -> Answer:
        """Let paused members read on."""
        count = self._crew.tell(find_group(group_id).group_id, Order.RESUME)
        return f"The {count} members of {group_id} read again."

    def burst(self, topic: str, records: int) -> Answer:
        """Produce many records at once."""
        if not 0 < records <= MAX_BURST:
            raise EmbeddedError(f"A burst has 1 to {MAX_BURST:,} records, not {records:,}")
        partitions = self._playable(topic)
        burst(self._bootstrap_servers, "demo-burst", spread(topic, partitions, records))
        return f"{records:,} records were produced to {topic}, spread over {partitions} partitions."

    def open_transaction(self, topic: str) -> Answer:
        """Open a transaction over all partitions of a topic and leave it open."""
        return self._transactions.open(topic, self._playable(topic))

    def end_transaction(self, topic: str, commit: bool) -> Answer:
        """Commit or abort it."""
        return self._transactions.end(topic, commit)

    def delete_topic(self, topic: str) -> Answer:
        """Stop producing to a topic and delete it."""
        self._playable(topic)
        if topic in self._transactions.topics():
            self._transactions.end(topic, commit=False)
        self._traffic.drop(topic)
        self._admin.delete([topic])
        del self._partitions[topic]
        return f"{topic} is deleted, and Kafka drops the commits of its groups."

    def add_partitions(self, topic: str, count: int) -> Answer:
        """Grow a topic by `count` partitions."""
        total = self._playable(topic) + count
        if count < 1 or total > MAX_PARTITIONS:
            raise EmbeddedError(f"{topic} cannot have {total} partitions here", f"At most {MAX_PARTITIONS}, and more.")
        self._admin.add_partitions(topic, total)
        self._partitions[topic] = total
        self._traffic.grow(topic, total)
        return f"{topic} has {total} partitions now; its groups rebalance when their members hear of it."

    def act(self, action: str, arguments: Mapping[str, Any]) -> Answer:
        """Carry out a wish of the panel's, one at a time. EmbeddedError says why not."""
        if action not in self.actions:
            raise EmbeddedError(f"The workload knows no action {action}")
        if action == "status":
            return self.status()
        if not self._set_up:
            raise EmbeddedError("The demo workload is still being set up", "Try again in a few seconds.")
        with self._playing:
            return self._carry_out(action, arguments)

    def _carry_out(self, action: str, arguments: Mapping[str, Any]) -> Answer:
        try:
            call = inspect.signature(self.actions[action]).bind(**arguments)
        except TypeError as error:
            raise EmbeddedError(f"The arguments of {action} are wrong: {error}") from error
        try:
            return self.actions[action](*call.args)
        except KafkaException as error:
            raise EmbeddedError(f"Kafka refused: {error.args[0]}", "See the broker's log.") from error

    def _set_up_all(self) -> None:
        try:
            self._open_the_doors()
        except EmbeddedError as error:
            self._failure = str(error)
        except KafkaException as error:
            self._failure = f"Kafka refused: {error.args[0]}"
        if self._failure:
            log.error("%s", self._failure)

    def _open_the_doors(self) -> None:
        held = HeldPartition(self._bootstrap_servers)
        self._admin = Admin(self._bootstrap_servers)
        faults.break_things(self._admin, self._bootstrap_servers)
        self._spawn(lambda: self._crew.listen(self._stop), "listen")
        self._crew.post_guard()
        self._crew.hire_all(plan.playable_groups())
        faults.set_scene(self._admin, self._bootstrap_servers)
        held.renew()
        self._traffic = Traffic(self._bootstrap_servers)
        self._spawn(lambda: self._traffic.run(self._stop), "traffic")
        self._spawn(lambda: held.keep(self._stop), "held")
        self._spawn(self._trim, "trim")
        self._crew.hire_all(group for group in plan.GROUPS if not group.own_process)
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
            hint = f"There are: {', '.join(sorted(self._partitions))}."
            raise EmbeddedError(f"No topic to play with is called {topic}", hint)
        return self._partitions[topic]

    def _spawn(self, target: Callable[[], None], name: str) -> None:
        threading.Thread(target=target, name=name, daemon=True).start()


def _describe(hand: Hand) -> dict[str, Any]:
    state = "frozen" if hand.frozen else "stopped" if hand.stopped else "running" if hand.ready else "joining"
    return {"name": hand.name, "group_id": hand.plan.group_id, "pid": hand.pid, "state": state}
