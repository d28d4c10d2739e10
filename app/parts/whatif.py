"""The pieces of the What-if page: where it starts, what happens, the assignors side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import streamlit as st

from app import drafts, formats, sentences_whatif, state, state_whatif, widgets
from app.drafts import Draft
from app.tables import whatif as tables
from app.tables.whatif import Outcome
from assignors.events import (
    Action,
    AddPartitions,
    ChangeRack,
    Crash,
    CreateTopic,
    DeleteTopic,
    Leave,
    Restart,
    Subscribe,
    UseAssignor,
)
from assignors.model import Topic
from assignors.scenario import ScenarioError, examples
from lag.changes import changes
from lag.live import revision

MOST_UPLOAD_MB = 2
MOST_OPTIONS = 5_000
LISTED_EVENTS = 8
OPTIONAL = ("unassigned", "drains", "together", "racks", "hottest_lag", "hottest_rate", "hottest_weight")
"""Columns that are there when they say something."""
MOST_AT_A_TIME = 4
"""Plugins run in processes of their own: they are waited for together."""
LIVE, EXAMPLE, FILE = "Live group", "Example", "File"
_WRONG = "_upload_wrong"


# -- where it starts ---------------------------------------------------------------------------------------------------


def source(page: state.Shown | None, its: Draft | None) -> None:
    """Choose a live group, a bundled example or a file."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        kinds = [LIVE, EXAMPLE, FILE]
        st.session_state.setdefault("source_kind", _kind(its))
        kind = st.segmented_control("Start from", kinds, key="source_kind", label_visibility="collapsed")
        {LIVE: _live, EXAMPLE: _example, FILE: _file}[kind or LIVE](page, its)


def _kind(its: Draft | None) -> str:
    if its is None or its.group_id is not None:
        return LIVE
    return EXAMPLE if its.key.startswith("example:") else FILE


def _live(page: state.Shown | None, its: Draft | None) -> None:
    frame = None if page is None else state.overview(page).frame
    options = [] if frame is None else sorted(frame["group"][~frame["hidden"]].head(MOST_OPTIONS))
    chosen = its.group_id if its and its.group_id in options else None
    st.session_state["whatif_group"] = chosen
    st.selectbox(
        "Group",
        options,
        key="whatif_group",
        placeholder="Choose a group" if options else "No group is known yet",
        label_visibility="collapsed",
        width=300,
        on_change=lambda: state_whatif.start(group=st.session_state["whatif_group"] or ""),
    )


def _example(page: state.Shown | None, its: Draft | None) -> None:
    named = its.key.removeprefix("example:") if its and its.key.startswith("example:") else None
    st.session_state["whatif_example"] = named
    st.selectbox(
        "Example",
        list(examples()),
        key="whatif_example",
        placeholder="Choose an example",
        format_func=lambda name: name.replace("-", " ").replace("_", " "),
        label_visibility="collapsed",
        width=300,
        on_change=lambda: state_whatif.start(example=st.session_state["whatif_example"] or ""),
    )


def _file(page: state.Shown | None, its: Draft | None) -> None:
    st.file_uploader(
        "Scenario file",
        type=["yaml", "yml", "json"],
        max_upload_size=MOST_UPLOAD_MB,
        key="whatif_file",
        label_visibility="collapsed",
        width=420,
        on_change=_upload,
    )


def _upload() -> None:
    sent = st.session_state["whatif_file"]
    st.session_state.pop(_WRONG, None)
    if sent is None:
        return
    try:
        state_whatif.start_from_file(sent.getvalue(), sent.name)
    except ScenarioError as error:
        st.session_state[_WRONG] = (sent.name, error.problems)


def upload_problems() -> None:
    """What is wrong with the file last uploaded, line by line; what was there before it stays."""
    if (wrong := st.session_state.get(_WRONG)) is None:
        return
    name, problems = wrong
    with st.container(gap="xxsmall"):
        widgets.line(
            ":red", "error", f"{formats.md(name)} was not taken", f"{formats.plural(len(problems), 'problem')}"
        )
        for problem in problems:
            where = f"line {problem.line}" if problem.line else "file"
            path = f" {formats.code(problem.path)}" if problem.path else ""
            st.markdown(f":small[**{where}**{path} {formats.md(problem.message)}]")


def nothing_chosen() -> None:
    """The page without a start: what it is for."""
    st.header("What moves, who idles, how fast does the lag drain?", anchor=False)
    st.markdown(
        "Choose a live group, an example or a scenario file, then add what happens: members join or leave, a topic "
        "grows, another assignor is used. Every assignor of Kafka is run on it, with Kafka's own results."
    )


# -- notes -------------------------------------------------------------------------------------------------------------


def notes(page: state.Shown | None, its: Draft) -> None:
    """What is estimated or unknown, and whether the live group is still what this began with."""
    if page is not None and its.group_id is not None:
        _changed(page, its)
    if its.notes:
        said = " ".join(formats.md(note) for note in its.notes)
        st.markdown(f":small[:gray[{said}]]")


def _changed(page: state.Shown, its: Draft) -> None:
    group = page.report.snapshot.group(its.group_id or "")
    if group is None:
        widgets.line(":orange", "sync_problem", f"{formats.code(its.group_id or '')} is gone", "this is how it was")
        return
    if its.revision is not None and its.revision == revision(group):
        return
    different = changes(its.scenario, group, page.report.snapshot.topics)
    if not different:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        said = "; ".join(map(formats.md, different[:3])) + (" …" if len(different) > 3 else "")
        st.markdown(
            f":small[:orange[:material/sync_problem: The group has changed since this what-if began:] {said}]",
            width="content",
        )
        again = f"Start again from {its.group_id} as it is now"
        st.button("Start again", type="tertiary", icon=":material/refresh:", help=again, on_click=_again, args=(its,))


def _again(its: Draft) -> None:
    state_whatif.start(group=its.group_id or "")


# -- what happens ------------------------------------------------------------------------------------------------------


def editor(its: Draft) -> None:
    """The events so far, with undo, and a line to add one."""
    events = its.scenario.events
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("What happens", f":gray[{formats.plural(len(events), 'event')}]" if events else "")
        st.space("stretch")
        _icon("Undo", "undo", bool(its.past), lambda: state_whatif.edit(its.undo()))
        _icon("Redo", "redo", bool(its.undone), lambda: state_whatif.edit(its.redo()))
        _icon("Clear", "delete_sweep", bool(events), lambda: state_whatif.edit(its.with_events(())))
    _add(its)
    _listed(its)


def _icon(label: str, icon: str, enabled: bool, action: Callable[[], None]) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        type="tertiary",
        disabled=not enabled,
        on_click=action,
        key=f"whatif_{label}",
    )


def _listed(its: Draft) -> None:
    events = its.scenario.events
    if not events:
        st.markdown(":small[:gray[Nothing yet: the group stays as it is.]]")
    first = max(0, len(events) - LISTED_EVENTS)
    if first:
        st.markdown(f":small[:gray[{formats.plural(first, 'earlier event')}, all of them in the file]]")
    with st.container(gap=None):
        for at in range(first, len(events)):
            _event(its, at)


def _event(its: Draft, at: int) -> None:
    happens = its.scenario.events[at]
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        said = sentences_whatif.event(happens, its.scenario)
        st.markdown(f":small[:gray[{formats.duration(happens.at_ms / 1000)}] {said}]", width="content")
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            help="Take this event out",
            key=f"whatif_drop_{at}",
            on_click=lambda: state_whatif.edit(its.without(at)),
        )


def _add(its: Draft) -> None:
    if len(its.scenario.events) >= drafts.MOST_EVENTS:
        widgets.note(f"{drafts.MOST_EVENTS:,} events are as many as a scenario can have.")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        what = st.selectbox("Event", list(FORMS), key="whatif_what", width=190)
        made = FORMS[what](its)
        st.button(
            "Add",
            icon=":material/add:",
            disabled=made is None,
            key="whatif_add",
            on_click=lambda: state_whatif.edit(its.then(made or ())),
        )


Made = Sequence[Action] | None


def _joins(its: Draft) -> Made:
    known = sorted(its.scenario.topics)
    usual = [topic for topic in drafts.usual_topics(drafts.everybody(its.scenario)) if topic in known] or known[:1]
    count = st.number_input("How many", 1, drafts.MOST_AT_ONCE, 1, key="whatif_count", width=90)
    topics = st.multiselect("Subscribed to", known, default=usual, key=f"whatif_topics_{its.key}", width=240)
    racks = sorted({member.rack for member in its.scenario.members if member.rack})
    rack = st.selectbox("Rack", racks, index=None, key="whatif_rack", width=120) if racks else None
    return drafts.newcomers(its.scenario, int(count), tuple(topics), rack)


def _member(its: Draft) -> str | None:
    names = {member.member_id: drafts.name_of(member) for member in drafts.everybody(its.scenario)[:MOST_OPTIONS]}
    chosen: str | None = st.selectbox(
        "Member", list(names), key="whatif_member", width=240, format_func=lambda member: names.get(member, member)
    )
    return chosen


def _topic(its: Draft) -> str | None:
    chosen: str | None = st.selectbox("Topic", sorted(its.scenario.topics), key="whatif_topic", width=240)
    return chosen


def _of_member(action: Callable[[str], Action]) -> Callable[[Draft], Made]:
    def form(its: Draft) -> Made:
        member = _member(its)
        return None if member is None else [action(member)]

    return form


def _grows(its: Draft) -> Made:
    topic = _topic(its)
    if topic is None:
        return None
    now = its.scenario.topics[topic].partitions
    count = st.number_input("To partitions", now + 1, 100_000, now + 1, key=f"whatif_grow_{topic}", width=130)
    return [AddPartitions(topic, int(count))]


def _subscribes(its: Draft) -> Made:
    member = _member(its)
    topics = st.multiselect("To", sorted(its.scenario.topics), key="whatif_subscribe", width=240)
    return None if member is None else [Subscribe(member, tuple(topics))]


def _moves_rack(its: Draft) -> Made:
    member = _member(its)
    rack = st.text_input("Rack", key="whatif_new_rack", width=120, max_chars=80)
    return None if member is None else [ChangeRack(member, rack or None)]


def _switches(its: Draft) -> Made:
    names = [name for name in state_whatif.candidates(its.scenario) if ":" not in name]
    chosen = st.selectbox("Assignor", names, key="whatif_assignor", width=190)
    return [UseAssignor(chosen)]


def _creates(its: Draft) -> Made:
    name = st.text_input("Topic", key="whatif_created", width=190, max_chars=249)
    count = st.number_input("Partitions", 1, 100_000, 12, key="whatif_created_size", width=110)
    return [CreateTopic(Topic(name, int(count)))] if name and name not in its.scenario.topics else None


def _deletes(its: Draft) -> Made:
    topic = _topic(its)
    return None if topic is None else [DeleteTopic(topic)]


FORMS: dict[str, Callable[[Draft], Made]] = {
    "Members join": _joins,
    "A member leaves": _of_member(Leave),
    "A member crashes": _of_member(Crash),
    "A member restarts": _of_member(Restart),
    "A topic grows": _grows,
    "The assignor changes": _switches,
    "A subscription changes": _subscribes,
    "A rack changes": _moves_rack,
    "A topic is created": _creates,
    "A topic is deleted": _deletes,
}


def capacity(its: Draft) -> None:
    """How much a member can process: the drain times depend on it."""
    st.number_input(
        "A member can process, records/s",
        min_value=0.0,
        value=its.scenario.loads.default_capacity_per_s,
        placeholder="unknown",
        step=None,
        key=f"whatif_capacity_{its.key}",
        width=240,
        help="Drain times are lag / (capacity - produced), the slowest member's. Of a live group this begins as the "
        "highest rate at which a member was seen to commit; it may be able to do more.",
        on_change=lambda: state_whatif.edit(its.with_capacity(st.session_state[f"whatif_capacity_{its.key}"])),
    )


# -- outcomes ----------------------------------------------------------------------------------------------------------


def outcomes(its: Draft) -> list[Outcome]:
    """What each assignor makes of it."""
    with st.spinner("Running the assignors", show_time=True), ThreadPoolExecutor(MOST_AT_A_TIME) as pool:
        return list(pool.map(partial(state_whatif.outcome, its), state_whatif.candidates(its.scenario)))


def side_by_side(found: Sequence[Outcome], its: Draft) -> None:
    """All assignors in one table."""
    own = its.scenario.assignor
    frame = tables.compare(found, drafts.display_names(drafts.everybody(its.scenario)))
    widgets.titled(
        "Assignors side by side", f":gray[from the start to the end; {formats.code(own)} is the group's own]"
    )
    shown = [column for column in OPTIONAL if column in frame and any(map(bool, frame[column].dropna()))]
    notes = ["note"] if any(frame["note"]) else []
    columns = ["assignor", "moved", "paused", "rebalances", "idle", "each", *shown, "stayed", *notes]
    c = st.column_config
    st.dataframe(
        frame[columns],
        key="side_by_side",
        hide_index=True,
        row_height=widgets.ROW_PX,
        height=widgets.height(len(frame)),
        placeholder=formats.DASH,
        alt=sentences_whatif.table(frame),
        column_config={
            "assignor": c.TextColumn("Assignor", width=128, pinned=True),
            "moved": widgets.integer("Moved", 60, "Partitions that a member gave up, once for each time"),
            "stayed": widgets.integer(
                "Stayed", 66, "Partitions that are with the same member at the end as at the start"
            ),
            "paused": widgets.integer(
                "Paused", 62, "Partitions that stopped, once for each rebalance in which they did"
            ),
            "rebalances": widgets.integer("Rebalances", 80),
            "idle": widgets.integer("Idle", 44, "Members without a partition at the end"),
            "unassigned": widgets.integer("No owner", 74),
            "each": c.TextColumn("Each has", width=72, help="Fewest and most partitions of a member"),
            "together": c.TextColumn(
                "Together", width=84, help="Topics of equal size whose partitions of one number sit at one member"
            ),
            "racks": c.TextColumn("Rack hits", width=90, help="Partitions with a replica in their member's rack"),
            "hottest_lag": c.TextColumn(
                "Hottest by lag", width=128, help="Most lag of a member, as a multiple of the mean"
            ),
            "hottest_rate": c.TextColumn(
                "Hottest by rate", width=128, help="Most records produced for a member, as a multiple of the mean"
            ),
            "hottest_weight": c.TextColumn(
                "Hottest by weight", width=128, help="Most weight of a member, as a multiple of the mean"
            ),
            "drains": c.TextColumn("Drains in", width=76, help="When the slowest member has worked off its lag"),
            "note": c.TextColumn("Note", width=420),
        },
    )


def pick(found: Sequence[Outcome], own: str) -> Outcome:
    """Choose whose movement is shown below; in the URL as `assignor`."""
    names = [outcome.assignor for outcome in found]
    asked = state.url("assignor")
    st.session_state["whatif_pick"] = asked if asked in names else own
    st.pills(
        "Show",
        names,
        key="whatif_pick",
        format_func=tables.short,
        label_visibility="collapsed",
        on_change=lambda: state.set_url("assignor", st.session_state["whatif_pick"]),
        wrap=False,
    )
    chosen = st.session_state["whatif_pick"] or own
    return next(outcome for outcome in found if outcome.assignor == chosen)


def share(its: Draft) -> None:
    """The scenario as a file, and as a link when it is small."""
    from assignors.scenario import dump

    with st.popover("Share", icon=":material/share:", type="tertiary"):
        st.download_button(
            "Scenario file",
            lambda: dump(its.scenario).encode(),
            "scenario.yaml",
            "application/yaml",
            icon=":material/download:",
            on_click="ignore",
            key="whatif_download",
        )
        if state.url("scenario") or state.url("example"):
            st.markdown(":small[The address of this page holds the whole scenario: copy it.]")
        else:
            st.markdown(":small[Too large for a link: send the file. Events and members travel with it.]")
