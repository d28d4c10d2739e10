"""The incidents of this process: collectors report polls, targets take what is due. Thread safe."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from app.notices.due import Event, due
from app.notices.incidents import Delivery, Incident, Incidents, Poll, after, poll_of, restored
from app.notices.store import load_state, save_state
from app.notices.targets import Notices, Target
from lag.errors import ConfigError
from lag.verdict.catalogue import Severity
from lag.verdict.health import Health

SAVE_EVERY_S = 1.0
"""With a thousand incidents at once, writing the file for each notice would take longer than sending it."""

log = logging.getLogger(__name__)


class Board:
    """Holds the incidents, and stores them in the state file.

    The file is written before the first notice of an incident is sent, so that its id survives a crash; what targets
    were sent since, at most SAVE_EVERY_S later. Raises ConfigError if the file cannot be read or written at the start;
    later, such a problem is only kept.
    """

    def __init__(
        self,
        notices: Notices,
        clusters: Iterable[str],
        clock_ms: Callable[[], int],
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._notices, self._clock_ms, self._new_id = notices, clock_ms, new_id
        self._polls: dict[str, Poll] = {}
        self._changed, self._writing = threading.Condition(), threading.Lock()
        self._incidents = restored(load_state(notices.state), clusters, clock_ms())
        self._stopping = False
        self.problem: ConfigError | None = None
        save_state(notices.state, self._incidents)
        self._stored, self._stored_s = self._incidents, time.monotonic()

    @property
    def incidents(self) -> Incidents:
        """Open ones, and those whose end is not sent yet."""
        return self._incidents

    @property
    def dashboard(self) -> str | None:
        """Its address, for links."""
        return self._notices.dashboard

    def change(self, notices: Notices) -> None:
        """Use another content of the notices file, with the same state file; all targets wake up."""
        with self._changed:
            self._notices = notices
            self._changed.notify_all()

    def observe(self, cluster: str, health: Health) -> None:
        """Take note of a poll; the targets wake up."""
        with self._changed:
            last = self._polls.get(cluster)
            poll = poll_of(cluster, health, frozenset() if last is None else last.undecided | last.verdicts.keys())
            self._polls[cluster] = poll
            self._incidents = after(self._incidents, poll, self._least(), self._sent_close(), self._new_id)
            self._changed.notify_all()

    def due(self, target: Target, failed: Sequence[str] = ()) -> tuple[Incident, Event] | None:
        """The next notice for the target, with the evidence of the last poll. `failed`: see `due.due`."""
        incidents = self._incidents.values()
        found = due(target.name, target.rules, incidents, self._notices.maintenance, self._clock_ms(), failed)
        return None if found is None else (self._with_evidence(found[0]), found[1])

    def begin(self, target: Target, incident: Incident) -> bool:
        """The notice is about to be sent. One that is not confirmed later may have arrived.

        Returns whether it is the first attempt for this incident.
        """
        is_first = target.name not in incident.deliveries
        if is_first:
            self._deliver(target, incident, Delivery(incident.severity, self._clock_ms(), confirmed=False))
        if incident.id not in self._stored or time.monotonic() - self._stored_s >= SAVE_EVERY_S:
            self.save()
        return is_first

    def confirm(self, target: Target, incident: Incident) -> None:
        """The notice arrived."""
        closed = incident.closed_ms is not None
        self._deliver(target, incident, Delivery(incident.severity, self._clock_ms(), True, closed))

    def withdraw(self, target: Target, incident: Incident) -> None:
        """The first attempt of the first notice did not arrive: the target knows nothing of the incident."""
        with self._changed:
            current = self._incidents.get(incident.id)
            if current is None or (last := current.deliveries.get(target.name)) is None or last.confirmed:
                return
            self._incidents = {**self._incidents, current.id: current.undelivered(target.name)}

    def save(self) -> None:
        """Write the file if it is out of date."""
        with self._writing:
            incidents = self._incidents
            if incidents == self._stored:
                return
            try:
                save_state(self._notices.state, incidents)
            except ConfigError as error:
                if self.problem is None:
                    log.error("incidents are not stored: %s", error)
                self.problem = error
            else:
                self._stored, self.problem = incidents, None
            self._stored_s = time.monotonic()

    def wait(self, seconds: float, until_poll: bool) -> bool:
        """Wait, at most until the notices file changed, or if `until_poll` a poll; returns whether to continue."""
        with self._changed:
            notices = self._notices
            if until_poll and not self._stopping:
                self._changed.wait(seconds)
            else:
                self._changed.wait_for(lambda: self._stopping or self._notices is not notices, seconds)
            return not self._stopping

    def stop(self) -> None:
        """End every wait, and save."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self.save()

    def _least(self) -> Severity:
        return min((target.rules.threshold for target in self._notices.targets), default=Severity.CRITICAL)

    def _sent_close(self) -> frozenset[str]:
        return frozenset(target.name for target in self._notices.targets if target.rules.send_close)

    def _with_evidence(self, incident: Incident) -> Incident:
        poll = self._polls.get(incident.cluster)
        if poll is None or incident.closed_ms is not None or incident.verdict != poll.verdicts.get(incident.group_id):
            return incident
        return replace(incident, evidence=poll.finding(incident.group_id).evidence)

    def _deliver(self, target: Target, incident: Incident, delivery: Delivery) -> None:
        with self._changed:
            current = self._incidents.get(incident.id, incident)
            self._incidents = {**self._incidents, current.id: current.delivered(target.name, delivery)}
