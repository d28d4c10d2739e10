"""Advice for a group: members with incompatible properties."""

from collections.abc import Iterator, Mapping

from assignors.advice.client import DEFAULT_STRATEGY, session_and_poll
from assignors.advice.config_table import CONSUMER
from assignors.advice.findings import Finding, Properties, error, numbers, warning

_SAME = ("group.protocol", "partition.assignment.strategy", "session.timeout.ms", "max.poll.interval.ms")
_INSTANCE, _STRATEGY = "group.instance.id", "partition.assignment.strategy"
_SESSION, _POLL = "session.timeout.ms", "max.poll.interval.ms"


def advise_group(members: Mapping[str, Properties], partitions: int | None = None) -> list[Finding]:
    """Findings about differences between members; `partitions` is the number that the group reads (None = unknown)."""
    found = [*_no_common_assignor(members), *_same_instance(members), *_different(members), *_timeouts(members)]
    if partitions is not None and len(members) > partitions:
        reason = f"{len(members)} members share {partitions} partitions: {len(members) - partitions} stay idle."
        found.append(warning("members", reason, "one member per partition", str(partitions)))
    return found


def _no_common_assignor(members: Mapping[str, Properties]) -> Iterator[Finding]:
    listed = [set(own.get(_STRATEGY, DEFAULT_STRATEGY).replace(" ", "").split(",")) for own in members.values()]
    short = [{name.rsplit(".", 1)[-1] for name in names} for names in listed]
    if short and not set.intersection(*short):
        reason = "No assignor is common to all members: the last to join is refused (INCONSISTENT_GROUP_PROTOCOL, 23)."
        yield error(_STRATEGY, reason, "ClassicGroup")


def _same_instance(members: Mapping[str, Properties]) -> Iterator[Finding]:
    seen = dict[str, str]()
    for name, own in members.items():
        instance = own.get(_INSTANCE)
        if instance is not None and instance in seen:
            reason = f"{seen[instance]} and {name} both have {instance}: one fences the other (FENCED_INSTANCE_ID, 82)."
            yield error(_INSTANCE, reason, "KIP-345")
        elif instance is not None:
            seen[instance] = name


def _different(members: Mapping[str, Properties]) -> Iterator[Finding]:
    for key in _SAME:
        values = sorted({own.get(key, "(default)") for own in members.values()})
        if len(values) > 1:
            reason = f"Members of one group differ in {key}: {', '.join(values)}."
            yield warning(key, reason, "one group, one configuration")


def _timeouts(members: Mapping[str, Properties]) -> Iterator[Finding]:
    """Findings about members that set both, each once."""
    found = dict[Finding, None]()
    for own in members.values():
        if _SESSION in own and _POLL in own:
            number = numbers(own, CONSUMER)
            found |= dict.fromkeys(session_and_poll(number[_SESSION], number[_POLL], _INSTANCE in own))
    yield from found
