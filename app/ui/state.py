"""The only home of Streamlit's caches, of session keys, and of what stands in the URL.

URL parameters: `cluster`, `group`, `topic`, and the filters of each page under the key of their widget.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

import streamlit as st

from app.server import source
from app.server.source import Feed, Source
from app.ui import formats, theme
from app.ui import group_table as group_tables
from app.ui.table_limits import MAX_OPTIONS

if TYPE_CHECKING:
    from lag.polling.report import CollectorStatus, Report

log = logging.getLogger(__name__)

STALE_AFTER_INTERVALS = 3
_PINNED = "_pinned"
_CLUSTER = "_cluster"
_DRAWN = "_drawn"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows in this run: the report (pinned while paused), and how its collector does."""

    cluster: str
    report: "Report"
    status: "CollectorStatus"
    now_ms: int

    @property
    def age_s(self) -> float:
        """Age of the data."""
        return max(0.0, (self.now_ms - self.report.snapshot.at_ms) / 1000)

    @property
    def stale(self) -> bool:
        """Whether polls that should have come did not."""
        return not paused() and self.age_s > STALE_AFTER_INTERVALS * max(self.status.interval_s, 1)

    @property
    def key(self) -> tuple[str, int, int]:
        """What a cached table depends on."""
        return self.cluster, self.report.snapshot.number, self.report.snapshot.at_ms


def now_ms() -> int:
    """The wall clock; age is the only thing pages take from it."""
    return time.time_ns() // 1_000_000


def zone() -> tzinfo:
    """The viewer's time zone."""
    return formats.zone(st.context.timezone)


def refuse(lab: str, why: str) -> None:
    """Remember why a change in a lab was refused, for `refused`."""
    st.session_state[f"_{lab}_refused"] = why


def refused(lab: str) -> str | None:
    """Why the last change in a lab was refused; said once."""
    why: str | None = st.session_state.pop(f"_{lab}_refused", None)
    return why


def palette() -> theme.Palette:
    """The colours of the theme in use."""
    return theme.DARK if st.context.theme.type == "dark" else theme.LIGHT


# -- cluster, feed, report ---------------------------------------------------------------------------------------------


def cluster() -> str | None:
    """The cluster in the URL, else the one of this session, else the first configured."""
    names = list(source.current().feeds)
    for name in (st.query_params.get("cluster"), st.session_state.get(_CLUSTER)):
        if name in names:
            st.session_state[_CLUSTER] = name
            return str(name)
    return names[0] if names else None


def choose_cluster(name: str) -> None:
    """Switch to another cluster; a group or topic of the old one leaves the URL, filters stay."""
    st.session_state[_CLUSTER] = name
    st.session_state.pop(_PINNED, None)
    set_url("group", None)
    set_url("topic", None)
    set_url("cluster", name)


def current_source() -> Source:
    """Settings, feeds and demo controls of this process."""
    return source.current()


def settings_in_force(name: str) -> dict[str, str]:
    """The settings of one cluster and of the server, secrets masked."""
    its = source.current()
    served = {"groupscope interval": f"{its.settings.interval_s:g} s"}
    return {**its.connections.get(name, {}), **served}


def feed() -> Feed | None:
    """The collector of the chosen cluster."""
    name = cluster()
    return None if name is None else source.current().feeds[name]


def shown() -> Shown | None:
    """The report to draw: the pinned one while paused, else the latest; None before the first poll."""
    name, its = cluster(), feed()
    if name is None or its is None:
        return None
    report = st.session_state.get(_PINNED) or its.latest()
    if report is None:
        return None
    return Shown(name, report, its.status(), now_ms())


def drawn(page: Shown) -> None:
    """Remember what the page body shows, so that only something else redraws it."""
    st.session_state[_DRAWN] = _look(page)


def is_outdated() -> bool:
    """Whether the page body would look different: of a newer snapshot, or grey by now (never while paused)."""
    page = shown()
    return page is not None and not paused() and _look(page) != st.session_state.get(_DRAWN)


def _look(page: Shown) -> tuple[str, int, bool]:
    return page.cluster, page.report.snapshot.number, page.stale


def paused() -> bool:
    """Whether this session keeps its snapshot."""
    return st.session_state.get(_PINNED) is not None


def toggle_pause() -> None:
    """Keep the snapshot that is on screen, or follow the collector again."""
    if paused():
        st.session_state.pop(_PINNED)
    elif its := feed():
        st.session_state[_PINNED] = its.latest()


# -- the table of groups: built once for each snapshot, shared by every session; never change it in place --------------


@st.cache_resource(max_entries=6, show_spinner=False)
def _group_table(key: tuple[str, int, int], _report: "Report") -> group_tables.GroupTable:
    return group_tables.build(_report.snapshot, _report.health)


def group_table(page: Shown) -> group_tables.GroupTable:
    """All groups of the snapshot as one table."""
    return _group_table(page.key, page.report)


def group_ids(page: Shown) -> list[str]:
    """The ids for a picker of groups: at most MAX_OPTIONS, the most urgent ones, in alphabetical order."""
    frame = group_table(page).frame
    return sorted(frame["group"][~frame["hidden"]].head(MAX_OPTIONS))


def clear() -> None:
    """Drop everything that is cached."""
    st.cache_resource.clear()
    st.cache_data.clear()


# -- the URL -----------------------------------------------------------------------------------------------------------


def url(name: str) -> str | None:
    """A URL parameter."""
    return st.query_params.get(name)


def picked(name: str) -> list[str]:
    """The values that a repeated URL parameter asks for, as far as they are plain words."""
    return [value for value in st.query_params.get_all(name) if value.replace("_", "").isalpha()]


def set_url(name: str, value: str | None) -> None:
    """Write a URL parameter, or take it out."""
    if value:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def chips(
    label: str,
    options: Sequence[str],
    text: Callable[[str], str],
    key: str,
) -> list[str]:
    """Multi-select pills whose URL holds plain keys (`bind=` would write the formatted label, count and all)."""
    session, query = st.session_state, st.query_params
    wanted = [value for value in query.get_all(key) if value in options]
    if wanted != session.get(f"_{key}") or key not in session:  # a fresh link, or the browser's back button
        session[key] = session[f"_{key}"] = wanted

    def write() -> None:
        session[f"_{key}"] = list(session[key])
        if session[key]:
            query[key] = session[key]
        elif key in query:
            del query[key]

    return st.pills(
        label,
        list(options),
        selection_mode="multi",
        key=key,
        format_func=text,
        on_change=write,
        label_visibility="collapsed",
        wrap=False,
    )
