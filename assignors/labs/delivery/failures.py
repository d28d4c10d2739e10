"""The first consumer's steps up to a failure, what it does after that, and the second consumer's steps."""

from collections.abc import Sequence
from dataclasses import replace

from assignors.labs.delivery.consumer_steps import life
from assignors.labs.delivery.ledger import Ledger, committed_offsets, ledger
from assignors.labs.delivery.model import (
    AUTO_COMMITTING,
    Event,
    Failure,
    FailureKind,
    Kind,
    Lab,
    LabError,
    Offsets,
    Strategy,
)

FIRST, SECOND, OUTSIDER = "A", "B", "standalone"
_OUTSIDERS = (FailureKind.OUTSIDER_REFUSED, FailureKind.OUTSIDER_ACCEPTED)
_COMMITS_ON_CLOSE = AUTO_COMMITTING | {Strategy.ASYNC, Strategy.ASYNC_RETRY}
_COMMITS = (Kind.COMMIT, Kind.COMMIT_ASYNC)
_REFUSED = "CommitFailedException: the group has rebalanced and another member has the partition."
_IN_REBALANCE = "RebalanceInProgressException: fails in the client while the group rebalances."


def run(lab: Lab, failure: Failure = Failure()) -> Ledger:  # noqa: B008 - frozen
    """The ledger of the lab under one failure. Raises LabError when the failure is outside the first life."""
    first = first_life(lab, failure.failed_commits)
    if not 0 <= failure.step <= len(first):
        raise LabError(f"Step {failure.step} is outside the consumer's {len(first)} steps. Use 0 to {len(first)}.")
    if failure.kind in _OUTSIDERS and not _fits(lab, failure.outsider):
        raise LabError(f"The standalone consumer commits {failure.outsider}. Give each partition an offset in its log.")
    if failure.kind is FailureKind.NONE:
        return ledger(lab, first)
    events = _FAILURES[failure.kind](lab, first, failure)
    if failure.kind is not FailureKind.OUTSIDER_REFUSED:
        events += life(lab, committed_offsets(lab.start, events), SECOND)
    return ledger(lab, events)


def first_life(lab: Lab, failed_commits: frozenset[int] = frozenset()) -> tuple[Event, ...]:
    """The first consumer's steps up to the end of the log; a failure may come before, between and after them."""
    return _with_failed_commits(lab, life(lab, lab.start, FIRST), failed_commits)


def _fits(lab: Lab, offsets: Offsets) -> bool:
    return len(offsets) == len(lab.end) and all(0 <= o <= end for o, end in zip(offsets, lab.end, strict=True))


def _with_failed_commits(lab: Lab, course: Sequence[Event], failed: frozenset[int]) -> tuple[Event, ...]:
    """Asynchronous commits fail without a retry; the naive retry arrives behind the next one and rewinds it."""
    events, number, retries = list[Event](), 0, list[Event]()
    for event in course:
        fails = event.kind is Kind.COMMIT_ASYNC and number in failed
        number += event.kind is Kind.COMMIT_ASYNC
        events.append(replace(event, kind=Kind.COMMIT_FAILED, reason="The request is lost.") if fails else event)
        if fails and lab.strategy is Strategy.ASYNC_RETRY:
            retries.append(replace(event, reason="Retried after a newer commit."))
        elif event.kind is Kind.COMMIT_ASYNC:
            events.extend(retries)
            retries.clear()
    return tuple(events)


def _crash(lab: Lab, first: Sequence[Event], failure: Failure) -> list[Event]:
    return [*first[: failure.step], Event(FIRST, Kind.CRASH, reason="Its session has to expire first.")]


def _exception(lab: Lab, first: Sequence[Event], failure: Failure) -> list[Event]:
    cut = [*first[: failure.step], Event(FIRST, Kind.EXCEPTION)]
    if lab.strategy in _COMMITS_ON_CLOSE:
        cut += _commit_position(cut, "Closing commits the position, processed or not.")
    return [*cut, Event(FIRST, Kind.CLOSE)]


def _commit_position(events: Sequence[Event], reason: str) -> list[Event]:
    polls = [event for event in events if event.kind in (Kind.POLL, Kind.SKIP)]
    position = dict(pair for poll in polls for pair in poll.offsets)
    return [Event(FIRST, Kind.COMMIT, offsets=tuple(position.items()), reason=reason)] if position else []


def _kicked(lab: Lab, first: Sequence[Event], failure: Failure) -> list[Event]:
    """The zombie continues until its next commit or poll; its work no longer counts for the group."""
    cut = list(first[: failure.step])
    cut.append(
        Event(FIRST, Kind.KICKED, reason="max.poll.interval.ms has passed; the heartbeat thread leaves the group.")
    )
    for event in first[failure.step :]:
        if event.kind in _COMMITS:
            cut.append(replace(event, kind=Kind.COMMIT_FAILED, reason=_REFUSED))
        if event.kind in (*_COMMITS, Kind.POLL, Kind.DROP, Kind.POISON):
            break
        cut.append(_fenced(event))
    return [*cut, Event(FIRST, Kind.LOST, reason="onPartitionsLost at its next poll.")]


def _fenced(event: Event) -> Event:
    if event.kind is not Kind.STORE:
        return event
    return replace(event, kind=Kind.STORE_REFUSED, reason="The store knows a newer owner; the transaction rolls back.")


def _eager(lab: Lab, first: Sequence[Event], failure: Failure) -> list[Event]:
    """The next poll commits (auto-commit), revokes everything and joins again."""
    cut = list(first[: _next_poll(first, failure.step)])
    if lab.strategy in AUTO_COMMITTING:
        cut += _commit_position(cut, "onJoinPrepare commits the position.")
    return cut + _revoked(lab, cut)


def _cooperative(lab: Lab, first: Sequence[Event], failure: Failure) -> list[Event]:
    """The next poll commits and joins, yet returns records; the poll after it revokes without a commit.

    Read in Kafka's ConsumerCoordinator (poll, onJoinPrepare, onJoinComplete), not yet seen on a broker.
    """
    at = _next_poll(first, failure.step)
    polled = next((at for at in range(at, len(first)) if first[at].kind is Kind.POLL), len(first))
    until = _next_poll(first, polled + 1)
    cut = list(first[:at])
    if lab.strategy in AUTO_COMMITTING:
        cut += _commit_position(cut, "onJoinPrepare commits the position.")
    cut += _during_join(lab, first[at:until])
    return cut + _revoked(lab, cut)


def _during_join(lab: Lab, window: Sequence[Event]) -> list[Event]:
    """What is done with the batch that poll returned while joining; auto-commit waits, commits fail in the client."""
    events = list[Event]()
    for event in window:
        if event.kind in _COMMITS and lab.strategy in AUTO_COMMITTING:
            continue
        if event.kind in _COMMITS:
            events.append(replace(event, kind=Kind.COMMIT_FAILED, reason=_IN_REBALANCE))
        else:
            events.append(event)
        if event.kind in _COMMITS and lab.strategy is Strategy.COMMIT_FIRST:
            break
    return events


def _next_poll(course: Sequence[Event], step: int) -> int:
    """The first poll from this step on; a drop or a failing deserializer already belongs to its poll."""
    starts = (Kind.POLL, Kind.DROP, Kind.POISON)
    return next((at for at in range(step, len(course)) if course[at].kind in starts), len(course))


def _revoked(lab: Lab, before: Sequence[Event]) -> list[Event]:
    done = {record.partition: record.offset + 1 for e in before if e.kind is Kind.PROCESS for record in e.records}
    revoked = Event(FIRST, Kind.REVOKED)
    if not (lab.commits_on_revoke and done):
        return [revoked]
    return [Event(FIRST, Kind.COMMIT, offsets=tuple(done.items()), reason="Commits in onPartitionsRevoked."), revoked]


def _outsider_refused(lab: Lab, first: Sequence[Event], failure: Failure) -> list[Event]:
    why = "CommitFailedException (UNKNOWN_MEMBER_ID): the group is Stable and this consumer is not a member."
    refused = Event(OUTSIDER, Kind.COMMIT_FAILED, offsets=tuple(enumerate(failure.outsider)), reason=why)
    return [*first[: failure.step], refused, *first[failure.step :]]


def _outsider_accepted(lab: Lab, first: Sequence[Event], failure: Failure) -> list[Event]:
    why = "The group is Empty, so a commit without a member is accepted."
    accepted = Event(OUTSIDER, Kind.COMMIT, offsets=tuple(enumerate(failure.outsider)), reason=why)
    return [*first[: failure.step], Event(FIRST, Kind.CRASH), accepted]


_FAILURES = {
    FailureKind.CRASH: _crash,
    FailureKind.EXCEPTION: _exception,
    FailureKind.KICKED: _kicked,
    FailureKind.EAGER: _eager,
    FailureKind.COOPERATIVE: _cooperative,
    FailureKind.OUTSIDER_REFUSED: _outsider_refused,
    FailureKind.OUTSIDER_ACCEPTED: _outsider_accepted,
}
