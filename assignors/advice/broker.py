"""Advice for a broker's group coordinator."""

from collections.abc import Iterator, Mapping

from assignors.advice.config_table import COORDINATOR, REPLICATION
from assignors.advice.findings import Finding, Properties, error, errors_first, numbers, refused, unknown, warning
from assignors.advice.workload import NOTHING_KNOWN, Workload

SOURCE = "GroupCoordinatorConfig"
_DELAY, _FACTOR = "group.initial.rebalance.delay.ms", "offsets.topic.replication.factor"
_LOW, _HIGH = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
_IN_SYNC = "min.insync.replicas"
_KINDS = ("consumer", "share", "streams")
_BOUNDED = ("session.timeout", "heartbeat.interval", "assignment.interval")
_CODECS = range(5)
_NO_START = "(IllegalArgumentException); the broker does not start."


def advise_broker(properties: Properties, workload: Workload = NOTHING_KNOWN) -> list[Finding]:
    """Findings about the settings of the group coordinator, errors first; other broker settings are ignored."""
    own = {key: value for key, value in properties.items() if key.startswith(("group.", "offset.", "offsets."))}
    number = numbers(own, COORDINATOR)
    found = [*refused(own, COORDINATOR, SOURCE), *unknown(own, COORDINATOR, SOURCE)]
    found += [*_bounds(number), *_heartbeats(number), *_others(properties, number), *_classic_sessions(number)]
    if number[_DELAY] <= 0 and workload.members is not None and workload.members > 1:
        reason = f"{workload.members} members that start together cause up to {workload.members} rebalances."
        found.append(warning(_DELAY, reason, "KIP-134", str(COORDINATOR[_DELAY].default)))
    if number[_FACTOR] < 3:
        reason = f"__consumer_offsets has {number[_FACTOR]} replica(s): losing a broker may stop all groups on it."
        found.append(warning(_FACTOR, reason, SOURCE, "3"))
    found += _in_sync(properties, workload)
    return errors_first(found)


def _error(key: str, reason: str, better: str) -> Finding:
    return error(key, f"{reason} {_NO_START}", SOURCE, better)


def _bounds(number: Mapping[str, int]) -> Iterator[Finding]:
    for kind, name in ((kind, name) for kind in _KINDS for name in _BOUNDED):
        key, least, most = (f"group.{kind}.{side}{name}.ms" for side in ("", "min.", "max."))
        low, high = number[least], number[most]
        if low > high:
            yield _error(most, f"{most} {high} is below {least} {low}", str(low))
        elif not low <= number[key] <= high:
            yield _error(key, f"{key} {number[key]} is outside {low} to {high}", str(min(max(number[key], low), high)))


def _heartbeats(number: Mapping[str, int]) -> Iterator[Finding]:
    for kind in _KINDS:
        key, session = f"group.{kind}.heartbeat.interval.ms", number[f"group.{kind}.session.timeout.ms"]
        if number[key] >= session:
            reason = f"{key} {number[key]} is not below the session of {session}"
            yield _error(key, reason, str(COORDINATOR[key].default))


def _others(properties: Properties, number: Mapping[str, int]) -> Iterator[Finding]:
    key, most = "group.streams.num.standby.replicas", number["group.streams.max.standby.replicas"]
    if number[key] > most:
        yield _error(key, f"{key} {number[key]} is above the {most} of group.streams.max.standby.replicas", str(most))
    key = "group.share.assignors"
    if "," in properties.get(key, ""):
        yield _error(key, f"{key} lists more than one assignor", "simple")
    key = "offsets.topic.compression.codec"
    if number[key] not in _CODECS:
        yield _error(key, f"{key} {number[key]} is not a compression type: use 0 to {_CODECS[-1]}", "0")


def _classic_sessions(number: Mapping[str, int]) -> Iterator[Finding]:
    low, high = number[_LOW], number[_HIGH]
    if low > high:
        reason = (
            f"{_LOW} {low} is above {_HIGH} {high}: the broker starts, and refuses every member of a classic group "
            "(INVALID_SESSION_TIMEOUT, 26)."
        )
        yield warning(_HIGH, reason, SOURCE, str(max(low, int(COORDINATOR[_HIGH].default or 0))))


def _in_sync(properties: Properties, workload: Workload) -> Iterator[Finding]:
    own = {_IN_SYNC: properties[_IN_SYNC]} if _IN_SYNC in properties else {}
    yield from refused(own, REPLICATION, "ServerLogConfigs")
    if workload.acks_all and numbers(own, REPLICATION)[_IN_SYNC] == 1:
        reason = (
            "If the other replicas fall behind, acks=all waits only for the leader: records that it loses are lost."
        )
        yield warning(_IN_SYNC, reason, "ServerLogConfigs, ReplicaManager", "2")
