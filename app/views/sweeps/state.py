"""What the Sweeps page reads of the history (delta-rs, never Spark), and the way from a case to What-if.

URL parameters: `sweep` (its id; none: the newest), `group`, `measure`, `value` and `failure`.
"""

from dataclasses import dataclass
from datetime import datetime

import pandas as pd
import streamlit as st

from app.server import source
from app.ui import widgets
from app.ui.scenario import draft_state
from app.views.sweeps import tables
from assignors.registry import names
from assignors.scenario import load_scenario
from lag.errors import HistoryError
from lag.history.store import History, literal
from lag.sweeps.cases import staged
from lag.sweeps.plan import Failure

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
    return source.current().settings.history


@st.cache_data(ttl=LISTED_FOR_S, show_spinner=False)
def sweeps(root: str) -> list[Sweep]:
    """The sweeps there are, the newest first. Raises HistoryError."""
    said = (
        'SELECT sweep_id, "cluster", max("at") AS "at", count(*) AS cases FROM sweeps '
        'GROUP BY sweep_id, "cluster" ORDER BY 3 DESC, 1'
    )
    found = History(root).query_open(said, "sweeps")
    return [] if found is None else [Sweep(**row) for row in found.to_pylist()]


@st.cache_resource(max_entries=4, show_spinner="Reading the sweep")
def gains(root: str, sweep: Sweep) -> pd.DataFrame:
    """What each group would gain (`app.views.sweeps.tables.gains`). Raises HistoryError."""
    one = f"WHERE sweep_id = {literal(sweep.sweep_id)}"
    groups = _rows(root, "sweep_groups", f"SELECT * EXCEPT (scenario, dt) FROM sweep_groups {one}")
    needed = "group_id, assignor, members, moved, hot_share, unassigned, drain_s, reason"
    return tables.gains(groups, _rows(root, "sweeps", f"SELECT {needed} FROM sweeps {one} AND failure = 'none'"))


@st.cache_resource(max_entries=32, show_spinner=False)
def cells(root: str, sweep: Sweep, group_id: str, own: str) -> pd.DataFrame:
    """All cases of a group, its `own` assignor first, then by members. Raises HistoryError."""
    said = f"SELECT * EXCEPT (dt) FROM sweeps WHERE {_of(sweep, group_id)} ORDER BY members"
    order = {name: at for at, name in enumerate(dict.fromkeys([own, *names()]))}
    frame = _rows(root, "sweeps", said)
    return frame.sort_values("assignor", key=lambda them: them.map(order), kind="stable").reset_index(drop=True)


@st.cache_data(max_entries=32, show_spinner=False)
def _scenario(root: str, sweep: Sweep, group_id: str) -> str:
    found = _rows(root, "sweep_groups", f"SELECT scenario FROM sweep_groups WHERE {_of(sweep, group_id)}")
    if found.empty:
        raise HistoryError(f"{group_id} is not in sweep {sweep.sweep_id} any more", "Load the page again.")
    return str(found["scenario"][0])


def _rows(root: str, name: str, said: str) -> pd.DataFrame:
    found = History(root).query_open(said, name)
    if found is None:
        raise HistoryError(f"{root} has no table {name} any more", "Run the sweep again: groupscope sweep")
    frame: pd.DataFrame = found.to_pandas()
    return frame


def _of(sweep: Sweep, group_id: str) -> str:
    return f"sweep_id = {literal(sweep.sweep_id)} AND group_id = {literal(group_id)}"


def choose(group_id: str, assignor: str, members: int, failure: str) -> None:
    """Remember a case that was clicked; `follow` opens it, for only a page can go to another."""
    st.session_state[_CASE] = (group_id, assignor, members, failure)


def follow(root: str, sweep: Sweep) -> None:
    """Open the case that was clicked in What-if, as a link where it is small enough.

    Raises HistoryError; AssignorError when the case cannot be, or its scenario is not one that What-if takes.
    """
    if (chosen := st.session_state.pop(_CASE, None)) is None:
        return
    group_id, assignor, members, failure = chosen
    base = load_scenario(_scenario(root, sweep, group_id))
    given = draft_state.hand_over(staged(base, members, Failure(failure)))
    widgets.go("whatif", {**given, "assignor": assignor})


def clear() -> None:
    """Drop what was read."""
    for cached in (sweeps, gains, cells, _scenario):
        cached.clear()
