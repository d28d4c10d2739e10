"""The report that a page shows: what is on screen without one, its headline, its age, and what it lacks."""

import streamlit as st

from app.server import source
from app.ui import formats, state, widgets
from app.ui.problems import problem_lines

TICK = "2s"
START_AGAIN = "This dashboard ends with it. Start both again with `groupscope up`."


def require_report() -> state.Shown:
    """The report to show. Without one, show why, wait for it, and stop the page."""
    page = state.shown()
    if page is None:
        if state.cluster() is None:
            _no_cluster()
        else:
            _waiting()
        st.stop()
    state.drawn(page)
    return page


def _no_cluster() -> None:
    st.title("No cluster is configured", anchor=False)
    st.markdown("groupscope shows the consumer groups of a Kafka cluster. To connect to one, start groupscope with:")
    st.code(
        "groupscope serve --bootstrap-server broker:9092     # your cluster\n"
        "groupscope up                                       # a demo cluster on this machine",
        language="bash",
    )


@st.fragment(run_every=TICK)
def _waiting() -> None:
    feed, name = state.feed(), state.cluster() or ""
    if feed is None or feed.latest() is not None:
        st.rerun()
        return
    status = feed.status()
    _ended()
    if status.error is None:
        st.title(f"Reading {formats.code(name)} for the first time", anchor=False)
        st.markdown(":gray[Groups, members and offsets appear here after the first poll.]")
        return
    st.title(f"{formats.code(name)} cannot be read", anchor=False)
    st.markdown(f":red[:material/error: {formats.md(str(status.error))}]")
    attempts = formats.plural(status.consecutive_failures, "attempt")
    st.markdown(
        f":gray[{attempts} failed, {_next_try(status.next_poll_ms)}. The page updates when the cluster answers.]"
    )
    st.button("Try now", icon=":material/refresh:", on_click=feed.poll_now, key="try_now")


def _next_try(next_poll_ms: int | None) -> str:
    wait = 0.0 if next_poll_ms is None else (next_poll_ms - state.now_ms()) / 1000
    return f"next try in {formats.duration(max(1.0, wait))}" if wait > 0 else "trying now"


def headline(page: state.Shown, sentence: str) -> None:
    """The headline; grey while the data is stale."""
    st.title(f":gray[{sentence}]" if page.stale else sentence, anchor=False)


@st.fragment(run_every=TICK)
def status_line(before: str, coverage: str, small: bool = False) -> None:
    """`before`, then age, coverage and poll interval. Updates itself, and redraws the page in its turn if outdated."""
    if state.is_outdated() and state.is_next_to_redraw():
        st.rerun()
    page = state.shown()
    if page is None:
        return
    age = formats.age(page.report.snapshot.at_ms, page.now_ms)
    at = formats.clock(page.report.snapshot.at_ms, state.zone())
    interval = "paused" if state.paused() else f"polled every {formats.duration(page.status.interval_s)}"
    line = f"{before} :gray[{formats.joined(age, coverage, interval)}]"
    st.markdown(f":small[{line}]" if small else line, help=f"Read at {at}, {formats.utc(page.report.snapshot.at_ms)}")
    _failing(page)


def _ended() -> bool:
    """Say that the demo's Kafka has ended, if so."""
    why = source.current().ended
    if why is not None:
        st.error(f"{formats.md(why.cause)}. {START_AGAIN}", icon=":material/power_off:")
    return why is not None


def _failing(page: state.Shown) -> None:
    """Why there is no newer data, if so."""
    if _ended():
        return
    status = page.status
    if status.error is not None:
        since = f" since {formats.clock(status.failing_since_ms, state.zone())}" if status.failing_since_ms else ""
        why = f"{formats.md(str(status.error))} ({_next_try(status.next_poll_ms)})"
        widgets.line(":red", "cloud_off", f"No new data{since}", why)
    elif page.stale:
        widgets.line(":orange", "hourglass_top", "This data is old", "the current poll is taking longer than usual")


def problems(page: state.Shown) -> None:
    """What could not be read, one line each."""
    for icon, head, rest in problem_lines(page.report.snapshot):
        widgets.line(":orange" if icon == "lock" else ":red", icon, head, rest)
