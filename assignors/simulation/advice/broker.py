"""Advice for a broker's group coordinator."""

from collections.abc import Iterator

from assignors.simulation.advice import names
from assignors.simulation.advice.findings import Finding, Numbers, Properties, Severity, unknown

SOURCE = "GroupCoordinatorConfig"
DEFAULTS = {
    "group.min.session.timeout.ms": 6_000,
    "group.max.session.timeout.ms": 1_800_000,
    "group.initial.rebalance.delay.ms": 3_000,
    "group.consumer.session.timeout.ms": 45_000,
    "group.consumer.min.session.timeout.ms": 45_000,
    "group.consumer.max.session.timeout.ms": 60_000,
    "group.consumer.heartbeat.interval.ms": 5_000,
    "group.consumer.min.heartbeat.interval.ms": 5_000,
    "group.consumer.max.heartbeat.interval.ms": 15_000,
    "offsets.topic.replication.factor": 3,
}
_DELAY, _FACTOR = "group.initial.rebalance.delay.ms", "offsets.topic.replication.factor"


def advise_broker(properties: Properties, members: int | None = None) -> list[Finding]:
    """What is wrong with the coordinator's settings; other broker settings are left alone.

    `members` is how many replicas of an application start together (None: not known).
    """
    number = Numbers(properties, DEFAULTS, SOURCE)
    own = {key: value for key, value in properties.items() if key.startswith(("group.", "offsets."))}
    found = [*number.findings, *unknown(own, names.COORDINATOR, SOURCE), *_bounds(number), *_heartbeat(number)]
    if number[_DELAY] == 0 and members is not None and members > 1:
        reason = f"{members} members that start together cause up to {members} rebalances."
        found.append(Finding(_DELAY, Severity.WARNING, reason, "KIP-134", str(DEFAULTS[_DELAY])))
    if number[_FACTOR] < 3:
        reason = f"__consumer_offsets has {number[_FACTOR]} replica(s): one broker lost may stop every group it holds."
        found.append(Finding(_FACTOR, Severity.WARNING, reason, SOURCE, "3"))
    return sorted(found, key=lambda finding: finding.severity is not Severity.ERROR)


def _bounds(number: Numbers) -> Iterator[Finding]:
    for name in ("session.timeout", "heartbeat.interval"):
        key = f"group.consumer.{name}.ms"
        low, high = (number[f"group.consumer.{side}.{name}.ms"] for side in ("min", "max"))
        if not low <= number[key] <= high:
            reason = f"{key} {number[key]} is outside {low} to {high}; the broker does not start."
            yield Finding(key, Severity.ERROR, reason, SOURCE, str(min(max(number[key], low), high)))


def _heartbeat(number: Numbers) -> Iterator[Finding]:
    key = "group.consumer.heartbeat.interval.ms"
    session = number["group.consumer.session.timeout.ms"]
    if number[key] >= session:
        reason = f"{key} {number[key]} is not below the session of {session}; the broker does not start."
        yield Finding(key, Severity.ERROR, reason, SOURCE, str(DEFAULTS[key]))
