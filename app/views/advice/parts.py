"""The parts of the Advice page: the properties, the workload, and the findings."""

import pandas as pd
import streamlit as st

from app.documents.advice import finding_document
from app.pages import BY_NAME
from app.properties_advice import Kind, PropertiesAdvice, advise_text
from app.ui import downloads, formats, link_values, state, widgets
from app.ui.advice.findings import SOURCES, show_finding
from app.ui.advice.verdict import verdict
from assignors.advice import Workload
from lag.errors import ConfigError

MAX_LENGTH = 100_000
MAX_FINDINGS = 60
DAY_MS = 86_400_000
TEXT, KIND = "advice_text", "kind"
EXAMPLE = """\
group.id=billing
group.instance.id=billing-1
heartbeat.interval.ms=20000
group.remote.assignor=uniform
max.poll.record=1000
auto.offset.reset=latest
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";
"""


def pasted() -> PropertiesAdvice | None:
    """The advice on the pasted text, None if there is none. Raises ConfigError if it cannot be read."""
    text = str(st.session_state.get(TEXT, ""))
    return advise_text(text, kind(), _workload()) if text.strip() else None


def kind() -> Kind:
    """Consumer or broker, from the URL."""
    return Kind(link_values.one_of(KIND, list(Kind)) or Kind.CONSUMER)


def properties() -> None:
    """The field for the properties. They stay in the session: not in the URL, a log or a file."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.segments(
            "Settings of a",
            Kind,
            kind(),
            "advice_kind",
            lambda chosen: state.set_url(KIND, chosen or Kind.CONSUMER),
            format_func=str.capitalize,
        )
        widgets.plain_button("Try an example", "science", "advice_example", _example)
    st.text_area(
        "Properties",
        key=TEXT,
        height=260,
        max_chars=MAX_LENGTH,
        placeholder="Paste a properties file here:\n\ngroup.id=billing\nsession.timeout.ms=45000\n…",
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button("Check", type="primary", key="advice_check")
        widgets.note("The text stays in this session. It is not stored, logged or put into the URL.")


def _example() -> None:
    st.session_state[TEXT] = EXAMPLE
    state.set_url(KIND, None)


def workload() -> None:
    """What is known about the workload; an empty field brings no advice."""
    with st.expander("Workload", icon=":material/tune:"):
        if kind() is Kind.BROKER:
            _number("Members that start together", "advice_members")
            st.toggle("Producers rely on acks=all", key="advice_acks")
            return
        _number("Processing time of a record, 99th percentile (ms)", "advice_p99")
        _number("Time from one poll to the next (ms)", "advice_batch")
        _number("Duration of a restart (ms)", "advice_restart")
        _number("Longest pause, for example GC (ms)", "advice_pause")
        _number("Tolerated time until the partitions of a failed member are reassigned (ms)", "advice_tolerated")
        _number("Longest planned downtime of the whole group (ms)", "advice_outage", 366 * DAY_MS)
        st.toggle("Records are processed outside the poll loop", key="advice_workers")
        st.toggle("close() is called in a finally block", key="advice_finally")
        st.toggle("Topics get more partitions, or the subscription is a pattern", key="advice_grows")


def _number(label: str, key: str, most: int = DAY_MS) -> None:
    st.number_input(label, min_value=1, max_value=most, value=None, placeholder="unknown", key=key)


def _workload() -> Workload:
    session = st.session_state
    return Workload(
        record_p99_ms=session.get("advice_p99"),
        batch_ms=session.get("advice_batch"),
        restart_ms=session.get("advice_restart"),
        gc_pause_ms=session.get("advice_pause"),
        tolerated_outage_ms=session.get("advice_tolerated"),
        planned_outage_ms=session.get("advice_outage"),
        async_workers=bool(session.get("advice_workers")),
        closes_in_finally=bool(session.get("advice_finally")),
        grows=bool(session.get("advice_grows")),
        members=session.get("advice_members"),
        acks_all=bool(session.get("advice_acks")),
    )


def headline(advice: PropertiesAdvice | None, error: ConfigError | None) -> str:
    """The page's headline."""
    if error is not None:
        return "The text cannot be read"
    if advice is None:
        return BY_NAME["advice"].question
    found = verdict(advice)
    return f"{found[0].upper()}{found[1:]}"


def findings(advice: PropertiesAdvice) -> None:
    """Each finding with its reason, a better value and its source; below, what was not checked."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Findings")
        st.space("stretch")
        if advice.findings:
            downloads.buttons(
                "advice", lambda: pd.DataFrame([finding_document(located) for located in advice.findings])
            )
    if not advice.findings:
        st.markdown(":green[:material/check_circle:] No findings: Kafka accepts the settings.")
    for located in advice.findings[:MAX_FINDINGS]:
        show_finding(located.finding, "default" if located.line is None else f"line {located.line}")
    if len(advice.findings) > MAX_FINDINGS:
        widgets.note(f"The first {MAX_FINDINGS} of {len(advice.findings):,} findings; downloads contain all.")
    for sentence in [*remarks(advice), *([SOURCES] if advice.findings else [])]:
        widgets.note(formats.md(sentence))


def remarks(advice: PropertiesAdvice) -> list[str]:
    """What was not checked, and whether the text looks like a file of the other kind."""
    notes = []
    if advice.other_kind:
        other = Kind.BROKER if advice.kind is Kind.CONSUMER else Kind.CONSUMER
        notes.append(f"These look like settings of a {other.value}. If so, select {other.value.capitalize()}.")
    if advice.unknown_lines:
        notes.append(f"Not a setting: {_lines(advice.unknown_lines)}. The text is not shown: it may contain a secret.")
    if advice.placeholder_lines:
        notes.append(f"Not checked, because the value is a placeholder: {_lines(advice.placeholder_lines)}.")
    return notes


def _lines(numbers: tuple[int, ...]) -> str:
    return f"{'line' if len(numbers) == 1 else 'lines'} {formats.listing(list(numbers))}"


def introduction() -> None:
    """What the page does, before anything is pasted."""
    st.markdown(
        "Paste the properties of a consumer or a broker. The page lists settings that Kafka rejects or does not know, "
        "and settings that cause rebalances, duplicates or lost records. On the command line: "
        "`groupscope advise client.properties`, or `groupscope advise --broker server.properties`."
    )
