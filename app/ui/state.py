"""The session, the URL, and the snapshot that pages show.

URL parameters are `cluster`, `group`, `topic`, and the filters of each page under the keys of their widgets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import streamlit as st

from app.pages import FOLLOW_GROUP, PageInfo
from app.server import source
from app.server.access.visitor import Grant
from app.server.feed import Feed
from app.server.redraws import turns
from app.server.source import STALE_AFTER_INTERVALS
from app.ui import formats, link_values, theme
from app.ui.group_table import GroupTable, build_group_table
from app.ui.table_limits import MAX_OPTIONS
from lag.times import wall_clock_ms

if TYPE_CHECKING:
    from lag.polling.report import CollectorStatus, Report

P = ParamSpec("P")
R = TypeVar("R")
_PINNED = "_pinned"
_CLUSTER = "_cluster"
_GROUP = "_group"
_PAGE = "_page"
_DRAWN = "_drawn"
_TURN = "_turn"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows: the report (the pinned one while paused), and the state of its collector.

    `grants` are those by which the report was filtered; None: it was not.
    """

    cluster: str
    report: "Report"
    status: "CollectorStatus"
    now_ms: int
    grants: tuple[Grant, ...] | None = None

    @property
    def age_s(self) -> float:
        """The age of the data."""
        return max(0.0, (self.now_ms - self.report.snapshot.at_ms) / 1000)

    @property
    def stale(self) -> bool:
        """Whether polls are overdue."""
        return not paused() and self.age_s > STALE_AFTER_INTERVALS * max(self.status.interval_s, 1)

    @property
    def key(self) -> tuple[object, ...]:
        """The cache key of tables made of the report."""
        return self.cluster, self.report.snapshot.number, self.report.snapshot.at_ms, self.grants


def now_ms() -> int:
    """The wall clock, for the age of data."""
    return wall_clock_ms()


def zone() -> tzinfo:
    """The viewer's time zone."""
    return formats.zone(st.context.timezone)


def is_phone() -> bool:
    """Whether the browser is that of a phone: its window is narrow, and dragging scrolls the page."""
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def local() -> Callable[[int], datetime]:
    """From ms since 1970 to the viewer's time. Call it once for many times: Streamlit is slow to give the zone."""
    return partial(formats.moment, tz=zone())


def axis(since_ms: int, until_ms: int) -> Callable[[int], datetime]:
    """From ms since 1970 to the place on a time axis (`formats.axis_zone`)."""
    return partial(formats.moment, tz=formats.axis_zone(since_ms, until_ms, zone()))


def palette() -> theme.Palette:
    """The colours of the theme in use."""
    return theme.DARK if st.context.theme.type == "dark" else theme.LIGHT


# -- cluster, feed, report ---------------------------------------------------------------------------------------------


def cluster() -> str | None:
    """The cluster in the URL, else that of the session, else the first one configured."""
    names = list(source.current().feeds)
    for name in (st.query_params.get("cluster"), st.session_state.get(_CLUSTER)):
        if name in names:
            st.session_state[_CLUSTER] = name
            return str(name)
    return names[0] if names else None


def connection_options() -> list[str]:
    """The options of `groupscope` commands for the cluster; none if this server has no settings of it."""
    its = source.current().settings.cluster(cluster())
    if its is None:
        return []
    return ["--bootstrap-server", its.bootstrap_servers, *(["--config", str(its.config)] if its.config else [])]


def choose_cluster(name: str) -> None:
    """Switch to another cluster. The group and topic leave the URL, filters stay."""
    st.session_state[_CLUSTER] = name
    st.session_state.pop(_PINNED, None)
    set_url("group", None)
    set_url("topic", None)
    set_url("cluster", name)


def settings_in_force(name: str) -> dict[str, str]:
    """The settings of a cluster and of the server, secrets masked."""
    current = source.current()
    files = {"policy": current.settings.policy, "notices": current.settings.notices}
    paths = {f"groupscope {name} path": str(path) for name, path in files.items() if path is not None}
    return {**current.connections.get(name, {}), "groupscope interval": f"{current.settings.interval_s:g} s", **paths}


def feed() -> Feed | None:
    """The collector of the chosen cluster."""
    name = cluster()
    return None if name is None else source.current().feeds[name]


def shown() -> Shown | None:
    """The report to show: the pinned one while paused, else the latest; None before the first poll."""
    name, collector = cluster(), feed()
    if name is None or collector is None:
        return None
    report = _pinned() or collector.latest()
    return None if report is None else Shown(name, report, collector.status(), now_ms(), grants())


def _pinned() -> "Report | None":
    """The report of a paused session. One of another cluster, or of other grants, is not shown."""
    pinned = st.session_state.get(_PINNED)
    return None if pinned is None or pinned[:2] != (cluster(), grants()) else pinned[2]


def grants() -> tuple[Grant, ...] | None:
    """What the visitor may see and do; None: everything, because nobody logs in."""
    visitor = source.current().visitor
    return None if visitor is None else visitor.grants


def drawn(page: Shown) -> None:
    """Store what the page shows, for `is_outdated`."""
    st.session_state[_DRAWN] = _version(page)


def is_outdated() -> bool:
    """Whether a redraw would change the page: a newer snapshot, or data that is stale by now. Never while paused."""
    page = shown()
    return page is not None and not paused() and _version(page) != st.session_state.get(_DRAWN)


def is_next_to_redraw() -> bool:
    """Whether it is the turn of this page: many open pages share what the server spends on redraws."""
    if _TURN not in st.session_state:
        st.session_state[_TURN] = token_hex(8)
    return turns.is_next(st.session_state[_TURN])


def _version(page: Shown) -> tuple[str, int, bool]:
    return page.cluster, page.report.snapshot.number, page.stale


def paused() -> bool:
    """Whether this session is paused."""
    return _pinned() is not None


def toggle_pause() -> None:
    """Pin the latest snapshot, or follow the collector again."""
    if paused():
        st.session_state.pop(_PINNED)
    elif (collector := feed()) and (latest := collector.latest()):
        st.session_state[_PINNED] = cluster(), grants(), latest


# -- what is computed from a snapshot, and never changed in place ------------------------------------------------------


def once_per_snapshot(max_entries: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Caches a function of a page (and more): computed once per snapshot, shared by all sessions."""
    return st.cache_resource(max_entries=max_entries, show_spinner=False, hash_funcs={Shown: lambda page: page.key})


@once_per_snapshot(max_entries=6)
def group_table(page: Shown) -> GroupTable:
    """All groups of the snapshot as one table."""
    return build_group_table(page.report.snapshot, page.report.health)


def group_ids(page: Shown) -> list[str]:
    """The ids of the MAX_OPTIONS most urgent groups, in alphabetical order, for a select box."""
    frame = group_table(page).frame
    return sorted(frame["group"][~frame["hidden"]].head(MAX_OPTIONS))


def clear() -> None:
    """Clear all caches."""
    st.cache_resource.clear()
    st.cache_data.clear()


# -- the URL -----------------------------------------------------------------------------------------------------------


def url(name: str) -> str | None:
    """A URL parameter."""
    return st.query_params.get(name)


def picked(name: str) -> list[str]:
    """The values of a repeated URL parameter; values that are not plain words are ignored."""
    return [value for value in st.query_params.get_all(name) if value.replace("_", "").isalpha()]


def set_url(name: str, value: str | None) -> None:
    """Set a URL parameter, or remove it."""
    if value:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def carry_group(page: PageInfo) -> None:
    """Keep the group that is shown when the user opens another page in the navigation, whose links have no parameters.

    A page that shows no group drops the parameter: Back to the Overview would show it there.
    """
    is_new = st.session_state.get(_PAGE) != page.name
    kept, given = st.session_state.get(_GROUP), url("group")
    known = kept[1] if kept is not None and kept[0] == cluster() else None
    st.session_state[_PAGE] = page.name
    if not page.shows_group:
        set_url("group", None)
    elif given is not None:
        st.session_state[_GROUP] = cluster(), given
    elif is_new and known is not None and page.name in FOLLOW_GROUP and not set(st.query_params) - {"cluster"}:
        set_url("group", known)


def whole_number(label: str, name: str, step: int) -> int:
    """A number field from 0 on, in the URL; there, what is not a whole number counts as 0.

    Not with `bind=`: Streamlit fails on a link with infinity.
    """
    key = f"{name}_field"
    st.session_state[key] = link_values.whole(name) or 0
    number = st.number_input(
        label,
        min_value=0,
        step=step,
        key=key,
        on_change=lambda: set_url(name, str(st.session_state[key] or "") or None),
    )
    return int(number)


def chips(label: str, options: Sequence[str], text: Callable[[str], str], key: str, wrap: bool = False) -> list[str]:
    """Multi-select pills with plain keys in the URL; `bind=` would write the formatted label with its count.

    They fill several lines if `wrap`, else one that scrolls sideways.
    """
    session, query = st.session_state, st.query_params
    selected = [value for value in query.get_all(key) if value in options]
    if selected != session.get(f"_{key}") or key not in session:  # a link, or the browser's back button
        session[key] = session[f"_{key}"] = selected

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
        wrap=wrap,
    )
