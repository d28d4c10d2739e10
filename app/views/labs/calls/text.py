"""A run of the Call lab in words."""

from collections import Counter
from collections.abc import Mapping, Sequence

from app.ui.charts import ruler
from app.ui.formats import every, plural
from app.views.labs.calls.records import RecordState, changes, marked, trouble
from assignors.labs.calls import Kind, PartitionOffsets, Turn
from assignors.simulation.errors import KafkaError

MACHINES = {
    Kind.CLIENT: "One consumer, the only member of its group",
    Kind.CLASSIC_GROUP: "The coordinator of a classic group",
    Kind.CONSUMER_GROUP: "The coordinator of a KIP-848 group",
    Kind.FINDER: "A cluster and its group coordinators",
    Kind.CONNECTIONS: "The connections of one consumer",
    Kind.GROUPS: "A topic and the groups that read it",
    Kind.OFFSETS_TOPIC: "The log of committed offsets",
}


def headline(turns: Sequence[Turn]) -> str:
    """How many calls are refused and with which errors, and how many records are read again, skipped or lost."""
    errors = [turn.error for turn in turns if turn.error is not None]
    refused = {0: "none is", 1: "1 is"}.get(len(errors), f"{len(errors)} are")
    names = f": {', '.join(dict.fromkeys(errors))}" if errors else ""
    found = _total(turns)
    records = f"; {every(_troubles(found))}" if found else ""
    return f"{plural(len(turns), 'call')}, {refused} refused{names}{records}"


def _total(turns: Sequence[Turn]) -> Mapping[RecordState, int]:
    """How many records all calls read again, skip or delete unread."""
    found = Counter[RecordState]()
    for at in range(len(turns)):
        for change in changes(turns, at):
            found.update(trouble(*change))
    return found


MOST_PARTITIONS = 3
_NAMES = {"committed": "committed offset", "last stable": "last stable offset"}
_TROUBLES = {
    RecordState.AGAIN: ("{} is read again", "{} are read again"),
    RecordState.SKIPPED: ("{} is skipped", "{} are skipped"),
    RecordState.LOST: ("{} is deleted before it is read", "{} are deleted before they are read"),
}


def moved(turns: Sequence[Turn], at: int) -> str:
    """What a call does to the offsets of each partition, and which records it skips, loses or reads again."""
    found = [sentence for before, its in changes(turns, at) if (sentence := _moved(before, its))]
    rest = (
        f" {plural(len(found) - MOST_PARTITIONS, 'more partition changes', 'more partitions change')}."
        if len(found) > MOST_PARTITIONS
        else ""
    )
    return f"{' '.join(found[:MOST_PARTITIONS])}{rest}" or "No offset changes."


def _moved(before: PartitionOffsets | None, its: PartitionOffsets) -> str:
    old, new = (ruler.named(marked(before)) if before else {}), ruler.named(marked(its))
    parts = [_change(_NAMES.get(name, name), old.get(name), at) for name, at in new.items() if old.get(name) != at]
    parts = parts if before else []
    parts += _troubles(trouble(before, its))
    return f"In {its.partition} {every(parts)}." if parts else ""


def _troubles(found: Mapping[RecordState, int]) -> list[str]:
    return [_TROUBLES[kind][number > 1].format(plural(number, "record")) for kind, number in found.items()]


def _change(name: str, old: int | None, new: int | None) -> str:
    if new is None:
        return "the transaction ends" if name == _NAMES["last stable"] else f"the {name} is cleared"
    return f"the {name} is now {new}" if old is None else f"the {name} moves from {old} to {new}"


def offsets(turns: Sequence[Turn], at: int, shown: Sequence[PartitionOffsets]) -> str:
    """The picture of the offsets in words."""
    return " ".join([moved(turns, at), *(f"{ruler.finding(str(its.partition), marked(its))}." for its in shown)])


def assignments(turns: Sequence[Turn], at: int) -> str:
    """The picture of the assignment in words."""
    return f"{_call(turns, at)}; assigned: {turns[at].state['assigned'] or 'nothing'}"


def requests(turns: Sequence[Turn], at: int) -> str:
    """The picture of the requests in words."""
    turn = turns[at]
    before = turns[at - 1].state["group"] if at else turn.state["group"]
    state = turn.state["group"] if before == turn.state["group"] else f"{turn.state['group']}, was {before}"
    return f"{_call(turns, at)}; group: {state}"


def _call(turns: Sequence[Turn], at: int) -> str:
    return f"Call {at + 1} of {len(turns)}, {turns[at].call.text}: {'refused' if turns[at].error else 'accepted'}"


_MEANINGS = {
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS: "The coordinator is still loading the group; the client retries",
    KafkaError.COORDINATOR_NOT_AVAILABLE: "The group has no coordinator at the moment; the client looks it up again",
    KafkaError.ILLEGAL_GENERATION: "The generation is not the group's current one; the member has to join again",
    KafkaError.INCONSISTENT_GROUP_PROTOCOL: "No assignor is supported by all members, including this one",
    KafkaError.UNKNOWN_MEMBER_ID: "The coordinator does not know this member: it left, was removed, or never joined",
    KafkaError.INVALID_SESSION_TIMEOUT: "The session timeout is outside the broker's limits (6 s to 30 min)",
    KafkaError.REBALANCE_IN_PROGRESS: "The group is rebalancing; the member has to join again",
    KafkaError.GROUP_ID_NOT_FOUND: "There is no such group",
    KafkaError.MEMBER_ID_REQUIRED: "The first of two requests: the member joins again with this id (KIP-394)",
    KafkaError.GROUP_MAX_SIZE_REACHED: "The group has as many members as group.max.size allows",
    KafkaError.FENCED_INSTANCE_ID: "Another member has taken this group.instance.id",
    KafkaError.FENCED_MEMBER_EPOCH: "Not the member's current epoch; the member gives up its partitions and rejoins",
    KafkaError.UNRELEASED_INSTANCE_ID: "The member with this group.instance.id has not left yet",
    KafkaError.UNSUPPORTED_ASSIGNOR: "The broker has no assignor of that name (group.consumer.assignors)",
    KafkaError.STALE_MEMBER_EPOCH: "The commit does not have the member's current epoch",
    KafkaError.INVALID_REGULAR_EXPRESSION: "The pattern is not a valid RE2 expression",
}


def meaning(error: str | None) -> str | None:
    """What an error of a coordinator means, with its code; None for all else."""
    if error is None or error not in KafkaError.__members__:
        return None
    known = KafkaError[error]
    return f"{_MEANINGS[known]} (error code {known.value})." if known in _MEANINGS else None
