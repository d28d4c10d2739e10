"""The state of the Sweeps page: cached queries of the history, and opening a case in What if.

URL parameters: `sweep` (an id; without it the newest), `group`, `members`, `measure`, `value` and `failure`.
"""

from dataclasses import dataclass
from datetime import datetime

import pandas as pd
import streamlit as st

from app.server import source
from app.ui import widgets
from app.ui.scenario import draft_state
from assignors.registry import names
from assignors.scenario import load_scenario
from lag.errors import HistoryError
from lag.history.store import History, literal
from lag.sweeps import gains as sweep_gains
from lag.sweeps.cases import case_scenario
from lag.sweeps.plan import Failure

LIST_CACHE_S = 10
_CASE = "_sweep_case"


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep in the history."""

    sweep_id: str
    cluster: str
    at: datetime
    cases: int


def root() -> str | None:
    """Folder or URL of the history; None if none is recorded."""
    return source.current().settings.history


@st.cache_data(ttl=LIST_CACHE_S, show_spinner=False)
def sweeps(root: str) -> list[Sweep]:
    """All sweeps, the newest first. Raises HistoryError."""
    sql = (
        'SELECT sweep_id, "cluster", max("at") AS "at", count(*) AS cases FROM sweeps '
        'GROUP BY sweep_id, "cluster" ORDER BY 3 DESC, 1'
    )
    found = History(root).query_open(sql, "sweeps")
    return [] if found is None else [Sweep(**row) for row in found.to_pylist()]


@st.cache_resource(max_entries=4, show_spinner="Reading the sweep")
def gains(root: str, sweep: Sweep) -> pd.DataFrame:
    """What each group would gain (`lag.sweeps.gains`). Raises HistoryError."""
    where = f"WHERE sweep_id = {literal(sweep.sweep_id)}"
    groups = _rows(root, "sweep_groups", f"SELECT * EXCEPT (scenario, dt) FROM sweep_groups {where}")
    needed = "group_id, assignor, members, moved, hot_share, unassigned, drain_s, reason"
    return sweep_gains.gains(groups, _rows(root, "sweeps", f"SELECT {needed} FROM sweeps {where} AND failure = 'none'"))


@st.cache_resource(max_entries=32, show_spinner=False)
def cells(root: str, sweep: Sweep, group_id: str, own: str) -> pd.DataFrame:
    """All cases of a group, its own assignor first, then by members. Raises HistoryError."""
    sql = f"SELECT * EXCEPT (dt) FROM sweeps WHERE {_where(sweep, group_id)} ORDER BY members"
    order = {name: at for at, name in enumerate(dict.fromkeys([own, *names()]))}
    frame = _rows(root, "sweeps", sql)
    return frame.sort_values("assignor", key=lambda column: column.map(order), kind="stable").reset_index(drop=True)


@st.cache_data(max_entries=32, show_spinner=False)
def _scenario(root: str, sweep: Sweep, group_id: str) -> str:
    found = _rows(root, "sweep_groups", f"SELECT scenario FROM sweep_groups WHERE {_where(sweep, group_id)}")
    if found.empty:
        raise HistoryError(f"{group_id} is no longer in sweep {sweep.sweep_id}", "Load the page again.")
    return str(found["scenario"][0])


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


def follow(root: str, sweep: Sweep) -> None:
    """Open the clicked case in What if, as a link if it is small enough.

    Raises HistoryError; AssignorError if the case is impossible or What if refuses its scenario.
    """
    if (chosen := st.session_state.pop(_CASE, None)) is None:
        return
    group_id, assignor, members, failure = chosen
    base = load_scenario(_scenario(root, sweep, group_id))
    parameters = draft_state.hand_over(case_scenario(base, members, Failure(failure)))
    widgets.go("whatif", {**parameters, "assignor": assignor})


def clear() -> None:
    """Drop all cached results."""
    for cached in (sweeps, gains, cells, _scenario):
        cached.clear()
