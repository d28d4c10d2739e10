"""The pieces of the About page."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from app.server import source
from app.ui import formats, state, widgets
from app.ui.table_limits import MAX_LAG_COLUMNS, MAX_OPTIONS, MAX_ROWS, MAX_SPARKLINE_ROWS
from app.views.about import bundle

MOST_PROBLEMS = 5
ISSUE = "What did you expect, what did you see, on which page (copy its address)? Attach the bundle."


def conclusion(page: state.Shown) -> str:
    """ "Snapshot 12 of `demo` is complete: 30 groups, 21 topics, 3 brokers"."""
    snapshot = page.report.snapshot
    whole = "is complete" if snapshot.complete else "is incomplete"
    counts = [
        formats.plural(len(v), n)
        for v, n in ((snapshot.groups, "group"), (snapshot.topics, "topic"), (snapshot.brokers, "broker"))
    ]
    return f"Snapshot {snapshot.number:,} of {formats.code(page.cluster)} {whole}: {', '.join(counts)}"


def pace(page: state.Shown) -> str:
    """How long a poll takes and how many requests it makes."""
    snapshot = page.report.snapshot
    requests = sum(b.requests for b in snapshot.brokers)
    return f"Read in {snapshot.took_s:.2f} s with {formats.plural(requests, 'request')}."


def brokers(page: state.Shown) -> None:
    """Requests and time per broker in the last poll."""
    snapshot = page.report.snapshot
    widgets.titled(
        "Brokers", f":gray[cluster id {formats.code(snapshot.cluster_id or '–')}, requests of the last poll]"
    )
    frame = pd.DataFrame(
        {
            "broker": [b.node_id for b in snapshot.brokers],
            "role": ["controller" if b.node_id == snapshot.controller else "" for b in snapshot.brokers],
            "address": [f"{b.host}:{b.port}" for b in snapshot.brokers],
            "rack": [b.rack for b in snapshot.brokers],
            "version": [b.version for b in snapshot.brokers],
            "requests": [b.requests for b in snapshot.brokers],
            "busy_ms": [round(b.busy_s * 1000) for b in snapshot.brokers],
            "answered": [b.error or "yes" for b in snapshot.brokers],
        }
    )
    c = st.column_config
    widgets.table(
        frame,
        key="brokers",
        most=12,
        alt="Brokers with the number of requests of the last poll and the time they took",
        columns={
            "broker": c.NumberColumn("Broker", width=64),
            "role": c.TextColumn("", width=80),
            "address": c.TextColumn("Address", width=160),
            "rack": c.TextColumn("Rack", width=70),
            "version": c.TextColumn("Version", width=76),
            "requests": c.NumberColumn("Requests", width=80),
            "busy_ms": c.NumberColumn(
                "Time, ms", format="localized", width=84, help="Summed over the requests; they overlap between brokers"
            ),
            "answered": c.TextColumn("Answered", width=160),
        },
    )


def following() -> None:
    """How far the records of the groups are read, which tell their rebalances."""
    feed = state.feed()
    its = None if feed is None else feed.following()
    widgets.titled("Recorded rebalances", ":gray[from `__consumer_offsets`]")
    if its is None:
        st.markdown(":small[Switched off; generations are inferred from polling.]")
        return
    read = f"Read to the end: {formats.known_for(its.followed, its.partitions)} partitions"
    broken = f", {formats.count(its.unreadable)} could not be decoded" if its.unreadable else ""
    st.markdown(f":small[{read}; {formats.plural(its.records, 'record')} since the start{broken}.]")
    for problem in its.problems[:MOST_PROBLEMS]:
        widgets.line(
            ":orange", "lock" if problem.kind == "unauthorized" else "error", "Not read", formats.md(str(problem))
        )


def unread(page: state.Shown) -> None:
    """Every problem of the last poll."""
    problems = page.report.snapshot.problems
    widgets.titled("Could not be read", f":gray[{len(problems) or 'nothing missing'}]")
    if problems:
        frame = pd.DataFrame(
            [(p.scope.value, p.subject, p.cause, p.hint) for p in problems[:MAX_ROWS]],
            columns=["What", "Name", "Cause", "How to fix it"],
        )
        widgets.table(
            frame,
            key="unread",
            most=8,
            alt="What could not be read in the last poll, with cause and hint",
        )


def versions() -> None:
    """The parts that make this dashboard."""
    widgets.titled("Versions")
    _pairs("Part", "Version", source.current().versions)


def settings(page: state.Shown) -> None:
    """What is in force, secrets masked."""
    widgets.titled("Settings in force", ":gray[secrets masked]")
    _pairs("Setting", "Value", state.settings_in_force(page.cluster))


def _pairs(name: str, value: str, pairs: Mapping[str, str]) -> None:
    rows = [f"| :small[{formats.md(k)}] | :small[{formats.code(v)}] |" for k, v in pairs.items()]
    st.markdown("\n".join([f"| :small[{name}] | :small[{value}] |", "|---|---|", *rows]) if rows else ":gray[None.]")


LIMITS = (
    f"A table shows at most {MAX_ROWS:,} rows, sparklines up to {MAX_SPARKLINE_ROWS:,} rows, a picker {MAX_OPTIONS:,} "
    f"names, the partitions of a topic the lag of {MAX_LAG_COLUMNS} groups; downloads hold every row that passes the "
    "filters.",
    "Lag over time, rates and time lag come from the samples kept in memory since the server started; nothing is "
    "extrapolated beyond them.",
    "The dashboard reads: it changes no offset, group or topic.",
    "A poll tells no generation of classic groups, so their epoch is a dash; Generations has it where it is recorded.",
    "Share groups: the lag is what the share coordinator reports; members may read the same partition.",
)


def limits() -> None:
    """What the pages do not show."""
    widgets.titled("Limits")
    st.markdown("\n".join(f"- :small[{limit}]" for limit in LIMITS))


def report_a_bug(page: state.Shown) -> None:
    """A bundle without names, to attach to a report."""
    widgets.titled("Report a bug")
    st.markdown(
        f":small[{ISSUE} It holds versions, counts, timings and kinds of problems; names of groups, topics and hosts "
        "are left out or hashed.]"
    )
    versions = source.current().versions
    st.download_button(
        "Download the bundle",
        lambda: bundle.build(page.report, page.status, versions, state.settings_in_force(page.cluster)),
        "groupscope-bundle.json",
        "application/json",
        icon=":material/download:",
        on_click="ignore",
        key="bundle",
    )
