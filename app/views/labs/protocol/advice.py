"""What stands below the story: advice on its settings, and which broker coordinates a group."""

import streamlit as st

from app.ui import findings as advice_parts
from app.ui import formats, state, widgets
from app.ui.scenario import story_state as state_protocol
from app.ui.scenario.played import NAMES
from app.ui.scenario.story_link import Told
from app.ui.scenario_advice import for_scenario
from app.views.labs.protocol import coordinator_text
from assignors.advice import Finding
from assignors.advice.config_table import CONSUMER, COORDINATOR
from assignors.offsets_partition import OFFSETS_TOPIC

EXAMPLES = ("my-group", "polygenelubricants", "gruppe-ä")
MOST_ID_LETTERS = 249


def advice(its: Told) -> None:
    """What is to be said about the story: its settings, its members and what happens in it."""
    widgets.titled("Advice on this story")
    findings = for_scenario(its.scenario)
    if not findings:
        st.markdown(":green[:material/check_circle:] Nothing to say: Kafka takes them, and none of the rules fires.")
    for finding in findings:
        advice_parts.finding(finding, _where(finding, its))
    widgets.note(advice_parts.SOURCES)


def _where(finding: Finding, its: Told) -> str:
    if finding.key in its.scenario.protocol:
        return "set here"
    return "default" if finding.key in CONSUMER or finding.key in COORDINATOR else "in the story"


def finder() -> None:
    """The coordinator of any group id."""
    page = state.shown()
    snapshot = None if page is None else page.report.snapshot
    legend = f":gray[the leader of one {coordinator_text.partitions(snapshot)} of {formats.code(OFFSETS_TOPIC)}]"
    widgets.titled("Which broker coordinates a group", legend)
    group_id = state.url(state_protocol.FINDER)
    st.session_state["protocol_finder"] = group_id or ""
    st.text_input(
        "Group id",
        key="protocol_finder",
        max_chars=MOST_ID_LETTERS,
        placeholder="Any group id",
        label_visibility="collapsed",
        width=320,
        on_change=lambda: state.set_url(state_protocol.FINDER, st.session_state["protocol_finder"] or None),
    )
    for asked in (group_id,) if group_id else EXAMPLES:
        st.markdown(coordinator_text.found(asked, snapshot))
        if (odd := coordinator_text.oddity(asked)) is not None:
            widgets.note(odd)


def generations(its: Told) -> None:
    """Step through the story's generations on a page of their own."""
    found = state_protocol.played(its.scenario, its.seed)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.note("Generation by generation:")
        for protocol, line in found.items():
            name = NAMES[protocol]
            able = not isinstance(line, str)
            if st.button(name, icon=":material/steppers:", type="tertiary", key=f"to_{protocol}", disabled=not able):
                widgets.go("generations", state_protocol.as_generations(its, protocol))
