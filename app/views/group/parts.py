"""The pieces of the Group page."""

import streamlit as st

from app.ui import findings as advice_parts
from app.ui import formats, recordings, state, verdicts, widgets
from app.ui.charts import base, lag, limits
from app.views.group import charts as assignment
from app.views.group import state as cached
from app.views.group import tables, text
from app.views.group.tables import GroupView, Tile
from lag.generations.explanation import Verdict, Why
from lag.model import GroupType
from lag.verdict.health import Status

MOST_URGENT = 12
MOST_DIFFERENCES = 100
PROBE_UP_TO = 5
"""Markers take one or two offsets each: a lag that stays this small may be nothing but markers."""


# -- choosing a group --------------------------------------------------------------------------------------------------


def picker(page: state.Shown, chosen: str | None) -> None:
    """Switch to another group; the choice goes to the URL."""
    options = state.group_ids(page)
    if chosen is not None and chosen not in options:
        options = [chosen, *options]
    st.session_state["group_pick"] = chosen
    st.selectbox(
        "Group",
        options,
        key="group_pick",
        placeholder="Choose a group",
        label_visibility="collapsed",
        on_change=lambda: state.set_url("group", st.session_state["group_pick"]),
    )


def pick_one(page: state.Shown) -> None:
    """The page without a group: say what it is for, and offer the most urgent ones."""
    frame = state.group_table(page).frame
    frame = frame[~frame["hidden"]]
    if frame.empty:
        st.header("No consumer group yet", anchor=False)
        st.markdown("A group appears here when its first member joins or commits.")
        return
    st.header("Which group?", anchor=False)
    widgets.status_line("Members, partitions and assignment of one consumer group.", "")
    picker(page, None)
    widgets.titled("Most urgent")
    urgent = frame.head(MOST_URGENT)
    c = st.column_config
    go = widgets.open_on_click("open_urgent", list(urgent["group"]), "group", "group")
    widgets.table(
        urgent.assign(v=widgets.as_tags(urgent["verdict"]))[["group", "v", "lag", "why"]],
        key="urgent",
        alt="The most urgent groups with verdict, lag and reason",
        columns={
            "group": widgets.opener("Group", "open_urgent", 190, go),
            "v": widgets.verdict_column(),
            "lag": widgets.integer("Lag, records", 96),
            "why": c.TextColumn("Why", width=800),
        },
    )


def gone(page: state.Shown, group_id: str) -> None:
    """The URL names a group that this snapshot does not have."""
    st.header(f"{formats.code(group_id)} is not on this cluster", anchor=False)
    widgets.status_line("It was deleted, has expired, or the link is for another cluster.", "")
    picker(page, None)


# -- conclusion --------------------------------------------------------------------------------------------------------


def reason(view: GroupView) -> str:
    """Evidence and what to do; for a group that is well, what the verdict means."""
    finding = view.health.finding
    verdict = verdicts.VERDICTS[finding.status]
    said = finding.evidence or (view.group.problems[0].cause if view.group.problems else verdict.meaning)
    if finding.since_ms is not None:
        said += f", since {formats.clock(finding.since_ms, state.zone())}"
    advice = "" if finding.status == Status.OK else f" {verdict.advice}"
    return f"{formats.md((said[:1].upper() + said[1:]).rstrip('.'))}.{advice}"


def rule(view: GroupView) -> str:
    """The rule that fired, in small grey; empty for a group that is well."""
    said = "" if view.health.finding.status == Status.OK else view.health.finding.rule
    return f":small[:gray[Rule: {formats.md(said)}]]" if said else ""


def problems(view: GroupView) -> None:
    """What could not be read of this group, what is held by a transaction, and what is lost."""
    for p in view.group.problems:
        widgets.line(
            ":orange" if p.kind == "unauthorized" else ":red",
            "lock" if p.kind == "unauthorized" else "error",
            formats.md(p.cause),
            formats.md(p.hint),
        )
    if held := [row for row in view.lags if row.held_records]:
        n = sum(row.held_records for row in held)
        where = ", ".join(formats.code(str(row.tp)) for row in held[:3]) + (" …" if len(held) > 3 else "")
        widgets.line(
            ":orange",
            "lock_clock",
            f"{formats.plural(n, 'record')} held by an open transaction",
            f"on {where}: "
            "readers of committed data wait at the last stable offset until its producer commits or aborts",
        )
    if moving := view.reconciling():
        names = ", ".join(formats.code(view.names[m.member_id]) for m in moving[:3]) + (" …" if len(moving) > 3 else "")
        widgets.line(
            ":blue",
            "sync",
            f"{len(moving)} of {formats.plural(len(view.group.members), 'member')} reconciling",
            f"{names}: not yet at the target assignment of epoch {view.group.epoch}",
        )


# -- pictures ----------------------------------------------------------------------------------------------------------


def lag_by_partition(view: GroupView) -> None:
    """One bar per partition."""
    topics = view.topics
    what = formats.code(topics[0]) if len(topics) == 1 else _lettered(topics)
    more = (
        f", the {limits.BAR_PARTITIONS} with most lag of {len(view.lags):,}"
        if len(view.lags) > limits.BAR_PARTITIONS
        else ""
    )
    unknown = " · × unknown" if any(row.lag_records is None for row in view.lags) else ""
    widgets.titled("Lag by partition", f":gray[{what + more + unknown}]" if topics else "")
    if not view.lags:
        st.markdown(":gray[No partition.]")
        return
    tps, lags = [row.tp for row in view.lags], [row.lag_records for row in view.lags]
    bad = [verdicts.needs_attention(h.finding.status) for h in view.healths]
    said, _ = lag.concentration(tps, lags)
    alt = (
        f"Partitions {said}"
        if said
        else f"Lag of {formats.plural(len(tps), 'partition')}, at most {formats.count(max((v or 0) for v in lags))}"
    )
    fig = lag.by_partition(tps, lags, bad, state.palette())
    st.plotly_chart(fig, theme=None, config=widgets.PLOTLY, key="lag_by_partition", alt=alt)


def _lettered(topics: list[str]) -> str:
    """The letters that stand for topics in the pictures, as a legend of at most six; empty for one topic."""
    letters = base.letters(topics)
    named = [f"**{letter}** {formats.code(topic)}" for topic, letter in list(letters.items())[:6]]
    more = [f"and {len(topics) - 6} more topics"] if len(topics) > 6 else []
    return "\u2003".join([*named, *more])


def who_owns_what(view: GroupView) -> None:
    """The assignment: tiles, or counts where tiles would be too many."""
    lanes, colours = tables.lanes(view), state.palette()
    is_share = view.group.type == GroupType.SHARE
    if not view.group.members:
        widgets.titled("Who owns what")
        st.markdown(":gray[Nobody: the group has no member.]")
        return
    shared = "\u2003:gray[share group: members may read the same partition]" if is_share else ""
    kinds = [kind for kind in Tile if any(kind == its for mine in lanes.values() for _, its in mine)]
    look = assignment.styles(colours)
    legend = widgets.swatches(
        ("□" if look[k].outline else "■", look[k].outline or look[k].fill, assignment.WORDS[k]) for k in kinds
    )
    owned = sum(len(mine) for mine in lanes.values())
    idle = len(view.idle_members())
    alt = f"{formats.plural(len(view.group.members), 'member')} own {formats.plural(owned, 'partition')}" + (
        f", {idle} own none" if idle else ""
    )
    if limits.assignment(len(lanes), owned, max(map(len, lanes.values()), default=0)) == limits.Encoding.TILES:
        named = "\u2003" + _lettered(sorted({tp.topic for mine in lanes.values() for tp, _ in mine}))
        widgets.titled("Who owns what", legend + named + shared)
        st.plotly_chart(
            assignment.tiles(lanes, idle_note(view), colours), theme=None, config=widgets.PLOTLY, key="owners", alt=alt
        )
    else:
        widgets.titled("Who owns what", ":gray[partitions per member and topic]")
        st.plotly_chart(assignment.matrix(lanes, colours), theme=None, config=widgets.PLOTLY, key="owners", alt=alt)


MARKS = {
    Verdict.SAME: (":green", "check_circle"),
    Verdict.DIFFERS: (":orange", "rule"),
    Verdict.CANNOT: (":gray", "help"),
}


def why_it_is_so(page: state.Shown, view: GroupView) -> None:
    """Whether the group's assignor, run again, gives this assignment; when not, where, and the likely reason."""
    found = cached.why_it_is_so(page, view.group.group_id)
    if found is None or not view.group.members:
        return
    colour, icon = MARKS[found.verdict]
    widgets.line(colour, icon, "Why is it so", formats.md(found.sentence))
    for note in (*found.reasons, text.now_and_fresh(found)):
        widgets.note(formats.md(note))
    if found.differences:
        _differences(found, view)


def _differences(found: Why, view: GroupView) -> None:
    frame = tables.differences(found.differences[:MOST_DIFFERENCES], view.names)
    c = st.column_config
    widgets.table(
        frame,
        key="differences",
        most=6,
        alt="Partitions that the assignor, run again, would assign otherwise: who has each, and who would",
        columns={
            "topic": c.TextColumn("Topic", width=140),
            "partition": c.NumberColumn("Partition", width=72),
            "has": c.TextColumn("Has it", width=140),
            "would": c.TextColumn("Would have it", width=140),
        },
    )
    if len(found.differences) > len(frame):
        widgets.note(f"The first {len(frame)} of {formats.plural(len(found.differences), 'difference')}.")


def advice(page: state.Shown, view: GroupView) -> None:
    """What follows from the members and partitions of the group, and from what its records say."""
    recording = recordings.recording(page, view.group.group_id)
    findings = text.advice(view, {} if recording is None else recording.timeouts)
    if findings:
        widgets.titled("Advice")
    for finding in findings:
        advice_parts.finding(finding, "now")


_ELSEWHERE = (
    ("What if…", "alt_route", "whatif"),
    ("Generations", "timeline", "generations"),
    ("History", "history", "history"),
)


def actions(chosen: str) -> None:
    """Open this group in What if, its generations, or its history."""
    with st.container(horizontal=True, gap="small"):
        for label, icon, target in _ELSEWHERE:
            if st.button(label, icon=f":material/{icon}:", type="tertiary", key=f"group_to_{target}"):
                widgets.go(target, {"group": chosen})


def idle_note(view: GroupView) -> str:
    """Why a member has no partition."""
    if len(view.group.members) > len(view.lags):
        return f"{len(view.group.members)} members, {formats.plural(len(view.lags), 'partition')}"
    return "no partition now"
