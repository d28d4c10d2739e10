"""What both views of the History page share: empty states, errors, the range controls and the status line."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import streamlit as st

from app.server import source
from app.ui import formats, state, widgets
from app.ui.cluster_history import ClusterHistory
from app.views.history import state as state_history
from app.views.history import text
from app.views.history.tables import Local
from app.views.history.text import ShownTime
from lag import times
from lag.errors import HistoryError
from lag.history.span import DAY, HOUR, MINUTE, TEN_MINUTES, Span

REFRESH = "10s"
CELLS = {TEN_MINUTES: "ten minutes", HOUR: "the hour", DAY: "the day"}
_SHOWN_ERRORS = "_history_errors"


# -- nothing to show ---------------------------------------------------------------------------------------------------


def no_history() -> None:
    """No history is recorded: why, and the commands that record one."""
    if source.current().settings.history is not None:
        st.title("This cluster has no id", anchor=False)
        st.markdown(
            "History is stored by cluster id, so it cannot be recorded here. Kafka has had cluster ids since 0.10.1."
        )
        return
    st.title("No history is recorded", anchor=False)
    st.markdown(
        "To see when problems start, how often they occur and how bad they are, record the history in a folder or an "
        "object store:"
    )
    st.code(
        "groupscope serve --bootstrap-server broker:9092 --history /var/lib/groupscope\n"
        "groupscope pipeline stream --bootstrap-server broker:9092 --history /var/lib/groupscope\n"
        "groupscope pipeline rollup --history /var/lib/groupscope",
        language="bash",
    )


def newest_minute(history: ClusterHistory) -> datetime | None:
    """The newest minute; None if its table cannot be read. Without any minute the page stops here."""
    st.session_state[_SHOWN_ERRORS] = set()
    try:
        found = state_history.latest(history)
    except HistoryError as error:
        show_error(error)
        return None
    state_history.remember_newest(found)
    if found is None:
        _no_roll_ups(history)
        st.stop()
    return found


def span(history: ClusterHistory, newest: datetime | None) -> Span:
    """The time that the page shows; the default range if the table of minutes cannot be read."""
    try:
        return state_history.span(history, newest)
    except HistoryError as error:
        show_error(error)
        return state_history.span(history, None)


def _no_roll_ups(history: ClusterHistory) -> None:
    st.title("Nothing is rolled up yet", anchor=False)
    if source.current().demo is not None:
        st.markdown(
            "The demo rolls up its history every minute, so this page fills up by itself in a minute or two: "
            "but not with `--no-pipeline`, nor without PySpark."
        )
    with show_errors():
        if state_history.is_recorded(history):
            st.markdown(
                "Log ends are recorded. This command computes the lag of each minute from them and the commits:"
            )
        else:
            st.markdown(
                "Nothing has been recorded for this cluster yet. Once there is data, this command computes the lag:"
            )
    st.code(f"groupscope pipeline rollup --history {history.root}", language="bash")
    follow_newest(history)


@contextmanager
def show_errors() -> Iterator[None]:
    """A HistoryError in the block is shown in its place; the rest of the page is drawn."""
    try:
        yield
    except HistoryError as error:
        show_error(error)


def show_error(error: HistoryError) -> None:
    """Cause and hint on one line, once for each cause: several parts of the page may need the same table."""
    shown: set[str] = st.session_state.setdefault(_SHOWN_ERRORS, set())
    cause = error.cause.partition(": ")[0]  # the rest names a file, which differs from query to query
    if cause in shown:
        return
    shown.add(cause)
    widgets.line(":red", "error", "This part of the history cannot be read", formats.md(str(error)))


UNREAD = "Not known: a part of the history cannot be read."


def has_errors() -> bool:
    """Whether a part of the page could not be read."""
    return bool(st.session_state[_SHOWN_ERRORS])


# -- the time shown ----------------------------------------------------------------------------------------------------


@st.fragment(run_every=REFRESH)
def follow_newest(history: ClusterHistory) -> None:
    """Rerun the page when there is a newer minute, unless the URL names an end."""
    with suppress(HistoryError):  # already shown
        if state_history.has_newer(history):
            st.rerun()


def status_line(history: ClusterHistory, span: Span, newest: datetime | None, facts: str) -> None:
    """`facts`, the time shown, and up to when everything is computed, if that is known."""
    as_of, is_old = ("", False)
    if newest is not None:
        as_of, is_old = text.as_of(newest, datetime.now(UTC), shown_time(span).clock)
    shown = f"{_moment(span.since)} to {_moment(span.until)}"
    utc = f"{formats.utc(times.ms(span.since))} to {formats.utc(times.ms(span.until))}"
    st.markdown(f":small[:gray[{formats.joined(facts, shown, as_of)}]]", help=utc)
    if is_old:
        command = formats.code(f"groupscope pipeline rollup --history {history.root}")
        widgets.line(":orange", "hourglass_top", "Nothing newer is rolled up", f"Check that this is running: {command}")
    follow_newest(history)


def range_controls(span: Span) -> None:
    """The range, and buttons that move it or keep it."""
    shown = state_history.range_of(span)
    widgets.segments(
        "Range",
        state_history.RANGES,
        shown,
        "history_range",
        lambda key: state.set_url("range", key or state_history.DEFAULT_RANGE),
        format_func=lambda key: state_history.RANGES[key][0],
        width="content",
    )
    _move("Earlier", "arrow_back", shown, span.until - span.length)
    if state_history.until() is None:
        _move("Pin", "keep", shown, span.until, widgets.PIN)
    else:
        _move("Later", "arrow_forward", shown, span.until + span.length)
        _move("Newest", "last_page", shown, None)


def _move(label: str, icon: str, shown: str, to: datetime | None, explained: str | None = None) -> None:
    """A button that shows the range `shown` up to another time."""
    widgets.plain_button(label, icon, f"history_{icon}", state_history.show, shown, to, help=explained)


def shown_time(span: Span) -> ShownTime:
    """The time shown in the words of sentences, in the viewer's zone."""
    ranged = state_history.RANGES[state_history.range_of(span)][0]
    is_past = state_history.until() is not None
    within = f"in the {ranged} to {_moment(span.until)}" if is_past else formats.in_the_last(ranged)
    return ShownTime(span.length // MINUTE, within, is_past, text.clock(state.local(), span))


def cell_start(at_ms: int, length: timedelta, local: Local) -> datetime:
    """The start of a cell in the viewer's zone; of a day in UTC, because days are days of UTC."""
    return local(at_ms) if length < DAY else formats.moment(at_ms, UTC)


def hover_time(at_us: int, length: timedelta, local: Local) -> str:
    """A minute or hour in the viewer's zone and in UTC; a day in UTC."""
    utc = formats.moment(at_us // 1000, UTC)
    return f"{utc:%d %b %Y} (UTC)" if length >= DAY else f"{local(at_us // 1000):%d %b %H:%M} ({utc:%H:%M} UTC)"


def _moment(at: datetime) -> str:
    return f"{state.local()(times.ms(at)):%d %b %H:%M}"
