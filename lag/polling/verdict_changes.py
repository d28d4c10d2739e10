"""The last changes of the verdicts of groups, from one poll to the next."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from lag.verdict.health import Health
from lag.verdict.onset import Onset
from lag.verdict.status import STATUS_CODE, TOO_EARLY, URGENCY, Status

MOST_CHANGES = 1_000
MOST_MISSED = 10_000
"""For this many dropped changes the group is still known: a reader of some groups has missed only theirs."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A group has another verdict than in the poll before.

    `before` and `after` are None where there is no verdict: with too few polls, or if the group does not exist.
    `number` and `at_ms` are those of the snapshot. Ids grow, also over restarts of the process, unless the
    clock was set back between them: see `VerdictChanges.after`.
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

    `last_id` is that of the last change of any group, 0 before the first: up to it there is nothing more to look for.
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
    """

    def __init__(self, most: int = MOST_CHANGES) -> None:
        self._most, self._changes = most, deque[VerdictChange](maxlen=most)
        self._dropped = deque[tuple[int, str]](maxlen=MOST_MISSED)
        self._codes: Mapping[str, int] = {}
        self._first_id = self._last_id = 0
        self._lock = threading.Lock()

    def observe(self, health: Health) -> None:
        """Add the changes since the last poll."""
        codes = {
            group.group_id: code
            for group, code in zip(health.snapshot.groups, health.columns.status.tolist(), strict=True)
        }
        names = [name for name in {**self._codes, **codes} if _weight(self._codes, name) != _weight(codes, name)]
        first_id = self._first_id or health.snapshot.at_ms + 1
        last_id = self._last_id if self._first_id else health.snapshot.at_ms
        numbered = list(enumerate(sorted(names), last_id + 1))
        made = [self._change(health, codes, name, change_id) for change_id, name in numbered[-self._most :]]
        self._codes = codes
        with self._lock:
            self._first_id, self._last_id = first_id, last_id + len(numbered)
            known = [*((one.id, one.group_id) for one in self._changes), *numbered]
            self._dropped.extend(known[: -self._most])
            self._changes.extend(made)

    def after(self, change_id: int) -> ChangesAfter:
        """What is new to a reader that has everything up to that id, all from one moment.

        An id that is not assigned yet comes from an earlier process whose clock was ahead: all changes here are new.
        """
        with self._lock:
            after = self._first_id - 1 if self._first_id and change_id > self._last_id else change_id
            changes = list(takewhile(lambda one: one.id > after, reversed(self._changes)))[::-1]
            missed = [name for _, name in takewhile(lambda one: one[0] > after, reversed(self._dropped))]
            return ChangesAfter(after, changes, missed, self._changes[-1].id if self._changes else 0)

    def last_id(self) -> int:
        """The id of the last change; 0 before the first."""
        with self._lock:
            return self._changes[-1].id if self._changes else 0

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
    """The code of the verdict; that of OK where there is none."""
    code = codes.get(name, TOO_EARLY)
    return STATUS_CODE[Status.OK] if code == TOO_EARLY else code


def _status(codes: Mapping[str, int], name: str) -> Status | None:
    code = codes.get(name, TOO_EARLY)
    return None if code == TOO_EARLY else URGENCY[code]
