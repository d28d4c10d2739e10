"""The generations of live groups: from the collector, and before that from the history."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import streamlit as st

from app.server import source
from app.server.access.visible import visible_rebalances
from app.ui.state import Shown, feed, once_per_snapshot
from lag.errors import HistoryError
from lag.model import ClusterSnapshot

if TYPE_CHECKING:
    from lag.generations.recent import RecentRebalances
    from lag.generations.recorded import RecordedGeneration, Recording

log = logging.getLogger(__name__)

MINUTE_MS = 60_000
RETENTION = timedelta(days=90)
"""Retention of group events."""


@st.cache_resource(max_entries=32, show_spinner=False)
def _stored(
    root: str, cluster_id: str, group_id: str, until_ms: int, _names: Mapping[UUID, str]
) -> "list[RecordedGeneration]":
    from lag.generations.recorded.history import stored_generations
    from lag.history.store import History  # deltalake is needed only with a history

    until = datetime.fromtimestamp(until_ms / 1000, UTC)
    return stored_generations(History(root), cluster_id, group_id, _names, until - RETENTION, until)


@once_per_snapshot(max_entries=32)
def recording(page: Shown, group_id: str) -> "Recording | None":
    """The group's generations at the time when the snapshot was first shown."""
    its = feed()
    return None if its is None else its.recording(group_id)


@once_per_snapshot(max_entries=4)
def recent(page: Shown) -> "RecentRebalances":
    """The last rebalances of all groups, with those of the history, at the time when the snapshot was first shown."""
    from lag.generations.recent import RecentRebalances, with_stored

    its = feed()
    live = RecentRebalances() if its is None else its.recent_rebalances()
    root, snapshot = source.current().settings.history, page.report.snapshot
    if root is None or snapshot.cluster_id is None:
        return live
    until_ms = snapshot.at_ms // MINUTE_MS * MINUTE_MS
    try:
        stored = _stored_rebalances(root, snapshot.cluster_id, until_ms, _topic_names(snapshot))
        sees = partial(source.current().sees, page.cluster)
        return with_stored(live, visible_rebalances(stored, sees))
    except HistoryError as error:  # the History page shows it
        log.info("the history of the rebalances: %s", error)
        return live


@st.cache_resource(max_entries=4, show_spinner=False)
def _stored_rebalances(root: str, cluster_id: str, until_ms: int, _names: Mapping[UUID, str]) -> "RecentRebalances":
    from lag.generations.stored_rebalances import stored_rebalances
    from lag.history.store import History  # deltalake is needed only with a history

    until = datetime.fromtimestamp(until_ms / 1000, UTC)
    return stored_rebalances(History(root), cluster_id, _names, until - RETENTION, until)


def _topic_names(snapshot: ClusterSnapshot) -> dict[UUID, str]:
    return {UUID(topic.topic_id): name for name, topic in snapshot.topics.items() if topic.topic_id}


def with_history(page: Shown, group_id: str, live: "Recording") -> "Recording":
    """`live`, preceded by the older generations of the history, if there is one and it can be read."""
    from lag.generations.recorded import Origin, Recording
    from lag.generations.recorded.history import join

    root, snapshot, known = source.current().settings.history, page.report.snapshot, live.generations
    if root is None or snapshot.cluster_id is None or not source.current().sees(page.cluster, group_id):
        return live
    until_ms = known[1].generation.at_ms if len(known) > 1 else snapshot.at_ms // MINUTE_MS * MINUTE_MS
    try:
        older = _stored(root, snapshot.cluster_id, group_id, until_ms, _topic_names(snapshot))
    except HistoryError as error:  # the History page shows it
        log.info("the history of %s: %s", group_id, error)
        return live
    if not older:
        return live
    if live.origin is Origin.INFERRED:  # inferred generations do not continue recorded ones
        return live if known else Recording(Origin.RECORDED, older, live.problem)
    return replace(live, generations=join(older, known))
