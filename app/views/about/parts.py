"""The pieces of the About page."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from app.server import source
from app.server.access.visitor import Role
from app.ui import downloads, formats, state, widgets
from app.ui.table_limits import MAX_LAG_COLUMNS, MAX_OPTIONS, MAX_ROWS, MAX_SPARKLINE_ROWS
from app.views.about import bundle

MOST_PROBLEMS = 5
ISSUE = "Say what you expected, what you saw, and on which page (copy its address), and attach the bundle."


def conclusion(page: state.Shown) -> str:
    """ "Snapshot 12 of `demo` is complete: 30 groups, 21 topics, 3 brokers"."""
    snapshot = page.report.snapshot
    whole = "is complete" if snapshot.complete else "is incomplete"
    counted = {"group": snapshot.groups, "topic": snapshot.topics, "broker": snapshot.brokers}
    counts = [formats.plural(len(found), noun) for noun, found in counted.items()]
    return f"Snapshot {snapshot.number:,} of {formats.code(page.cluster)} {whole}: {', '.join(counts)}"


def pace(page: state.Shown) -> str:
    """How long a poll takes, how many requests it makes, and what the counts of the conclusion include."""
    snapshot = page.report.snapshot
    requests = sum(b.requests for b in snapshot.brokers)
    read = f"Read in {snapshot.took_s:.2f} s with {formats.plural(requests, 'request')}."
    return f"{read} The numbers of groups and topics include internal ones."


def brokers(page: state.Shown) -> None:
    """Requests and time per broker in the last poll."""
    snapshot = page.report.snapshot
    widgets.titled(
        "Brokers", f":gray[cluster id {formats.code(snapshot.cluster_id or '–')}, requests in the last poll]"
    )
    rows = [
        {
            "broker": b.node_id,
            "role": "controller" if b.node_id == snapshot.controller else "",
            "address": f"{b.host}:{b.port}",
            "rack": b.rack,
            "version": b.version,
            "requests": b.requests,
            "busy_ms": round(b.busy_s * 1000),
            "answered": b.error or "yes",
        }
        for b in snapshot.brokers
    ]
    c = st.column_config
    widgets.table(
        pd.DataFrame(rows),
        key="brokers",
        most=12,
        alt="Brokers with the number of requests in the last poll and the time they took",
        columns={
            "broker": c.NumberColumn("Broker", width=64),
            "role": c.TextColumn("", width=80),
            "address": c.TextColumn("Address", width=160),
            "rack": c.TextColumn("Rack", width=70),
            "version": c.TextColumn("Version", width=76),
            "requests": c.NumberColumn("Requests", width=80),
            "busy_ms": widgets.integer("Time, ms", 84, "Summed over the requests; brokers are read in parallel"),
            "answered": c.TextColumn("Answered", width=148),
        },
    )


def following() -> None:
    """How far the records of the groups are read, which tell their rebalances."""
    feed = state.feed()
    its = None if feed is None else feed.following()
    widgets.titled("Recorded rebalances", ":gray[from `__consumer_offsets`]")
    if its is None:
        st.markdown(":small[Switched off: generations are inferred from polls.]")
        return
    read = f"Up to date for {formats.coverage(its.followed, its.partitions)}"
    broken = f", {formats.count(its.unreadable)} could not be decoded" if its.unreadable else ""
    st.markdown(f":small[{read}; {formats.plural(its.records, 'record')} read since the server started{broken}.]")
    for problem in its.problems[:MOST_PROBLEMS]:
        widgets.line(":orange", "lock" if problem.is_refusal else "error", "Not read", formats.md(str(problem)))


def unread(page: state.Shown) -> None:
    """Every problem of the last poll."""
    problems = page.report.snapshot.problems
    widgets.titled("Problems", f":gray[{len(problems) or 'none'} in the last poll]")
    if problems:
        frame = pd.DataFrame(
            [(p.scope.value, p.subject, p.cause, p.hint) for p in problems[:MAX_ROWS]],
            columns=["What", "Name", "Cause", "How to fix it"],
        )
        widgets.table(
            frame,
            key="unread",
            most=8,
            alt="What could not be read in the last poll: cause, how to fix it",
        )


def policy_problem(page: state.Shown) -> None:
    """Why the current policy file is not in effect."""
    problem = page.report.policy_problem
    if problem is not None:
        rest = f"{formats.md(str(problem))}. The last valid policy remains in effect."
        widgets.line(":orange", "error", "The policy file is invalid", rest)


NOT_ALL_SEEN = "What is wrong in it is shown to admins who see every group"
"""A pattern in it may be the name of a group."""


def visitor() -> None:
    """Who is logged in, and the button to log out; nothing without a login."""
    its, access = source.current().visitor, source.installed().access
    if its is None or access is None:
        return
    role = next(role for role in reversed(Role) if any(grant.role is role for grant in its.grants))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f":small[Logged in as {formats.code(its.name or '–')}, {role}]", width="content")
        if access.providers:
            st.button("Log out", key="log_out", on_click=st.logout, type="tertiary", icon=":material/logout:")
    for problem in access.problems() if its.is_admin else ():
        what = str(problem) if source.current().sees_everything else NOT_ALL_SEEN
        rest = f"{formats.md(what)}. The last valid version remains in effect."
        widgets.line(":orange", "error", "A login file is invalid", rest)


def is_open() -> None:
    """That everybody who reaches the server sees everything, if so."""
    if source.installed().settings.insecure and not source.installed().settings.has_login:
        rest = "It was started with `--insecure`: everybody who reaches its address sees everything here."
        widgets.line(":orange", "lock_open", "This server has no login", rest)


def versions() -> None:
    """The parts that make this dashboard."""
    widgets.titled("Versions")
    _pairs("Part", "Version", source.current().versions)


def settings(page: state.Shown) -> None:
    """What is in force, secrets masked."""
    widgets.titled("Settings", ":gray[secrets masked]")
    _pairs("Setting", "Value", state.settings_in_force(page.cluster))


def _pairs(name: str, value: str, pairs: Mapping[str, str]) -> None:
    rows = [f"| :small[{formats.md(k)}] | :small[{formats.code(v)}] |" for k, v in pairs.items()]
    st.markdown("\n".join([f"| :small[{name}] | :small[{value}] |", "|---|---|", *rows]) if rows else ":gray[None.]")


READS = "These pages are read-only: they never change an offset, a group or a topic of your cluster."
WRITES = "Only Reset offsets changes a group, and only when you apply a plan; the demo cluster also has the Demo page."
LIMITS = (
    f"Tables show at most {MAX_ROWS:,} rows, and sparklines up to {MAX_SPARKLINE_ROWS:,} rows. Select boxes list at "
    f"most {MAX_OPTIONS:,} names. The page of a topic shows the lag of at most {MAX_LAG_COLUMNS} groups for each "
    "partition. Downloads contain every row that passes the filters.",
    "Lag over time, rates and time lag are computed from the polls since the server started.",
    "Kafka's DescribeGroups does not report the generation of a classic group, so its epoch is empty. The Generations "
    "page shows recorded generations.",
    "The lag of a share group is the lag that its group coordinator reports (KIP-1226).",
)


def limits() -> None:
    """What the pages do not show."""
    widgets.titled("Limits")
    shown = (*LIMITS, WRITES if source.current().settings.allow_writes else READS)
    st.markdown("\n".join(f"- :small[{limit}]" for limit in shown))


def report_a_bug(page: state.Shown) -> None:
    """A bundle without names, to attach to a report."""
    widgets.titled("Report a bug")
    st.markdown(
        f":small[{ISSUE} It contains versions, counts, timings and kinds of problems. Names of groups, topics and "
        "hosts are left out or hashed.]"
    )
    versions = source.current().versions
    downloads.button(
        "Download the bundle",
        lambda: bundle.build(page.report, page.status, versions, state.settings_in_force(page.cluster)),
        "groupscope-bundle.json",
        "application/json",
        "bundle",
    )
