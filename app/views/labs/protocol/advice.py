"""Below the story: its generations, advice on its settings, and which broker coordinates a group."""

from functools import partial

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.advice.findings import SOURCES, show_finding
from app.ui.advice.scenario_advice import for_scenario
from app.ui.scenario.played import NAMES
from app.ui.scenario.story_link import ProtocolStory
from app.ui.scenario.story_state import FINDER, LAB, played
from app.views.labs.protocol import coordinator_text
from assignors.advice import Finding
from assignors.advice.config_table import CONSUMER, COORDINATOR
from assignors.offsets_partition import OFFSETS_TOPIC

EXAMPLES = ("my-group", "polygenelubricants", "gruppe-ä")
MOST_ID_LETTERS = 249


def advice(story: ProtocolStory) -> None:
    """Findings about the story's settings, members and events."""
    widgets.titled("Advice on this story")
    findings = for_scenario(story.scenario)
    if not findings:
        st.markdown(":green[:material/check_circle:] Kafka accepts the settings, and no rule found a problem.")
    for finding in findings:
        show_finding(finding, _where(finding, story))
    if findings:
        widgets.note(SOURCES)


def _where(finding: Finding, story: ProtocolStory) -> str:
    if finding.key in story.scenario.protocol:
        return "set here"
    return "default" if finding.key in CONSUMER or finding.key in COORDINATOR else "in the story"


def finder() -> None:
    """The coordinator of a group id."""
    page = state.shown()
    snapshot = None if page is None else page.report.snapshot
    legend = f":gray[the leader of one {coordinator_text.partitions(snapshot)} of {formats.code(OFFSETS_TOPIC)}]"
    widgets.titled("Which broker coordinates a group", legend)
    group_id = state.url(FINDER)
    st.session_state["protocol_finder"] = group_id or ""
    st.text_input(
        "Group id",
        key="protocol_finder",
        max_chars=MOST_ID_LETTERS,
        placeholder="Any group id",
        label_visibility="collapsed",
        width=320,
        on_change=lambda: state.set_url(FINDER, st.session_state["protocol_finder"] or None),
    )
    for each in (group_id,) if group_id else EXAMPLES:
        st.markdown(coordinator_text.found(each, snapshot))
        if (remark := coordinator_text.remark(each)) is not None:
            widgets.note(remark)


def generations(story: ProtocolStory) -> None:
    """Open the story's generations on the Generations page."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.note("Generation by generation:")
        for protocol, result in played(story.scenario, story.seed).items():
            widgets.page_button(
                NAMES[protocol],
                "generations",
                partial(LAB.to_generations, story, protocol),
                icon=":material/steppers:",
                key=f"to_{protocol}",
                disabled=isinstance(result, str),
            )
