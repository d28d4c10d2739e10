"""The pieces of the Generations page: where generations come from, and what is said about that."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from app import formats, state, state_whatif, widgets
from app.parts.group import MOST_OPTIONS
from app.tables import whatif as tables
from assignors.generations import Generation
from assignors.model import AssignorError
from lag.observed import HOW_OBSERVED


@dataclass(frozen=True, slots=True)
class Told:
    """Generations, what they are of, and how they are known."""

    generations: Sequence[Generation]
    title: str
    origin: str
    is_live: bool


def told(page: state.Shown | None) -> Told | None:
    """What the URL names: a scenario (folded) or a live group (observed); None when it names neither.

    Raises AssignorError or GroupscopeError when it cannot be had.
    """
    if state.url("scenario") or state.url("example"):
        return _folded(page)
    group = state.url("group")
    return None if group is None else _observed(group)


def _folded(page: state.Shown | None) -> Told | None:
    its = state_whatif.draft(page)
    if its is None:
        return None
    outcome = state_whatif.outcome(its, state.url("assignor") or its.scenario.assignor)
    if outcome.error is not None:
        raise AssignorError(outcome.error)
    by, of = formats.code(tables.short(outcome.assignor)), formats.code(its.title)
    origin = f"with {by} from the scenario {of}; none of it has happened"
    return Told(outcome.generations, its.title, origin, False)


def _observed(group: str) -> Told:
    feed = state.feed()
    seen = () if feed is None else feed.observed(group)
    return Told(seen, group, f"of {formats.code(group)}. {HOW_OBSERVED}", True)


def source(page: state.Shown | None, its: Told | None) -> None:
    """Choose a group."""
    frame = None if page is None else state.overview(page).frame
    options = [] if frame is None else sorted(frame["group"][~frame["hidden"]].head(MOST_OPTIONS))
    st.session_state["generations_group"] = its.title if its and its.is_live and its.title in options else None
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.selectbox(
            "Group",
            options,
            key="generations_group",
            placeholder="Choose a live group",
            label_visibility="collapsed",
            width=300,
            on_change=lambda: state_whatif.start(group=st.session_state["generations_group"] or ""),
        )
        if st.button("What if…", icon=":material/alt_route:", type="tertiary", key="to_whatif"):
            widgets.go("whatif", state_whatif.parameters())


def nothing(its: Told | None) -> None:
    """The page without generations: what it is for, or how they come about."""
    if its is None:
        st.header("What happened to the group, step by step?", anchor=False)
        st.markdown(
            "Choose a live group to step through the rebalances that were seen since groupscope began to watch it, or "
            "build a scenario under What if and open it here."
        )
        return
    st.header(f"No rebalance of {formats.code(its.title)} has been seen yet", anchor=False)
    st.markdown(
        "The first one appears here when a member joins or leaves, a topic grows or the assignor changes. groupscope "
        "keeps what it sees while it runs."
    )
    if state.current_source().demo is not None:
        st.markdown("On this demo cluster, **Demo** → *Add a member* makes one.")


def where_from(its: Told) -> None:
    """How these generations are known: seen, or computed."""
    count = formats.plural(len(its.generations), "generation")
    kind = ":blue-badge[:material/visibility: Observed]" if its.is_live else ":gray-badge[:material/function: Computed]"
    st.markdown(f":small[{kind} :gray[{count} {its.origin}]]")
