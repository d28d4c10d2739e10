"""The connections of one consumer (Kafka: NetworkClient, AbstractCoordinator), and when idle ones are closed."""

from collections.abc import Iterable, Mapping

from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Machine, Verb, clock, listed

IDLE_MS = 540_000
"""`connections.max.idle.ms`, Kafka's default: 9 minutes."""


class Connections(Machine):
    """A connection has one purpose: a broker gets one as coordinator and another one as leader of partitions."""

    def __init__(self) -> None:
        self._now_ms, self._idle_ms = 0, IDLE_MS
        self._used_ms: dict[str, int] = {}
        self._coordinator = ""

    def verbs(self) -> Iterable[Verb]:
        return (
            Verb("idle VALUE", self._set_idle),
            Verb("bootstrap BROKER", self._bootstrap),
            Verb("find-coordinator BROKER", self._find),
            Verb("heartbeat", self._heartbeat),
            Verb("fetch BROKER…", self._fetch),
            Verb("wait TIME", self._wait),
        )

    def state(self) -> Mapping[str, str]:
        return {"time": clock(self._now_ms), "open": listed(self._used_ms)}

    def _use(self, name: str) -> str:
        is_new = name not in self._used_ms
        self._used_ms[name] = self._now_ms
        return f"opens {name}" if is_new else f"uses {name}"

    def _set_idle(self, call: Call) -> str:
        self._idle_ms = -1 if call.words[0] == "-1" else call.ms(call.words[0])
        return "idle connections stay open" if self._idle_ms < 0 else f"closed after {call.words[0]} without use"

    def _bootstrap(self, call: Call) -> str:
        return f"{self._use(f'bootstrap {call.words[0]}')}: asks for metadata"

    def _find(self, call: Call) -> str:
        asked = next((name for name in self._used_ms if name.startswith("bootstrap")), None)
        if asked is None:
            raise call.wrong("FindCoordinator needs a broker to ask. Write `bootstrap BROKER` before it.")
        self._used_ms[asked] = self._now_ms
        self._coordinator = f"coordinator {call.words[0]}"
        return f"{asked} names {call.words[0]}; {self._use(self._coordinator)}"

    def _heartbeat(self, call: Call) -> str:
        if not self._coordinator:
            raise call.wrong("heartbeats go to the coordinator. Write `find-coordinator BROKER` before it.")
        return self._use(self._coordinator)

    def _fetch(self, call: Call) -> str:
        if not self._used_ms:
            raise call.wrong("the leaders come from the metadata. Write `bootstrap BROKER` before it.")
        return "; ".join(self._use(f"leader {broker}") for broker in call.words)

    def _wait(self, call: Call) -> str:
        self._now_ms += call.ms(call.words[0])
        idle = [name for name, at in self._used_ms.items() if 0 <= self._idle_ms <= self._now_ms - at]
        for name in idle:
            del self._used_ms[name]
        return f"closes {listed(idle)}" if idle else "no connection is closed"
