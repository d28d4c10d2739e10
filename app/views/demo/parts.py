"""The demo panel: buttons that act on the real workload, and what each case should look like."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from app.server import source
from app.server.access.visible import VisibleControls
from app.ui import formats, state, widgets
from app.ui.groups import predictions
from assignors.whatif.events import AddPartitions, Crash
from assignors.whatif.suggested_joins import suggested_joins, usual_topics
from lag.embedded.workload import PLAYABLE_TOPICS, Controls, Running, describe
from lag.errors import EmbeddedError
from lag.verdict.catalogue import VERDICTS

BURSTS = (1_000, 10_000, 100_000)
_ANSWERS = "_demo_said"
_KEPT = 3


def _controls() -> Controls | VisibleControls:
    controls = source.current().demo
    if controls is None:
        raise EmbeddedError("There is no demo workload", "Start one with `groupscope up`.")
    return controls


# -- what happened -----------------------------------------------------------------------------------------------------


def act(name: str, action: Callable[[], str]) -> None:
    """Run the action, keep its answer, and poll the cluster at once."""
    try:
        sentence, failed = action(), False
    except EmbeddedError as error:
        sentence, failed = str(error), True
    kept = st.session_state.setdefault(_ANSWERS, [])
    kept.insert(0, (state.now_ms(), name, sentence, failed))
    del kept[_KEPT:]
    if (feed := state.feed()) is not None:
        feed.poll_now()


def answers() -> None:
    """The last few sentences, newest first."""
    for at_ms, name, sentence, failed in st.session_state.get(_ANSWERS, []):
        colour, icon = (":red", "error") if failed else (":green", "check")
        when = formats.clock(at_ms, state.zone())
        widgets.line(colour, icon, f"{when} {name}", formats.md(sentence))


def readiness() -> None:
    """Whether every case is set up."""
    try:
        how = _controls().readiness()
    except EmbeddedError as error:
        widgets.line(":red", "error", "The workload does not answer", formats.md(str(error)))
        return
    if how.failure:
        widgets.line(":red", "error", "The workload could not be set up", formats.md(how.failure))
    elif not how.ready:
        waiting = ", ".join(map(formats.code, how.waiting)) or "the first records"
        widgets.line(":blue", "hourglass_top", "The workload is starting", f"waiting for {waiting}")


def running() -> Running | None:
    """The groups, members and topics to act on; None while the workload does not answer (`readiness` says so)."""
    try:
        return _controls().running()
    except EmbeddedError:
        return None


# -- buttons -----------------------------------------------------------------------------------------------------------


def _button(label: str, icon: str, help_: str, action: Callable[[], str], disabled: bool = False) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        help=help_,
        on_click=act,
        args=(label, action),
        disabled=disabled,
        key=f"demo_{label}",
    )


def member_actions(running: Running) -> None:
    """Groups and their members."""
    with st.container(border=True):
        widgets.titled("Groups and members")
        group = st.selectbox("Group", running.groups, key="demo_group") or ""
        with st.container(horizontal=True, gap="small"):
            _button("Add a member", "person_add", "The group rebalances", lambda: _add_member(group))
            stays = "The members stay in the group, but read nothing"
            _button("Stop consuming", "pause_circle", stays, lambda: _controls().stop_consuming(group))
            _button("Resume", "play_circle", "The members read again", lambda: _controls().resume_consuming(group))
        names = [m.name for m in running.members if m.group_id == group]
        states = {m.name: m.state for m in running.members}
        chosen = st.selectbox(
            "Member", names, key="demo_member", format_func=lambda n: f"{n} ({states.get(n, 'gone')})"
        )
        none, member = chosen is None, chosen or ""
        with st.container(horizontal=True, gap="small"):
            killed, frozen = "SIGKILL: it does not leave the group", "SIGSTOP: no poll, no heartbeat"
            _button("Kill", "skull", killed, lambda: _kill(group, member), none)
            _button("Freeze", "ac_unit", frozen, lambda: _controls().freeze_member(member), none)
            _button("Thaw", "local_fire_department", "SIGCONT", lambda: _controls().thaw_member(member), none)


def _add_member(group: str) -> str:
    predictions.keep_action(group, lambda its: suggested_joins(its, 1, usual_topics(its.members), None))
    return _controls().add_member(group)


def _kill(group: str, member: str) -> str:
    predictions.keep_action(group, lambda its: [Crash(m.member_id) for m in its.members if m.client_id == member])
    return _controls().kill_member(member)


def _add_partitions(topic: str, count: int) -> str:
    page = state.shown()
    for group in page.report.snapshot.groups if page is not None else ():
        if any(topic in member.topics for member in group.members):
            predictions.keep_action(
                group.group_id, lambda its: [AddPartitions(topic, its.topics[topic].partitions + count)]
            )
    return _controls().add_partitions(topic, count)


def topic_actions(running: Running) -> None:
    """Topics and transactions."""
    with st.container(border=True):
        widgets.titled("Topics")
        rates = {
            t.name: f"{t.name} ({formats.plural(t.partitions, 'partition')}, {t.rate_per_s:g} records/s)"
            for t in running.topics
        }
        topic = st.selectbox("Topic", list(rates), key="demo_topic", format_func=lambda t: rates.get(t, t)) or ""
        with st.container(horizontal=True, gap="small"):
            for records in BURSTS:
                label = f"+ {formats.count(records)} records"
                _button(label, "bolt", "Produces them at once", lambda n=records: _controls().burst(topic, n))  # type: ignore[misc]
        held = topic in running.transactions
        with st.container(horizontal=True, gap="small"):
            opens = "Opens a transaction on the topic and leaves it open"
            _button("Hold a transaction", "lock_clock", opens, lambda: _controls().open_transaction(topic), held)
            _button("Commit it", "check", "", lambda: _controls().commit_transaction(topic), not held)
            _button("Abort it", "close", "", lambda: _controls().abort_transaction(topic), not held)
        with st.container(horizontal=True, gap="small"):
            _button("Add 2 partitions", "add", "Its groups rebalance", lambda: _add_partitions(topic, 2))
            _button("Delete the topic", "delete", "Cannot be undone", lambda: _controls().delete_topic(topic))


# -- cases -------------------------------------------------------------------------------------------------------------


def cases(page: state.Shown, running: Running | None) -> pd.DataFrame:
    """One row per case of a group that the visitor may see: what you should see now, and what is seen."""
    health, its = page.report.health, source.current()
    deleted = PLAYABLE_TOPICS - {topic.name for topic in running.topics} if running is not None else ()
    rows = []
    for case in describe(deleted):
        if not its.sees(page.cluster, case.group_id):
            continue
        now = health.group(case.group_id)
        seen = VERDICTS[now.finding.status].label if now else None
        should = VERDICTS[case.status].label
        rows.append((case.group_id, case.title, case.shown, should, seen, seen == should))
    return pd.DataFrame(rows, columns=["group", "title", "shown", "should", "seen", "agrees"])


def conclusion(cases: pd.DataFrame) -> str:
    """ "20 of 21 demo groups have the expected verdict"."""
    return f"{int(cases['agrees'].sum())} of {len(cases)} demo groups have the expected verdict"


def table(cases: pd.DataFrame) -> None:
    """The cases; a click opens the group."""
    widgets.titled("Cases", ":gray[what each group demonstrates; some verdicts need a minute of polls]")
    view = cases.assign(s=widgets.as_tags(cases["should"]), n=widgets.as_tags(cases["seen"]))
    c = st.column_config
    widgets.table(
        view[["group", "s", "n", "title", "shown"]],
        key="cases",
        most=24,
        alt="Cases of the demo: the expected and the current verdict of each group",
        columns={
            "group": widgets.page_opener("Group", "open_case", 170, cases["group"], "group", "group"),
            "title": c.TextColumn("Case", width=230),
            "s": widgets.verdict_column(126, "Expected"),
            "n": widgets.verdict_column(126, "Current"),
            "shown": c.TextColumn("Description", width=644),
        },
    )
