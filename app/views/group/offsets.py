"""The offset rulers of the Group page: those of the worst partitions, and that of a partition to choose."""

import streamlit as st

from app.ui import formats, link_values, state, widgets
from app.ui.charts import ruler
from app.ui.table_limits import MAX_OPTIONS
from app.views.group.view import GroupView
from lag.model import GroupType
from lag.offsets import PartitionLag
from lag.verdict.status import Status

EXPLAINED = (Status.LOST, Status.BEYOND_END, Status.HELD)
"""Verdicts that rest on the order of the offsets."""


def worst(view: GroupView) -> dict[Status, PartitionLag]:
    """For each such verdict the partition with most records concerned."""
    found: dict[Status, PartitionLag] = {}
    for row, health in zip(view.lags, view.healths, strict=True):
        status = health.finding.status
        if status in EXPLAINED and (status not in found or _concerned(row) > _concerned(found[status])):
            found[status] = row
    return {status: found[status] for status in EXPLAINED if status in found}


def _concerned(row: PartitionLag) -> int:
    beyond = (row.committed or 0) - (row.log_end or 0) if row.log_end is not None else 0
    return max(row.lost_records or 0, row.held_records, beyond)


def rulers(view: GroupView) -> None:
    """The rulers of the worst partitions."""
    for status, row in worst(view).items():
        with st.container(gap="xxsmall"):
            _ruler(view, row, f"{widgets.verdict_badge(status)}\u2003", f"ruler_{status}")


def chosen(view: GroupView) -> None:
    """The ruler of a partition that the viewer picks; in the URL as `partition`. None in share groups.

    There, acknowledged records lie between the start offset and the log end, so the distance is not the lag.
    """
    if view.group.type is GroupType.SHARE:
        return
    names = {str(row.tp): row for row in view.lags}
    name = link_values.one_of("partition", names)
    widgets.picker(
        "Partition",
        list(names)[:MAX_OPTIONS],
        name,
        "partition_pick",
        lambda tp: state.set_url("partition", tp),
        placeholder="Offsets of a partition…",
        width=260,
    )
    if name is not None:
        _ruler(view, names[name], "", "ruler_chosen")


def _ruler(view: GroupView, row: PartitionLag, badge: str, key: str) -> None:
    widgets.titled("Offsets", f"{badge}{formats.code(str(row.tp))} :gray[distances are not to scale]")
    its = ruler.Offsets(
        row.log_start, row.committed, None, row.last_stable, row.log_end, view.group.type is GroupType.SHARE
    )
    widgets.chart(ruler.figure(its, state.palette()), key, ruler.finding(str(row.tp), its))
