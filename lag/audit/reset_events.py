"""The events of the audit log about a plan that is applied. Pure."""

from dataclasses import dataclass

from lag.audit.event import AuditEvent, Outcome
from lag.reset.applying.apply import ChangeEvent, Step
from lag.reset.model import Kind, Plan
from lag.reset.summary import headline

ACTIONS = {Kind.OFFSETS: "reset", Kind.DELETE_GROUP: "delete group", Kind.REMOVE_MEMBER: "remove member"}
UNDO = "undo"
NOT_ALL_DONE = "Not all partitions are at the new offset"


@dataclass(frozen=True, slots=True)
class Change:
    """Who applies a plan, from where, and to which cluster. `plan_id` names the file of the plan."""

    plan: Plan
    actor: str | None
    address: str
    cluster: str
    plan_id: str | None = None

    def event(self, at_ms: int, outcome: Outcome, detail: str = "") -> AuditEvent:
        """An event about the plan; without a `detail`, with the plan in one sentence."""
        action = ACTIONS[self.plan.kind] if self.plan.undoes is None else UNDO
        text = detail or headline(self.plan)
        return AuditEvent(
            at_ms, action, outcome, self.actor, self.address, self.cluster, self.plan.group_id, self.plan_id, text
        )

    def step(self, event: ChangeEvent) -> AuditEvent:
        """The event about a step of `apply_plan`."""
        if event.step is Step.STARTED:
            return self.event(event.at_ms, Outcome.STARTED)
        if event.applied is None:
            outcome = Outcome.REFUSED if event.step is Step.REFUSED else Outcome.FAILED
            return self.event(event.at_ms, outcome, event.reason)
        if event.applied.is_done:
            return self.event(event.at_ms, Outcome.OK)
        return self.event(event.at_ms, Outcome.FAILED, event.applied.error or NOT_ALL_DONE)
