"""The state of the Sweeps page: stored sweeps and the example, cached queries, and opening a case in What if.

URL parameters: `sweep` (an id; without it the newest), `group`, `members`, `measure`, `value` and `failure`.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import pandas as pd
import streamlit as st

from app.server import source
from app.server.temporary_history import TemporaryHistory
from app.ui import widgets
from app.ui.scenario import draft_state
from app.views.sweeps import example_sweep
from assignors.registry import names
from assignors.scenario import load_scenario
from lag.errors import HistoryError
from lag.history.schemas import SWEEPS
from lag.history.store import History, literal
from lag.sweeps import gains as sweep_gains
from lag.sweeps import sweep_table
from lag.sweeps.cases import case_scenario
from lag.sweeps.plan import Failure
from lag.sweeps.sweep_table import SweepHeader

LIST_CACHE_S = 10
EXAMPLE_CLUSTER = "an example fleet"
_CASE = "_sweep_case"
_SESSION = "_sweep_history"


class Place(StrEnum):
    """Where a sweep is stored."""

    HISTORY = "history"
    SESSION = "session"  # a folder that is deleted when the session ends
    EXAMPLE = "example"  # comes with groupscope


@dataclass(frozen=True, slots=True)
class Sweep:
    """One stored sweep. `root` is the history that it is in."""

    place: Place
    root: str
    sweep_id: str
    cluster: str
    at: datetime
    cases: int


def root() -> str | None:
    """Folder or URL of the history; None if none is recorded.

    Also None for somebody who may not see every group: a stored sweep has all of them.
    """
    its = source.current()
    return its.settings.history if its.sees_everything else None


def root_to_write() -> str:
    """Where a sweep of this session is written: the history, if the visitor may change it, else a folder of its own."""
    if (stored := root()) is not None and source.current().is_operator:
        return stored
    if _SESSION not in st.session_state:
        st.session_state[_SESSION] = TemporaryHistory()
    return str(st.session_state[_SESSION].root)


def sweeps() -> list[Sweep]:
    """The sweeps of the history and of this session, the newest first; the example if there are none.

    Raises HistoryError.
    """
    stored, kept = root(), st.session_state.get(_SESSION)
    found = [
        *(sweeps_of(stored) if stored is not None else ()),
        *(sweeps_of(kept.root, Place.SESSION) if kept is not None else ()),
    ]
    return sorted(found, key=lambda sweep: sweep.at, reverse=True) or [example()]


@st.cache_data(ttl=LIST_CACHE_S, show_spinner=False)
def sweeps_of(root: str, place: Place = Place.HISTORY) -> list[Sweep]:
    """The sweeps of one history, the newest first. Raises HistoryError."""
    sql = (
        'SELECT sweep_id, "cluster", max("at") AS "at", count(*) AS cases FROM sweeps '
        'GROUP BY sweep_id, "cluster" ORDER BY 3 DESC, 1'
    )
    found = History(root).query_open(sql, "sweeps")
    return [] if found is None else [Sweep(place, root, **row) for row in found.to_pylist()]


def example() -> Sweep:
    """The sweep of the example fleet."""
    return _example()[1]


@st.cache_resource(show_spinner="Reading the example")
def _example() -> tuple[TemporaryHistory, Sweep]:
    plan, rows, kept = example_sweep.plan(), example_sweep.stored_rows(), TemporaryHistory()
    header = SweepHeader(Place.EXAMPLE, EXAMPLE_CLUSTER, datetime.now(UTC))
    sweep_table.write(History(kept.root), header, sweep_table.groups(plan), [header.table(rows, SWEEPS)])
    return kept, Sweep(Place.EXAMPLE, kept.root, header.sweep_id, header.cluster, header.at, len(rows))


@st.cache_resource(max_entries=4, show_spinner="Reading the sweep")
def gains(sweep: Sweep) -> pd.DataFrame:
    """What each group would gain (`lag.sweeps.gains`). Raises HistoryError."""
    where = f"WHERE sweep_id = {literal(sweep.sweep_id)}"
    groups = _rows(sweep.root, "sweep_groups", f"SELECT * EXCEPT (scenario, dt) FROM sweep_groups {where}")
    needed = "group_id, assignor, members, moved, hot_by, hot_share, unassigned, drain_s, reason"
    return sweep_gains.gains(
        groups, _rows(sweep.root, "sweeps", f"SELECT {needed} FROM sweeps {where} AND failure = 'none'")
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def cells(sweep: Sweep, group_id: str, own: str) -> pd.DataFrame:
    """All cases of a group, its own assignor first, then by members. Raises HistoryError."""
    sql = f"SELECT * EXCEPT (dt) FROM sweeps WHERE {_where(sweep, group_id)} ORDER BY members"
    order = {name: at for at, name in enumerate(dict.fromkeys([own, *names()]))}
    frame = _rows(sweep.root, "sweeps", sql)
    return frame.sort_values("assignor", key=lambda column: column.map(order), kind="stable").reset_index(drop=True)


@st.cache_data(max_entries=32, show_spinner=False)
def _scenario(sweep: Sweep, group_id: str) -> str:
    found = _rows(sweep.root, "sweep_groups", f"SELECT scenario FROM sweep_groups WHERE {_where(sweep, group_id)}")
    if found.empty:
        raise HistoryError(f"{group_id} is no longer in sweep {sweep.sweep_id}", "Reload the page.")
    return str(found["scenario"][0])


def all_cells(sweep: Sweep) -> pd.DataFrame:
    """All cases of all groups. Raises HistoryError."""
    where = f"WHERE sweep_id = {literal(sweep.sweep_id)}"
    order = "ORDER BY group_id, assignor, members, failure"
    return _rows(sweep.root, "sweeps", f"SELECT * EXCEPT (dt) FROM sweeps {where} {order}")


def _rows(root: str, name: str, sql: str) -> pd.DataFrame:
    found = History(root).query_open(sql, name)
    if found is None:
        raise HistoryError(f"{root} no longer has a table {name}", "Run the sweep again: groupscope sweep")
    frame: pd.DataFrame = found.to_pandas()
    return frame


def _where(sweep: Sweep, group_id: str) -> str:
    return f"sweep_id = {literal(sweep.sweep_id)} AND group_id = {literal(group_id)}"


def choose(group_id: str, assignor: str, members: int, failure: str) -> None:
    """Remember a clicked case; `follow` opens it, because a callback cannot switch pages."""
    st.session_state[_CASE] = (group_id, assignor, members, failure)


def follow(sweep: Sweep) -> None:
    """Open the clicked case in What if, as a link if it is small enough.

    Raises HistoryError; AssignorError if the case is impossible or What if refuses its scenario.
    """
    if (chosen := st.session_state.pop(_CASE, None)) is None:
        return
    group_id, assignor, members, failure = chosen
    base = load_scenario(_scenario(sweep, group_id))
    parameters = draft_state.hand_over(case_scenario(base, members, Failure(failure)))
    widgets.go("whatif", {**parameters, "assignor": assignor})


def clear() -> None:
    """Drop all cached results."""
    for cached in (sweeps_of, gains, cells, _scenario):
        cached.clear()
