"""What the Sweeps page reads of the history (delta-rs, never Spark), and the way from a case to What-if.

URL parameters: `sweep` (its id; none: the newest), `group`, `measure`, `value` and `failure`.
"""

from dataclasses import dataclass
from datetime import datetime

import pandas as pd
import streamlit as st

from app import state, state_whatif, widgets
from app.tables import sweeps as tables
from assignors.comparison import fitting
from assignors.scenario import load_scenario
from lag.history.store import History, literal
from lag.sweeps.plan import Failure
from lag.sweeps.staging import staged

LISTED_FOR_S = 10
_CASE = "_sweep_case"


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep of the history; a new run of the same has another time."""

    sweep_id: str
    cluster: str
    at: datetime
    cases: int


def root() -> str | None:
    """Where the history is; None where none is kept."""
    return state.current_source().settings.history


@st.cache_data(ttl=LISTED_FOR_S, show_spinner=False)
def sweeps(root: str) -> list[Sweep]:
    """The sweeps there are, the newest first. Raises HistoryError."""
    history = History(root)
    if not history.exists("sweeps"):
        return []
    said = (
        'SELECT sweep_id, "cluster", max("at") AS "at", count(*) AS cases FROM sweeps '
        'GROUP BY sweep_id, "cluster" ORDER BY 3 DESC, 1'
    )
    return [Sweep(**row) for row in history.query(said, "sweeps").to_pylist()]


@st.cache_resource(max_entries=4, show_spinner="Reading the sweep")
def gains(root: str, sweep: Sweep) -> pd.DataFrame:
    """What each group would gain (`app.tables.sweeps.gains`). Raises HistoryError."""
    history, one = History(root), f"WHERE sweep_id = {literal(sweep.sweep_id)}"
    said = f"SELECT * EXCEPT (scenario, dt) FROM sweep_groups {one}"
    groups = history.query(said, "sweep_groups").to_pandas()
    needed = "group_id, assignor, members, moved, hot_share, unassigned, drain_s"
    said = f"SELECT {needed} FROM sweeps {one} AND failure = 'none'"
    return tables.gains(groups, history.query(said, "sweeps").to_pandas())


@st.cache_resource(max_entries=32, show_spinner=False)
def cells(root: str, sweep: Sweep, group_id: str) -> pd.DataFrame:
    """All cases of a group, in the order of assignors and members. Raises HistoryError."""
    said = f"SELECT * EXCEPT (dt) FROM sweeps WHERE {_of(sweep, group_id)} ORDER BY members"
    frame: pd.DataFrame = History(root).query(said, "sweeps").to_pandas()
    order = {name: at for at, name in enumerate(_assignors(root, sweep, group_id))}
    return frame.sort_values("assignor", key=lambda names: names.map(order), kind="stable").reset_index(drop=True)


def _assignors(root: str, sweep: Sweep, group_id: str) -> list[str]:
    """The group's own first, the others as they are listed everywhere."""
    return fitting(load_scenario(_scenario(root, sweep, group_id)))


@st.cache_data(max_entries=32, show_spinner=False)
def _scenario(root: str, sweep: Sweep, group_id: str) -> str:
    said = f"SELECT scenario FROM sweep_groups WHERE {_of(sweep, group_id)}"
    return str(History(root).query(said, "sweep_groups")["scenario"][0].as_py())


def _of(sweep: Sweep, group_id: str) -> str:
    return f"sweep_id = {literal(sweep.sweep_id)} AND group_id = {literal(group_id)}"


def choose(group_id: str, assignor: str, members: int, failure: str) -> None:
    """Remember a case that was clicked; `follow` opens it, for only a page can go to another."""
    st.session_state[_CASE] = (group_id, assignor, members, failure)


def follow(root: str, sweep: Sweep) -> None:
    """Open the case that was clicked in What-if, as a link where it is small enough. Raises HistoryError."""
    if (chosen := st.session_state.pop(_CASE, None)) is None:
        return
    group_id, assignor, members, failure = chosen
    base = load_scenario(_scenario(root, sweep, group_id))
    given = state_whatif.hand_over(staged(base, members, Failure(failure)))
    widgets.go("whatif", {**given, "assignor": assignor})


def clear() -> None:
    """Drop what was read."""
    for cached in (sweeps, gains, cells, _scenario):
        cached.clear()
