"""The Sweeps page of all groups: the choice of a sweep, and what each group would gain."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.server.sweep_run import MAX_CASES
from app.ui import downloads, formats, state, widgets
from app.ui.sweep_findings import recommendation
from app.ui.table_limits import MAX_ROWS
from app.views.sweeps import state as state_sweeps
from app.views.sweeps import text
from app.views.sweeps.state import Place, Sweep
from lag import times
from lag.errors import HistoryError
from lag.sweeps.gains import MIN_REDUCTION, Gain, records

LABELS = {
    Gain.DRAINS: "Would drain",
    Gain.STUCK: "Never drains",
    Gain.ASSIGNOR: "Another assignor",
    Gain.FEWER: "Fewer members",
    Gain.NONE: "Nothing",
    Gain.UNKNOWN: "Not known",
}


def introduction() -> None:
    """There is no sweep yet: what a sweep is."""
    st.title("Which assignor and how many members for my fleet?", anchor=False)
    st.markdown(
        "A sweep tries every assignor and several member counts on every group, and shows which groups would gain, "
        "and at what cost. It changes nothing on the cluster."
    )


@contextmanager
def stop_on_error(title: DeltaGenerator) -> Iterator[None]:
    """A HistoryError in the block is shown in place of the title, and the page stops."""
    try:
        yield
    except HistoryError as error:
        with title:
            st.title("The history cannot be read", anchor=False)
            widgets.line(":red", "error", formats.md(error.cause), formats.md(error.hint))
        st.stop()


def sweep_picker(found: Sequence[Sweep]) -> Sweep:
    """The sweep in the URL, or the newest; draws a select box if there are several."""
    by_id = {sweep.sweep_id: sweep for sweep in found}
    chosen = by_id.get(state.url("sweep") or "", found[0])
    if len(found) > 1:
        widgets.picker(
            "Sweep",
            list(by_id),
            chosen.sweep_id,
            "sweep_pick",
            partial(state.set_url, "sweep"),
            format_func={sweep_id: _title(sweep) for sweep_id, sweep in by_id.items()}.__getitem__,
            width=360,
        )
    return chosen


def _title(sweep: Sweep) -> str:
    at = state.local()(times.ms(sweep.at))
    return f"{sweep.cluster}, {at:%Y-%m-%d %H:%M}, {formats.plural(sweep.cases, 'case')}"


def about(sweep: Sweep, groups: int) -> None:
    """What the sweep covers, its age, and where it is stored."""
    covers = f"{formats.plural(sweep.cases, 'case')} of {formats.plural(groups, 'group')}"
    if sweep.place is Place.EXAMPLE:
        st.markdown(f":small[{covers} :orange-badge[:material/info: Example fleet, not your cluster]]")
    else:
        kept = " · only in this session" if sweep.place is Place.SESSION else ""
        at_ms = times.ms(sweep.at)
        details = f"{formats.age(at_ms, state.now_ms())} · sweep {formats.md(sweep.sweep_id)}{kept}"
        st.markdown(f":small[{covers} of {formats.code(sweep.cluster)} :gray[· {details}]]", help=formats.utc(at_ms))
    _missing(sweep)


def _missing(sweep: Sweep) -> None:
    """The sweep in the URL is not stored."""
    asked = state.url("sweep")
    if asked is not None and asked != sweep.sweep_id:
        shown = "This is an example" if sweep.place is Place.EXAMPLE else "This is the newest one"
        widgets.line(":orange", "search_off", f"Sweep {formats.code(formats.cut(asked))} is not stored here", shown)


# -- the fleet ---------------------------------------------------------------------------------------------------------


def fleet(sweep: Sweep, frame: pd.DataFrame) -> None:
    """Every group, most to gain first."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        rows = _filtered(frame)
        st.space("stretch")
        downloads.buttons("sweep", lambda: rows)
        if sweep.cases <= MAX_CASES:
            downloads.button(
                "All cases",
                lambda: downloads.csv(state_sweeps.all_cells(sweep)),
                "sweep_cases.csv",
                "text/csv",
                "sweep_all_cases",
                type="tertiary",
                help="Every case of every group, as CSV",
            )
    _fleet_table(rows.head(MAX_ROWS))
    if len(rows) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(rows):,} groups. Filter to see others.")
    widgets.note(
        "Busiest: the largest share of a group's load on one member, by rate if known, otherwise by weight, lag or "
        "partitions. Another assignor is recommended if it reduces this share by at least "
        f"{100 * MIN_REDUCTION:.0f} %; fewer members are recommended if none of them would have more load than the "
        "busiest member has now."
    )


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    filter_text = widgets.text_filter("Group", "sweep_q", 260)
    counts = frame["gain"].value_counts()
    present = [kind.value for kind in Gain if kind.value in counts.index]
    chosen = state.chips("Gain", present, lambda kind: f"{LABELS[Gain(kind)]} {counts[kind]:,}", "gain")
    rows = frame[frame["gain"].isin(chosen)] if chosen else frame
    return widgets.containing(rows, filter_text, "group_id")


def _fleet_table(rows: pd.DataFrame) -> None:
    view = pd.DataFrame(
        {
            "group": rows["group_id"],
            "do": [recommendation(row) for row in records(rows)],
            "now": [f"{row['assignor']} × {row['members']:,}" for row in records(rows)],
            "busiest": 100 * rows["hot_share"].astype(float),
            "then": 100 * rows["to_share"].astype(float),
            "moved": rows["moved"].astype("Int64"),
            "idle": rows["idle"].astype("Int64"),
            "drains": rows["drain_s"].map(text.drains),
            "partitions": rows["partitions"].astype("Int64"),
        }
    )
    ids, c = list(rows["group_id"]), st.column_config
    percent = partial(c.NumberColumn, format="%.1f %%", width=84)
    widgets.table(
        view,
        key="sweep_fleet",
        most=22,
        alt=f"{formats.plural(len(view), 'group')}: what each would gain, most to gain first",
        columns={
            "group": widgets.opener(
                "Group", "open_sweep", 190, lambda: state.set_url("group", ids[st.session_state["open_sweep"].row])
            ),
            "do": c.TextColumn("Recommendation", width=450),
            "now": c.TextColumn("Now", width=190, help="Assignor × members"),
            "busiest": percent("Busiest", help="Share of the load that the busiest member has now"),
            "then": percent("After", help="The same, in the recommended case"),
            "moved": widgets.integer(
                "Moves", 66, "How often a member gives up a partition; one partition can move several times"
            ),
            "idle": widgets.integer("Idle", 46, "Members without a partition now"),
            "drains": c.TextColumn("Drains in", width=100, help="Now; a dash where rates or lag are unknown"),
            "partitions": widgets.integer("Partitions", 84),
        },
    )
