"""The form that runs a sweep over the live groups of the cluster, and the command for a larger one."""

import shlex

import streamlit as st

from app.server import source
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
_FAILURES = [failure.value for failure in Failure if failure is not Failure.NONE]


def panel(*, is_open: bool) -> None:
    """The progress of the running sweep, else why the last one has no result, and the form."""
    if runs.watch():
        return
    runs.last_words()
    box = st.expander(
        "Run a sweep",
        icon=":material/play_arrow:",
        expanded=is_open,
        key=f"sweep_form_{is_open}",
        on_change="rerun",
    )
    if box.open:  # closed, its groups would be read with every change of the page
        with box:
            _form()


def _form() -> None:
    page = state.shown()
    columns = st.columns([0.27, 0.21, 0.29, 0.23], gap="small")
    with columns[0]:
        filter_text = st.text_input(
            "Groups whose name contains", key="run_groups", placeholder="all groups", max_chars=MAX_TEXT
        )
    with columns[1]:
        members = st.text_input("Members", MEMBERS, key="run_members", help=text.MEMBERS_HELP, max_chars=MAX_TEXT)
    with columns[2]:
        assignors = st.multiselect(
            "Assignors", list(BUILT_IN), key="run_assignors", placeholder="all that suit the group"
        )
    with columns[3]:
        failures = st.multiselect(
            "Also after", _FAILURES, key="run_failures", format_func=text.FAILURES.__getitem__, placeholder="no failure"
        )
    if page is None:
        st.markdown(f":gray[{text.NO_CLUSTER if state.cluster() is None else text.NO_POLL}]")
    else:
        _run(page, filter_text, members, assignors, failures)
    st.markdown(text.LARGER)
    st.code(_command(members, assignors, failures), language="bash", wrap_lines=True)
    if state_sweeps.root() is None:
        widgets.note(text.NO_HISTORY)


def _run(page: Shown, filter_text: str, members: str, assignors: list[str], failures: list[str]) -> None:
    """How large the sweep is, and the button that starts it; what is wrong with the request instead."""
    found = _fleet(page, filter_text.strip())
    plan, refused = _plan(found, members, assignors, failures)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        clicked = st.button("Run", type="primary", icon=":material/play_arrow:", key="sweep_run", disabled=plan is None)
        limit = f"at most {MAX_CASES:,} cases and {formats.duration(DEADLINE_S)}"
        if plan is not None:
            st.markdown(f"{text.size(plan)} :gray[· {limit}]", width="content")
    if clicked and plan is not None:
        try:
            runs.start(plan, found.cluster)
        except ConfigError as error:
            refused = error
        else:
            st.rerun()
    if refused is not None:
        widgets.line(":red", "error", formats.md(refused.cause), formats.md(refused.hint))
    for sentence in text.left_out(found):
        widgets.note(sentence)


@state.once_per_snapshot(max_entries=2)
def _fleet(page: Shown, filter_text: str) -> Fleet:
    return fleet.of_cluster(page.report.health, filter_text)


def _plan(
    found: Fleet, members: str, assignors: list[str], failures: list[str]
) -> tuple[Plan | None, ConfigError | None]:
    try:
        request = SweepRequest(parse_assignors(assignors), parse_member_counts(members), parse_failures(failures))
        return plan_of(found.scenarios, request), None
    except ConfigError as error:
        return None, error


def _command(members: str, assignors: list[str], failures: list[str]) -> str:
    """The command for all groups of the cluster, on Spark."""
    name, clusters = state.cluster(), source.current().settings.clusters
    cluster = next((one for one in clusters if one.name == name), None)
    parts = ["--bootstrap-server", cluster.bootstrap_servers if cluster else "HOST:9092"]
    parts += ["--config", str(cluster.config)] if cluster and cluster.config else []
    parts += ["--observe", "60", "--runner", "spark", "--members", members]
    parts += [word for name in assignors for word in ("--assignor", name)]
    parts += [word for name in failures for word in ("--failure", name)]
    parts += ["--history", state_sweeps.root() or "PATH"]
    return f"groupscope sweep {shlex.join(parts)}"
