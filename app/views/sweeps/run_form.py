"""The form that runs a sweep over the live groups of the cluster, and the command for a larger one."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app.server.sweep_run import DEADLINE_S, MAX_CASES, plan_of
from app.ui import formats, state, widgets
from app.ui.state import Shown
from app.views.sweeps import runs, text
from app.views.sweeps import state as state_sweeps
from assignors.registry import BUILT_IN
from lag.errors import ConfigError
from lag.sweeps import fleet
from lag.sweeps.fleet import Fleet
from lag.sweeps.plan import Failure, Plan, SweepRequest, parse_assignors, parse_failures, parse_member_counts

MEMBERS = "x0.5,x1,x1.5,x2"
"""The default of `groupscope sweep --members`."""
MAX_TEXT = 200
"""Characters of a field."""
FAILURES = [failure.value for failure in Failure if failure is not Failure.NONE]


@dataclass(frozen=True, slots=True)
class Choices:
    """What the form has. `groups` is a part of their names; `members` is in the notation of the command."""

    groups: str
    members: str
    assignors: Sequence[str]
    failures: Sequence[str]

    def request(self) -> SweepRequest:
        """The cases of each group. Raises ConfigError."""
        return SweepRequest(
            parse_assignors(self.assignors), parse_member_counts(self.members), parse_failures(self.failures)
        )


def panel(*, is_open: bool) -> None:
    """The progress of the running sweep, else why the last one has no result, and the form."""
    if runs.watch():
        return
    runs.last_words()
    label, key = "Run a sweep", f"sweep_form_{is_open}"
    box = st.expander(label, icon=":material/play_arrow:", expanded=is_open, key=key, on_change="rerun")
    if box.open:  # closed, its groups would be read with every change of the page
        with box:
            _form()


def _form() -> None:
    chosen, page = _choices(), state.shown()
    if page is not None:
        _run(page, chosen)
    else:
        st.markdown(f":gray[{text.NO_CLUSTER if state.cluster() is None else text.NO_POLL}]")
    st.markdown(text.LARGER)
    st.code(_command(chosen), language="bash", wrap_lines=True)
    if state_sweeps.root() is None:
        widgets.note(text.NO_HISTORY)


def _choices() -> Choices:
    groups, members, assignors, failures = st.columns([0.25, 0.2, 0.29, 0.26], gap="small")
    with groups:
        part = st.text_input("Groups whose name contains", key="run_groups", placeholder="all", max_chars=MAX_TEXT)
    with members:
        counts = st.text_input("Members", MEMBERS, key="run_members", help=text.MEMBERS_HELP, max_chars=MAX_TEXT)
    with assignors:
        names = st.multiselect("Assignors", list(BUILT_IN), key="run_assignors", placeholder="all that suit the group")
    with failures:
        label, words = "Failures to try", text.FAILURES.__getitem__
        failing = st.multiselect(label, FAILURES, key="run_failures", format_func=words, placeholder="none")
    return Choices(part.strip(), counts, names, failing)


def _run(page: Shown, chosen: Choices) -> None:
    """How large the sweep is, and the button that starts it; if it cannot run, why."""
    found = _fleet(page, chosen.groups)
    plan, refused = _plan(found, chosen)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        options = {"type": "primary", "icon": ":material/play_arrow:", "disabled": plan is None}
        clicked = widgets.clicked("Run", "sweep_run", **options)
        if plan is not None:
            limit = f"at most {MAX_CASES:,} cases and {formats.duration(DEADLINE_S)}"
            st.markdown(f"{text.size(plan)} :gray[· {limit}]", width="content")
    if clicked and plan is not None:
        refused = _start(plan, found.cluster)
    if refused is not None:
        widgets.line(":red", "error", formats.md(refused.cause), formats.md(refused.hint))
    for sentence in text.left_out(found):
        widgets.note(sentence)


@state.once_per_snapshot(max_entries=2)
def _fleet(page: Shown, groups: str) -> Fleet:
    return fleet.of_cluster(page.report.health, groups)


def _plan(found: Fleet, chosen: Choices) -> tuple[Plan | None, ConfigError | None]:
    try:
        return plan_of(found.scenarios, chosen.request()), None
    except ConfigError as error:
        return None, error


def _start(plan: Plan, cluster: str) -> ConfigError | None:
    """Start the run and draw the page again; the error if it cannot start."""
    try:
        runs.start(plan, cluster)
    except ConfigError as error:
        return error
    st.rerun()
    return None


def _command(chosen: Choices) -> str:
    """The command for all groups of the cluster, on Spark."""
    parts = state.connection_options() or ["--bootstrap-server", "HOST:9092"]
    parts += ["--observe", "60", "--runner", "spark", "--members", chosen.members]
    parts += [word for assignor in chosen.assignors for word in ("--assignor", assignor)]
    parts += [word for failure in chosen.failures for word in ("--failure", failure)]
    parts += ["--history", state_sweeps.root() or "PATH"]
    return f"groupscope sweep {shlex.join(parts)}"
