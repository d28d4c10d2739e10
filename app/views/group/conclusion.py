"""The top of the Group page: the choice of a group, its verdict and its problems."""

import streamlit as st

from app.ui import formats, required_report, state, widgets
from app.ui.groups import headlines
from app.ui.groups.headlines import SOURCES, clock
from app.views.group.view import GroupView
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import Status

MOST_URGENT = 12
LINKS = (
    ("What if…", "alt_route", "whatif"),
    ("Generations", "timeline", "generations"),
    ("History", "history", "history"),
    ("Reset…", "restart_alt", "reset"),
)


def picker(page: state.Shown, chosen: str | None) -> None:
    """Selects another group, in the URL."""
    widgets.picker(
        "Group",
        state.group_ids(page),
        chosen,
        "group_pick",
        lambda group: state.set_url("group", group),
        placeholder="Choose a group",
    )


def pick_one(page: state.Shown) -> None:
    """The page without a group: a choice, with the most urgent groups."""
    frame = state.group_table(page).frame
    frame = frame[~frame["hidden"]]
    if frame.empty:
        st.title("No consumer group yet", anchor=False)
        st.markdown("A group appears here when its first member joins or commits.")
        return
    st.title("Which group?", anchor=False)
    required_report.status_line("Choose a consumer group to see its members, partitions and assignment.", "")
    picker(page, None)
    widgets.titled("Most urgent")
    urgent = frame.head(MOST_URGENT)
    c = st.column_config
    widgets.table(
        urgent.assign(v=widgets.as_tags(urgent["verdict"]))[["group", "v", "lag", "why"]],
        key="urgent",
        alt="The most urgent groups: verdict, lag, reason",
        columns={
            "group": widgets.page_opener("Group", "open_urgent", 158, urgent["group"], "group", "group"),
            "v": widgets.verdict_column(124),
            "lag": widgets.integer("Lag", 78, "Records behind, summed over the partitions with a known lag"),
            "why": c.TextColumn("Why", width=800),
        },
    )


def not_found(page: state.Shown, group_id: str) -> None:
    """The group of the URL is not in the snapshot."""
    st.title(headlines.not_found(group_id), anchor=False)
    required_report.status_line(headlines.NOT_FOUND, "")
    picker(page, None)


def links(chosen: str) -> None:
    """Buttons that open the group on other pages."""
    with st.container(horizontal=True, gap="small"):
        for label, icon, target in LINKS:
            widgets.page_button(
                label, target, lambda: {"group": chosen}, icon=f":material/{icon}:", key=f"group_to_{target}"
            )


def reason(view: GroupView) -> str:
    """The evidence; without any the meaning of the verdict."""
    finding = view.health.finding
    verdict = VERDICTS[finding.status]
    evidence = finding.evidence or (view.group.problems[0].cause if view.group.problems else verdict.meaning)
    if finding.onset is not None:
        evidence += f", since {clock(finding.onset, view.group.at_ms, state.zone())}"
    return f"{formats.md((evidence[:1].upper() + evidence[1:]).rstrip('.'))}."


def rule(view: GroupView) -> str:
    """The rule of the verdict and where its onset was read, small and grey; empty for OK."""
    finding = view.health.finding
    if not finding.rule or finding.status is Status.OK:
        return ""
    source = "" if finding.onset is None else f". The time comes {SOURCES[finding.onset.source]}."
    return f":small[:gray[Rule: {formats.md(finding.rule)}{source}]]"


def problems(view: GroupView) -> None:
    """What could not be read, what an open transaction holds back, and which members are reconciling."""
    for p in view.group.problems:
        colour, icon = (":orange", "lock") if p.is_refusal else (":red", "error")
        widgets.line(colour, icon, formats.md(p.cause), formats.md(p.hint))
    if held := [row for row in view.lags if row.held_records]:
        n = sum(row.held_records for row in held)
        head = f"{formats.plural(n, 'record')} held by an open transaction"
        where = formats.few([formats.code(str(row.tp)) for row in held], 3)
        rest = f"on {where}: read_committed consumers cannot read them until it commits or aborts"
        widgets.line(":orange", "lock_clock", head, rest)
    if moving := view.reconciling():
        head = f"{len(moving)} of {formats.plural(len(view.group.members), 'member')} reconciling"
        names = formats.few([formats.code(view.names[m.member_id]) for m in moving], 3)
        widgets.line(
            ":blue", "sync", head, f"{names}: still moving to the target assignment of epoch {view.group.epoch}"
        )
