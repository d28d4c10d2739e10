"""The last changes of the verdicts of groups, from one poll to the next."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from lag.verdict.health import Health
from lag.verdict.onset import Onset
from lag.verdict.status import OPENS_NOTHING, STATUS_CODE, TOO_EARLY, URGENCY, Status

MOST_CHANGES = 1_000
MOST_MISSED = 10_000
"""For this many dropped changes the group is still known: a reader of some groups has missed only theirs."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A group has another verdict than in the poll before.

    `before` and `after` are None where there is no verdict: with too few polls, or if the group does not exist.
    `number` and `at_ms` are those of the snapshot. Ids grow, also over restarts of the process, unless the clock was
    set back between them: see `VerdictChanges.after`. They are times in ms.
    """

    id: int
    group_id: str
    number: int
    at_ms: int
    before: Status | None
    after: Status | None
    onset: Onset | None
    evidence: str


@dataclass(frozen=True, slots=True)
class ChangesAfter:
    """The kept changes with an id above `after`, oldest first, and the groups of those no longer kept, newest first.

    `last_id` is that of the last poll, 0 before the first: up to it there is nothing more to look for.
    """

    after: int
    changes: Sequence[VerdictChange]
    missed: Sequence[str]
    last_id: int

    def of(self, wanted: Callable[[str], bool]) -> "ChangesAfter":
        """The same of those groups only."""
        changes = [one for one in self.changes if wanted(one.group_id)]
        return replace(self, changes=changes, missed=list(filter(wanted, self.missed)))


class VerdictChanges:
    """The last MOST_CHANGES changes of one cluster. One thread observes; any thread may read.

    A group without a verdict counts as OK: neither a start nor a new group that is well is a change.

    The changes of a poll have the ids up to that of the poll, which is its time. So the ids that a reader of some
    groups gets do not depend on the others.
    """

    def __init__(self, most: int = MOST_CHANGES) -> None:
        self._most, self._changes = most, deque[VerdictChange](maxlen=most)  # each has the id of its poll
        self._dropped = deque[tuple[int, str]](maxlen=MOST_MISSED)
        self._codes: Mapping[str, int] = {}
        self._begin = self._last_id = 0
        self._lock = threading.Lock()

    def observe(self, health: Health) -> None:
        """Add the changes since the last poll."""
        codes = {
            group.group_id: code
            for group, code in zip(health.snapshot.groups, health.columns.status.tolist(), strict=True)
        }
        names = sorted(name for name in {**self._codes, **codes} if _weight(self._codes, name) != _weight(codes, name))
        at_ms = health.snapshot.at_ms
        poll_id = max(at_ms, self._last_id + self._most) if self._begin else at_ms
        made = [self._change(health, codes, name, poll_id) for name in names[-self._most :]]
        self._codes = codes
        with self._lock:
            self._begin, self._last_id = self._begin or at_ms - self._most, poll_id
            known = [*((one.id, one.group_id) for one in self._changes), *((poll_id, name) for name in names)]
            self._dropped.extend(known[: -self._most])
            self._changes.extend(made)

    def after(self, change_id: int, wanted: Callable[[str], bool] = lambda _group_id: True) -> ChangesAfter:
        """What is new, of the wanted groups, to a reader that has everything up to that id, all from one moment.

        An id that is not assigned yet comes from an earlier process whose clock was ahead: all changes here are new.
        """
        with self._lock:
            after = self._begin if self._begin and change_id > self._last_id else change_id
            kept = takewhile(lambda one: one.id > after, reversed(self._changes))
            dropped = takewhile(lambda one: one[0] > after, reversed(self._dropped))
            later: Counter[int] = Counter()

            def is_new(poll_id: int, group_id: str) -> int:
                """The id of a change, newest first; 0 for one that is not wanted or not new."""
                if not wanted(group_id):
                    return 0
                found = poll_id - min(later[poll_id], self._most - 1)  # no more are kept: the others share an id
                later[poll_id] += 1
                return found if found > after else 0

            changes = [replace(one, id=new) for one in kept if (new := is_new(one.id, one.group_id))]
            missed = [name for poll_id, name in dropped if is_new(poll_id, name)]
            return ChangesAfter(after, changes[::-1], missed, self._last_id)

    def last_id(self) -> int:
        """The id up to which there is nothing to look for now; 0 before the first poll."""
        with self._lock:
            return self._last_id

    def _change(self, health: Health, codes: Mapping[str, int], name: str, change_id: int) -> VerdictChange:
        finding = health.groups[health.snapshot.by_group[name]].finding if name in codes else None
        return VerdictChange(
            change_id,
            name,
            health.snapshot.number,
            health.snapshot.at_ms,
            _status(self._codes, name),
            _status(codes, name),
            None if finding is None else finding.onset,
            "the group no longer exists" if finding is None else finding.evidence,
        )


def _weight(codes: Mapping[str, int], name: str) -> int:
    """The code of the verdict; that of OK where there is none, and for a group that is only watched."""
    code = codes.get(name, TOO_EARLY)
    return STATUS_CODE[Status.OK] if code == TOO_EARLY or URGENCY[code] in OPENS_NOTHING else code


def _status(codes: Mapping[str, int], name: str) -> Status | None:
    code = codes.get(name, TOO_EARLY)
    return None if code == TOO_EARLY else URGENCY[code]
