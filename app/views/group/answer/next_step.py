"""What to do next about the group's verdict: the hint, the commands to paste, and what the change would do."""

from dataclasses import dataclass

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.scenario import draft_state
from app.ui.scenario.draft import Draft
from app.views.group.answer import remedy
from app.views.group.answer.commands import Command, Tools, commands
from app.views.group.answer.reset_link import ResetLink, reset_link
from app.views.group.state import view as view_of
from app.views.group.view import GroupView
from lag.errors import GroupscopeError
from lag.verdict.catalogue import CALM, VERDICTS
from lag.verdict.hints import Hint, hint
from lag.verdict.status import Status

"""Verdicts that ask for nothing."""

PLAINTEXT = "PLAINTEXT"


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do. `what_if` is the draft of the change that `condition` names; None where no what-if shows it.

    `reset` is the reset that answers the verdict, if one does.
    """

    action: str
    reason: str
    commands: tuple[Command, ...]
    condition: str = ""
    what_if: Draft | None = None
    reset: ResetLink | None = None


@state.once_per_snapshot(max_entries=32)
def next_step(page: state.Shown, group_id: str) -> NextStep | None:
    """What to do about the group's verdict; None where there is nothing to do, or the group is not in the snapshot."""
    view = view_of(page, group_id)
    if view is None or view.health.finding.status in CALM:
        return None
    status = view.health.finding.status
    found = hint(view.group, status, list(zip(view.lags, view.healths, strict=True)), view.names)
    advised = _advice(view) if found is None else found
    tools = _tools(page)
    lines = tuple(commands(view, page.report.snapshot, tools))
    draft = _draft(page, view)
    its = None if draft is None else remedy.change(found, view, draft)
    if draft is None or its is None:
        return NextStep(advised.action, advised.reason, lines, reset=reset_link(view))
    return NextStep(advised.action, advised.reason, lines, its.condition, draft.then(its.actions), reset_link(view))


def _advice(view: GroupView) -> Hint:
    """What helps with the problem of a group that could not be read; else what helps with its verdict in general."""
    status = view.health.finding.status
    if status is Status.UNKNOWN and view.group.problems and view.group.problems[0].hint:
        problem = view.group.problems[0]
        return Hint(f"{problem.hint.rstrip('.')}.", f"{problem.cause[:1].upper()}{problem.cause[1:]}.")
    return Hint(VERDICTS[status].advice, "")


def _draft(page: state.Shown, view: GroupView) -> Draft | None:
    try:
        return draft_state.from_group(page, view.group.group_id)
    except GroupscopeError:  # the group is rebalancing, or its members are unknown
        return None


def _tools(page: state.Shown) -> Tools:
    """The cluster as the command line tools need it. A cluster without settings is named by its first broker."""
    settings = state.settings_in_force(page.cluster)
    brokers = ",".join(f"{broker.host}:{broker.port}" for broker in page.report.snapshot.brokers[:1])
    return Tools(
        settings.get("bootstrap.servers", brokers), settings.get("security.protocol", PLAINTEXT).upper() != PLAINTEXT
    )


def show(page: state.Shown, view: GroupView) -> None:
    """The block under the conclusion; nothing for a group that keeps up."""
    step = next_step(page, view.group.group_id)
    if step is None:
        return
    with st.container(border=True, gap="xxsmall"):
        widgets.titled("Do this next")
        st.markdown(f"**{formats.md(step.action)}** {formats.md(step.reason)}")
        for command in step.commands:
            st.markdown(f":small[:gray[{formats.md(command.purpose)}:]]")
            st.code(command.line, language="bash", wrap_lines=True)
        if step.reset is not None:
            _reset(step.reset)
        if step.what_if is not None:
            _effect(step.condition, step.what_if)


def _reset(its: ResetLink) -> None:
    """Opens the plan of the reset, filled in."""
    options = {"icon": ":material/restart_alt:", "key": "next_step_to_reset"}
    widgets.page_button(its.label, "reset", lambda: its.parameters, **options)


@st.fragment(parallel=True)
def _effect(condition: str, draft: Draft) -> None:
    """The result of the what-if; it is computed while the rest of the page is drawn."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        line = st.empty()
        widgets.page_button(
            "Open in What if",
            "whatif",
            lambda: draft_state.hand_over(draft.scenario),
            icon=":material/alt_route:",
            key="next_step_to_whatif",
        )
        head = f"**If {formats.md(condition)}:**"
        line.markdown(f":small[{head} :gray[computing…]]", width="content")
        effect = remedy.effect(draft_state.outcome(draft, draft.scenario.assignor))
        line.markdown(f":small[{head} {formats.md(effect)}]", width="content", help=formats.md(" ".join(draft.notes)))
