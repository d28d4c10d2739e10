"""What the groups of the demo look like to Kafka, as follows from their plan and their verdict."""

from lag.embedded.workload import describe
from lag.embedded.workload.plan import GROUPS, GroupPlan, Protocol
from lag.model import GroupType
from lag.offsets import PartitionProblem
from lag.verdict.status import Status

_BY_VERDICT = {
    Status.NEVER_COMMITTED: PartitionProblem.NO_COMMIT,
    Status.TOPIC_DELETED: PartitionProblem.TOPIC_DELETED,
    Status.BEYOND_END: PartitionProblem.BEYOND_END,
    Status.LOST: PartitionProblem.BELOW_LOG_START,
}


def _type(plan: GroupPlan) -> GroupType:
    return GroupType(plan.protocol) if plan.protocol in (Protocol.CONSUMER, Protocol.SHARE) else GroupType.CLASSIC


def _state(plan: GroupPlan) -> str:
    return "Stable" if plan.members and plan.protocol is not Protocol.ASSIGN else "Empty"


TYPES = {plan.group_id: _type(plan) for plan in GROUPS}
STATES = {plan.group_id: _state(plan) for plan in GROUPS}
"""Once the group is stable."""

PROBLEMS = {case.group_id: _BY_VERDICT.get(case.status) for case in describe()}
"""The problem of some or all of its partitions."""
