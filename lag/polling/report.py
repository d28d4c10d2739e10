"""What a collector publishes: the report of a successful poll, and the state of polling."""

from dataclasses import dataclass

from lag.errors import ConfigError, GroupscopeError
from lag.model import ClusterSnapshot
from lag.verdict.health import Health
from lag.verdict.window.sample_window import Window


@dataclass(frozen=True, slots=True)
class Report:
    """One good poll: what was read, the verdicts, and the earlier samples that are still kept.

    `policy_problem`: why the policy file is not in force as it is; None: nothing is wrong with it.
    """

    snapshot: ClusterSnapshot
    health: Health
    window: Window
    policy_problem: ConfigError | None = None


@dataclass(frozen=True, slots=True)
class CollectorStatus:
    """The state of polling. Times are epoch milliseconds.

    `error` is that of the last poll, None if it was good; `failing_since_ms` the first failure since the last good
    poll. `next_poll_ms` is None during a poll. `interval_s` is the actual interval, longer than the configured one when
    polls take long. `polls` counts good polls; `took_s` is the time of the last one, including its verdicts.
    """

    interval_s: float
    polls: int = 0
    took_s: float | None = None
    last_ok_ms: int | None = None
    next_poll_ms: int | None = None
    error: GroupscopeError | None = None
    failing_since_ms: int | None = None
    consecutive_failures: int = 0
