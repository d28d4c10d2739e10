"""The events of a what-if with undo, a form to add events, and the capacity of a member."""

import re
from collections.abc import Callable, Sequence

import streamlit as st

from app.ui import formats, widgets
from app.ui.groups.member_names import member_names
from app.ui.scenario import draft, draft_state
from app.ui.scenario.draft import Draft
from app.ui.table_limits import MAX_OPTIONS
from app.views.whatif import text
from assignors.model import Topic
from assignors.whatif.events import (
    Action,
    AddPartitions,
    ChangeRack,
    Crash,
    CreateTopic,
    DeleteTopic,
    Event,
    Leave,
    Restart,
    Subscribe,
    UseAssignor,
)
from assignors.whatif.suggested_joins import suggested_joins, usual_topics

ONE_BY_ONE, TOGETHER = "one after the other", "together"
LISTED_EVENTS, _BACK = 8, "whatif_leaves_back"
MOST_PARTITIONS = 100_000
TOPIC_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
"""Kafka's rule (`org.apache.kafka.common.internals.Topic`); a scenario with another name could not be loaded."""
LEAST_RECORDS_PER_S, MOST_RECORDS_PER_S = 0.01, 1e9


def editor(its: Draft) -> None:
    """The events so far, with undo, and a line to add one."""
    events = shown(its)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Events", f":gray[{formats.plural(len(events), 'event')}]" if events else "")
        st.space("stretch")
        _change("Undo", "undo", Draft.undo, disabled=not its.past)
        _change("Redo", "redo", Draft.redo, disabled=not its.undone)
        _change("Clear", "delete_sweep", lambda now: now.with_events(()), disabled=not events)
    _add(its)
    _listed(its)


def shown(its: Draft) -> list[int]:
    """The positions of the events in the list: those that only hold others together are left out."""
    ends = draft.brackets(its.scenario.events)
    return [at for at in range(len(its.scenario.events)) if at not in ends]


def _change(label: str, icon: str, change: Callable[[Draft], Draft], *, disabled: bool) -> None:
    widgets.plain_button(label, icon, f"whatif_{label}", draft_state.edit, change, disabled=disabled)


def _listed(its: Draft) -> None:
    positions = shown(its)
    count = len(positions)
    if not count:
        st.markdown(":small[:gray[No events yet: the group stays as it is.]]")
    last = count - LISTED_EVENTS * _leaves_back(count)
    first = max(0, last - LISTED_EVENTS)
    if count > LISTED_EVENTS:
        _leaf(first, last, count)
    with st.container(gap=None):
        for at in positions[first:last]:
            _event(its, at)


def _leaves_back(count: int) -> int:
    """How many pages of events back the viewer is; removing events may leave fewer pages."""
    return min(int(st.session_state.get(_BACK, 0)), max(0, count - 1) // LISTED_EVENTS)


def _leaf(first: int, last: int, count: int) -> None:
    """Which of many events are listed, with buttons for the others."""

    def turn(by: int) -> None:
        st.session_state[_BACK] = _leaves_back(count) + by

    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f":small[:gray[{first + 1:,} to {last:,} of {count:,}]]", width="content")
        for label, icon, by, more in (("Earlier", "left", 1, first > 0), ("Later", "right", -1, last < count)):
            key = f"whatif_{label.lower()}"
            widgets.plain_button(label, f"chevron_{icon}", key, turn, by, disabled=not more)


def _event(its: Draft, at: int) -> None:
    happens = its.scenario.events[at]
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        description = text.event(happens, its.scenario) + _company(its.scenario.events, at)
        st.markdown(f":small[:gray[at {formats.duration(happens.at_ms / 1000)}] {description}]", width="content")
        key = f"whatif_drop_{at}"
        widgets.plain_button("", "close", key, draft_state.edit, lambda now: now.without(at), help="Remove this event")


def _company(events: Sequence[Event], at: int) -> str:
    """Whether the event shares its rebalance with others."""
    return " :gray[in one rebalance with the others]" if draft.is_together(events, at) else ""


def _add(its: Draft) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        what = st.selectbox("Event", list(FORMS), key="whatif_what", width=190)
        made = FORMS[what](its)
        full = len(its.scenario.events) + len(made or ()) > draft.MOST_EVENTS
        wanted = widgets.clicked(
            "Add",
            "whatif_add",
            icon=":material/add:",
            disabled=made is None or full,
            help=f"A scenario has at most {draft.MOST_EVENTS:,} events" if full else None,
        )
        if wanted and made is not None and not full:  # the button was enabled by the old values
            draft_state.edit(lambda now: now.then(made))
            st.session_state[_BACK] = 0
            st.rerun()


Made = Sequence[Action] | None


def _joins(its: Draft) -> Made:
    known = list(draft.topics_at_end(its.scenario))
    usual = [topic for topic in usual_topics(its.scenario.members_ever()) if topic in known] or known
    count = st.number_input("How many", 1, draft.MOST_AT_ONCE, 1, key="whatif_count", width=90)
    topics = st.multiselect("Subscribed to", known, default=usual, key=f"whatif_topics_{its.key}", width=200)
    racks = sorted({member.rack for member in its.scenario.members if member.rack})
    rack = (
        st.selectbox("Rack", racks, index=None, key="whatif_rack", width=112, placeholder="unknown") if racks else None
    )
    joins = suggested_joins(its.scenario, int(count), tuple(topics), rack)
    return draft.joining_together(joins) if int(count) > 1 and _joins_together() else joins


def _joins_together() -> bool:
    chosen = st.segmented_control(
        "They join",
        [ONE_BY_ONE, TOGETHER],
        default=ONE_BY_ONE,
        required=True,
        key="whatif_together",
        help="Together: one rebalance, as when all join while the coordinator still waits for members. One after the "
        "other: a rebalance each.",
    )
    return chosen == TOGETHER


def _member(its: Draft) -> str | None:
    here = [member.member_id for member in draft.members_at_end(its.scenario)[:MAX_OPTIONS]]
    names = member_names(its.scenario.members_ever())
    chosen: str | None = st.selectbox(
        "Member", here, key="whatif_member", width=240, format_func=lambda member: names.get(member, member)
    )
    return chosen


def _topic(its: Draft) -> str | None:
    chosen: str | None = st.selectbox("Topic", draft.topics_at_end(its.scenario), key="whatif_topic", width=240)
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
    more = draft.topics_at_end(its.scenario)[topic] + 1
    most = max(more, MOST_PARTITIONS)
    count = st.number_input("New partition count", more, most, more, key=f"whatif_grow_{topic}_{more}", width=130)
    return [AddPartitions(topic, int(count))]


def _subscribes(its: Draft) -> Made:
    member = _member(its)
    topics = st.multiselect("To", draft.topics_at_end(its.scenario), key="whatif_subscribe", width=240)
    return None if member is None else [Subscribe(member, tuple(topics))]


def _moves_rack(its: Draft) -> Made:
    member = _member(its)
    rack = st.text_input("Rack", key="whatif_new_rack", width=120, max_chars=80)
    return None if member is None else [ChangeRack(member, rack or None)]


def _switches(its: Draft) -> Made:
    names = [name for name in draft_state.candidates(its.scenario) if ":" not in name]
    chosen = st.selectbox("Assignor", names, key="whatif_assignor", width=190)
    return [UseAssignor(chosen)]


def _creates(its: Draft) -> Made:
    name = st.text_input("Topic", key="whatif_created", width=190, max_chars=249)
    count = st.number_input("Partitions", 1, MOST_PARTITIONS, 12, key="whatif_created_size", width=110)
    if name and not TOPIC_NAME.fullmatch(name):
        widgets.note("A topic name consists of ASCII letters, digits, '.', '_' and '-'.")
        return None
    return [CreateTopic(Topic(name, int(count)))] if name and name not in draft.topics_at_end(its.scenario) else None


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
    """How many records a member can process: drain times depend on it."""
    known = its.scenario.loads.default_capacity_per_s
    named = len(its.scenario.loads.capacity_per_s)
    key = f"whatif_capacity_{its.key}"
    st.session_state[key] = known  # undo changes it, too
    st.number_input(
        "Capacity of other members, records/s" if named else "Capacity per member, records/s",
        min_value=LEAST_RECORDS_PER_S,
        max_value=MOST_RECORDS_PER_S,
        value=None,
        format="%.0f" if known is None or known >= 10 else "%.2f",
        placeholder="unknown",
        step=None,
        key=key,
        width=260,
        help="Drain time is lag / (capacity - produced), of the slowest member. For a live group, the capacity starts "
        "as the highest rate of a member with records waiting; it is unknown while all members keep up."
        + (f" The scenario sets it for {formats.plural(named, 'member')}." if named else ""),
        on_change=lambda: draft_state.edit(lambda now: now.with_capacity(st.session_state[key])),
    )
