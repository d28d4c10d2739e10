"""The page without a group: the last rebalances of all groups."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from app.ui import formats, required_report, state, widgets
from app.ui.groups import recordings
from app.views.generations import filters, link, text
from app.views.generations.cause_looks import cause_looks
from lag.generations.cause_kind import CauseKind
from lag.generations.recent import Rebalance, RecentRebalances
from lag.generations.recorded import Origin

_ROWS = "_rebalance_rows"
_OPEN = "open_rebalance"
WITHIN = {key: formats.in_the_last(label) for key, (label, _) in filters.RANGES.items()}
WITHIN[filters.ALL] = "so far"


def fleet(page: state.Shown, title: "st.delta_generator.DeltaGenerator") -> None:
    """The last rebalances of all groups, filtered by time and cause; a click opens one. The headline is in `title`."""
    until_ms, now_ms = link.until_ms(), page.report.snapshot.at_ms
    found = _of_users(page, recordings.recent(page, until_ms))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        key = filters.time_range(filters.shortest([one.at_ms for one in found.rebalances], now_ms))
        within = [one for one in found.rebalances if one.at_ms >= filters.since_ms(key, now_ms)]
        kinds = filters.causes(one.kinds for one in within)
    rows = [one for one in within if kinds & set(one.kinds)]
    is_part = until_ms is not None or (found.has_older and len(within) == len(found.rebalances) > 0)
    with title:
        when = _when(found, key, now_ms)
        if is_part and kinds == frozenset(CauseKind):
            head = _counted(page, key, when)
        else:
            listed = Counter(one.group_id for one in rows)
            head = text.fleet_headline(listed, _from_to(within, now_ms) if is_part and within else when)
        required_report.headline(page, head)
        required_report.status_line("", text.fleet_facts(rows, _known_since(found, key, now_ms)), small=True)
    if not found.rebalances and until_ms is None:
        st.markdown(
            "Rebalances appear here when a member joins or leaves, a topic gets more partitions, or the assignor "
            "changes. Choose a group to see its generations."
        )
        return
    _table(rows, _from_to(within, now_ms) if is_part else "")
    if is_part:
        _pages(within, found.has_older and len(within) == len(found.rebalances), key)


def _counted(page: state.Shown, key: str, when: str) -> str:
    """The headline with the rebalances of the whole range, of which the table lists a part."""
    counts = recordings.rebalance_counts(page, filters.since_ms(key, page.report.snapshot.at_ms))
    frame = state.group_table(page).frame
    hidden = set(frame["group"][frame["hidden"]])
    by_group = {group: count for group, count in counts.by_group.items() if group not in hidden}
    return text.fleet_headline(by_group, when, counts.is_about)


def _when(found: RecentRebalances, key: str, now_ms: int) -> str:
    """ "in the last hour", with a remark if not all rebalances of that time are known."""
    known = key == filters.ALL or not _known_since(found, key, now_ms)
    return WITHIN[key] if known else f"{WITHIN[key]}, as far as is known"


def _from_to(rows: Sequence[Rebalance], now_ms: int) -> str:
    """ "from 02:10:03 to 03:45:11", the times of the oldest and the newest of them; "" without any."""
    if not rows:
        return ""
    oldest, newest = (formats.clock_and_day(one.at_ms, now_ms, state.zone()) for one in (rows[-1], rows[0]))
    return f"from {oldest} to {newest}"


def _pages(rows: Sequence[Rebalance], has_older: bool, key: str) -> None:
    """The buttons that list older rebalances of the range, and the newest ones."""

    def list_until(until_ms: int | None) -> None:
        state.set_url(filters.RANGE, key)
        state.set_url(link.UNTIL, None if until_ms is None else str(until_ms))

    with st.container(horizontal=True, gap="small"):
        if has_older and rows:
            widgets.plain_button("Older", "arrow_back", "older_rebalances", list_until, rows[-1].at_ms)
        if link.until_ms() is not None:
            widgets.plain_button("Newest", "last_page", "newest_rebalances", list_until, None)


def _known_since(found: RecentRebalances, key: str, now_ms: int) -> str:
    """The time since which every rebalance is known, if the range begins before it; else ""."""
    since_ms = found.known_since_ms
    if since_ms is None or since_ms <= filters.since_ms(key, now_ms):
        return ""
    return formats.clock_and_day(since_ms, now_ms, state.zone())


def _of_users(page: state.Shown, found: RecentRebalances) -> RecentRebalances:
    """Without groups that Overview hides, such as groupscope's own."""
    groups = state.group_table(page).frame
    hidden = set(groups["group"][groups["hidden"]])
    return replace(found, rebalances=tuple(one for one in found.rebalances if one.group_id not in hidden))


def _table(rows: Sequence[Rebalance], from_to: str) -> None:
    frame = frame_of(rows)
    st.session_state[_ROWS] = [(one.group_id, link.Key(one.number, one.at_ms)) for one in rows]
    with st.container(gap="xxsmall"):
        legend = f":gray[{formats.joined(from_to, 'newest first; a click opens the generation')}]"
        widgets.titled_table("Rebalances", legend, "rebalances", frame)
        widgets.table(
            _view(frame, rows),
            key="rebalances",
            alt=f"{formats.plural(len(rows), 'rebalance')} of all groups: time, cause, partitions moved, members",
            columns=_columns(),
        )


def _view(frame: pd.DataFrame, rows: Sequence[Rebalance]) -> pd.DataFrame:
    """The rows as the table shows them."""
    looks, zone, now_ms = cause_looks(state.palette()), state.zone(), state.now_ms()
    view = frame.assign(
        time=[formats.clock_and_day(one.at_ms, now_ms, zone) for one in rows],
        kinds=pd.Series([[looks[kind].label for kind in one.kinds] for one in rows], dtype="object"),
        without_owner=pd.Series([text.short_gap(one.without_owner) for one in rows], dtype="object"),
        members=[text.members(one) for one in rows],
        moved=[f"{one.moved:,} of {one.partitions:,}" for one in rows],
    )
    return view[["group", "time", "kinds", "cause", "moved", "without_owner", "members", "generation", "known"]]


def _columns() -> dict[str, Any]:
    c, looks = st.column_config, cause_looks(state.palette()).values()
    waited = "The longest time that any partition had no owner"
    return {
        "group": widgets.opener("Group", _OPEN, 160, _open),
        "time": c.TextColumn("Time", width=76),
        "kinds": c.MultiselectColumn(
            "Kind", options=[look.label for look in looks], color=[look.tag for look in looks], width=196
        ),
        "cause": c.TextColumn("Cause", width=300),
        "moved": c.TextColumn("Moved", width=84, help="Partitions given up by their owner, of all partitions"),
        "without_owner": c.TextColumn("Without owner", width=104, help=waited),
        "members": c.TextColumn("Members", width=76, help="Before → after"),
        "generation": c.NumberColumn("Generation", width=84, help="Generation, or group epoch (KIP-848)"),
        "known": c.TextColumn("Known from", width=84, help="Records of `__consumer_offsets`, or polls"),
    }


def _open() -> None:
    group_id, key = st.session_state[_ROWS][st.session_state[_OPEN].row]
    state.set_url("group", group_id)
    state.set_url(link.GENERATION, str(key.number))
    state.set_url(link.AT, str(key.at_ms))


def frame_of(rows: Sequence[Rebalance]) -> pd.DataFrame:
    """One row per rebalance, as the downloads have it. Unknown is empty."""
    return pd.DataFrame(
        {
            "at": [formats.utc(one.at_ms) for one in rows],
            "group": [one.group_id for one in rows],
            "generation": pd.array([one.number for one in rows], dtype="Int64"),
            "cause": [one.event for one in rows],
            "partitions_moved": pd.array([one.moved for one in rows], dtype="Int64"),
            "partitions": pd.array([one.partitions for one in rows], dtype="Int64"),
            "longest_without_owner_ms": pd.array([one.without_owner.longest_ms for one in rows], dtype="Int64"),
            "at_least": [one.without_owner.at_least for one in rows],
            "members_before": pd.array([one.members_before for one in rows], dtype="Int64"),
            "members_after": pd.array([one.members_after for one in rows], dtype="Int64"),
            "known": ["records" if one.origin is Origin.RECORDED else "polls" for one in rows],
        }
    )
