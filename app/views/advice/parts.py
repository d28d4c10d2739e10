"""The pieces of the Advice page: what is pasted, what is known of the workload, and the findings."""

import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.findings import SOURCES, finding
from app.ui.properties_advice import Advised, Kind, advise_text, row, verdict
from assignors.advice import Workload
from lag.errors import ConfigError

MOST_LETTERS = 100_000
MOST_SHOWN = 60
MS_A_DAY = 86_400_000
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


def pasted() -> Advised | None:
    """The advice on what is in the box; None while it is empty, or cannot be read (`refused` says why)."""
    text = str(st.session_state.get(TEXT, ""))
    return advise_text(text, kind(), _workload()) if text.strip() else None


def kind() -> Kind:
    """Whose settings are judged, as the URL says."""
    return Kind.BROKER if state.url(KIND) == Kind.BROKER.value else Kind.CONSUMER


def box() -> None:
    """Where the properties are pasted. They stay in this session: no URL, no log, no file."""
    st.session_state["advice_kind"] = kind()
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.segmented_control(
            "Whose settings",
            list(Kind),
            key="advice_kind",
            format_func=lambda its: f"{its.value[0].upper()}{its.value[1:]}",
            label_visibility="collapsed",
            on_change=lambda: state.set_url(KIND, (st.session_state["advice_kind"] or Kind.CONSUMER).value),
        )
        st.button("Try an example", type="tertiary", icon=":material/science:", on_click=_example, key="advice_example")
    st.text_area(
        "Properties",
        key=TEXT,
        height=260,
        max_chars=MOST_LETTERS,
        placeholder="Paste a properties file here:\n\ngroup.id=billing\nsession.timeout.ms=45000\n…",
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button("Judge it", type="primary", key="advice_judge")
        widgets.note("It stays in this session: it is not stored, logged or put into the address.")


def _example() -> None:
    st.session_state[TEXT] = EXAMPLE
    state.set_url(KIND, None)


def work() -> None:
    """What is known of the consumer's workload, or of the members behind a broker; unknown brings no advice."""
    with st.expander("What is known of its work", icon=":material/tune:"):
        if kind() is Kind.BROKER:
            _number("Members that start together", "advice_members")
            st.toggle("Producers count on acks=all", key="advice_acks")
            return
        _number("99 of 100 records are processed within, ms", "advice_p99")
        _number("From one poll to the next it takes, ms", "advice_batch")
        _number("A restart takes, ms", "advice_restart")
        _number("The longest pause (GC, swap), ms", "advice_pause")
        _number("The partitions of a dead member may wait for, ms", "advice_tolerated")
        _number("The whole group is down at times (planned) for, ms", "advice_outage", 366 * MS_A_DAY)
        st.toggle("Records are processed outside the poll loop", key="advice_workers")
        st.toggle("close() is called after a processing error too (finally)", key="advice_finally")
        st.toggle("Topics get partitions, or are subscribed by pattern", key="advice_grows")


def _number(label: str, key: str, most: int = MS_A_DAY) -> None:
    st.number_input(label, min_value=1, max_value=most, value=None, placeholder="not known", key=key)


def _workload() -> Workload:
    its = st.session_state
    return Workload(
        record_p99_ms=its.get("advice_p99"),
        batch_ms=its.get("advice_batch"),
        restart_ms=its.get("advice_restart"),
        gc_pause_ms=its.get("advice_pause"),
        tolerated_outage_ms=its.get("advice_tolerated"),
        planned_outage_ms=its.get("advice_outage"),
        async_workers=bool(its.get("advice_workers")),
        closes_in_finally=bool(its.get("advice_finally")),
        grows=bool(its.get("advice_grows")),
        members=its.get("advice_members"),
        acks_all=bool(its.get("advice_acks")),
    )


def conclusion(advised: Advised | None, refused: ConfigError | None) -> str:
    """The page's headline."""
    if refused is not None:
        return "This cannot be read"
    if advised is None:
        return "Will these settings hurt?"
    said = verdict(advised)
    return f"{said[0].upper()}{said[1:]}"


def findings(advised: Advised) -> None:
    """Each finding with its reason, its better value and its source; below it what was not judged."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Findings")
        st.space("stretch")
        if advised.found:
            widgets.downloads("advice", lambda: pd.DataFrame([row(placed) for placed in advised.found]))
    if not advised.found:
        st.markdown(":green[:material/check_circle:] Nothing to say: Kafka takes them, and none of the rules fires.")
    for placed in advised.found[:MOST_SHOWN]:
        finding(placed.finding, "default" if placed.line is None else f"line {placed.line}")
    if len(advised.found) > MOST_SHOWN:
        widgets.note(f"The first {MOST_SHOWN}; the files have all {len(advised.found):,}.")
    for sentence in [*remarks(advised), *([SOURCES] if advised.found else [])]:
        widgets.note(formats.md(sentence))


def remarks(advised: Advised) -> list[str]:
    """What was not judged, and whether it looks like a file of the other kind."""
    said = []
    if advised.other_kind:
        other = Kind.BROKER if advised.kind is Kind.CONSUMER else Kind.CONSUMER
        said.append(f"This looks like the file of a {other.value}: choose that above.")
    if advised.unread:
        said.append(f"No setting of Kafka's: {_lines(advised.unread)}. It is not repeated here, it may be a secret.")
    if advised.open:
        said.append(f"Not judged, because a placeholder stands there: {_lines(advised.open)}.")
    return said


def _lines(numbers: tuple[int, ...]) -> str:
    return f"{'line' if len(numbers) == 1 else 'lines'} {formats.listing(list(numbers))}"


def nothing_yet() -> None:
    """What the page does, before anything is pasted."""
    st.markdown(
        "Paste the properties of a consumer, or of a broker, and see which settings Kafka would refuse, which of them "
        "cost rebalances, duplicates or records, and which it does not know. The same on the command line:"
    )
    st.code("groupscope advise client.properties\ngroupscope advise --broker server.properties", language="bash")
