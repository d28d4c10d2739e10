"""What both halves of the History page share: its empty states, the time it shows, errors in their place."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import streamlit as st

from app.server import source
from app.ui import formats, state, widgets
from app.views.history import state as state_history
from app.views.history import text
from app.views.history.state import Past
from app.views.history.text import Shown
from lag.errors import HistoryError
from lag.history.results import DAY, HOUR, MINUTE, TEN_MINUTES, Span

TICK = "10s"
CELLS = {TEN_MINUTES: "ten minutes", HOUR: "the hour", DAY: "the day"}
_REFUSED = "_history_refused"


# -- nothing to show ---------------------------------------------------------------------------------------------------


def not_kept(page: state.Shown) -> None:
    """No history: the command that begins one."""
    if source.current().settings.history is not None:
        st.header("This cluster tells no id", anchor=False)
        st.markdown("Its history cannot be told from that of others, so none is kept. Kafka gives one since 0.10.1.")
        return
    st.header("No history is kept", anchor=False)
    st.markdown("Since when, how often, how bad: that takes a folder (or an object store) where the past is kept.")
    st.code(
        "groupscope serve --bootstrap-server broker:9092 --history /var/lib/groupscope\n"
        "groupscope pipeline stream --bootstrap-server broker:9092 --history /var/lib/groupscope\n"
        "groupscope pipeline rollup --history /var/lib/groupscope",
        language="bash",
    )


def newest(past: Past) -> datetime | None:
    """The newest minute; None when the table of minutes cannot be read. Where there is none the page ends here."""
    st.session_state[_REFUSED] = set()
    try:
        found = state_history.latest(past)
    except HistoryError as error:
        refused(error)
        return None
    state_history.drawn(found)
    if found is None:
        _no_roll_ups(past)
        st.stop()
    return found


def span(past: Past, newest: datetime | None) -> Span:
    """The time shown; that of the usual range where the table of minutes cannot be read."""
    try:
        return state_history.span(past, newest)
    except HistoryError as error:
        refused(error)
        return state_history.span(past, None)


def _no_roll_ups(past: Past) -> None:
    st.header("Nothing is rolled up yet", anchor=False)
    if source.current().demo is not None:
        st.markdown(
            "The demo makes lag by the minute of what it records: this page fills by itself in a minute or two."
        )
    with in_place():
        if state_history.is_recorded(past):
            st.markdown("The dashboard records what it reads. Lag by the minute is made of it, and of the commits, by")
        else:
            st.markdown("Nothing of this cluster was recorded yet. What makes lag by the minute of it, once it is:")
    st.code(f"groupscope pipeline rollup --history {past.root}", language="bash")
    follow_news(past)


@contextmanager
def in_place() -> Iterator[None]:
    """What cannot be read is said where it would stand; the rest of the page goes on."""
    try:
        yield
    except HistoryError as error:
        refused(error)


def refused(error: HistoryError) -> None:
    """One line: what is the matter, and the hint. Several parts may need the same table: it is said where first met."""
    said: set[str] = st.session_state.setdefault(_REFUSED, set())
    what = error.cause.partition(": ")[0]  # which file of a table is met first is chance
    if what in said:
        return
    said.add(what)
    widgets.line(":red", "error", "This part of the history cannot be read", formats.md(str(error)))


def is_refused() -> bool:
    """Whether something could not be read."""
    return bool(st.session_state[_REFUSED])


# -- the time shown ----------------------------------------------------------------------------------------------------


@st.fragment(run_every=TICK)
def follow_news(past: Past) -> None:
    """Draw the page again when there is a newer minute, unless the URL names another time."""
    with suppress(HistoryError):  # said already
        if state_history.newer_is_there(past):
            st.rerun()


def status_line(past: Past, span: Span, newest: datetime | None, said: str) -> None:
    """`said`, then which time is shown and how old the newest minute is, where that is known."""
    age, is_old = ("", False) if newest is None else text.known_until(newest, datetime.now(UTC))
    shown = f"{_moment(span.since)} to {_moment(span.until)}"
    utc = f"{formats.utc(_ms(span.since))} to {formats.utc(_ms(span.until))}"
    st.markdown(f":small[:gray[{' · '.join(part for part in (said, shown, age) if part)}]]", help=utc)
    if is_old:
        command = formats.code(f"groupscope pipeline rollup --history {past.root}")
        widgets.line(":orange", "hourglass_top", "Nothing newer is rolled up", f"is this running? {command}")
    follow_news(past)


def ranges(span: Span) -> None:
    """How much of the past is shown, and which."""
    st.session_state["history_range"] = state_history.range_of(span)
    st.segmented_control(
        "Range",
        list(state_history.RANGES),
        key="history_range",
        format_func=lambda key: state_history.RANGES[key][0],
        label_visibility="collapsed",
        width="content",
        on_change=lambda: state.set_url("range", st.session_state["history_range"] or state_history.USUAL),
    )
    _move("Earlier", "arrow_back", span.until - span.length)
    if state_history.until() is not None:
        _move("Later", "arrow_forward", span.until + span.length)
        _move("Newest", "last_page", None)


def _move(label: str, icon: str, to: datetime | None) -> None:
    st.button(
        label,
        key=f"history_{icon}",
        icon=f":material/{icon}:",
        type="tertiary",
        on_click=state_history.move,
        args=(to,),
    )


def shown(span: Span) -> Shown:
    """The time shown as sentences have it, in the viewer's zone."""
    ranged = state_history.RANGES[state_history.range_of(span)][0]
    is_over = state_history.until() is not None
    within = f"in the {ranged} to {_moment(span.until)}" if is_over else f"in the last {ranged}"
    return Shown(span.length // MINUTE, within, is_over, text.when(local, span))


def local(at_ms: int) -> datetime:
    """A time in the viewer's zone."""
    return formats.moment(at_ms, state.zone())


def begins(at_ms: int, length: timedelta) -> datetime:
    """Where a minute or an hour begins in the viewer's zone; days are those of UTC."""
    return local(at_ms) if length < DAY else formats.moment(at_ms, UTC)


def hover(at_us: int, length: timedelta) -> str:
    """A minute or an hour of the viewer's zone, with UTC; a day of UTC."""
    utc = formats.moment(at_us // 1000, UTC)
    return f"{utc:%d %b %Y} (UTC)" if length >= DAY else f"{local(at_us // 1000):%d %b %H:%M} ({utc:%H:%M} UTC)"


def _moment(at: datetime) -> str:
    return f"{local(_ms(at)):%d %b %H:%M}"


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
