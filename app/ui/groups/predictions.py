"""Predictions of live groups: what What if and the Demo page computed, kept in this process for all sessions.

When such a rebalance happens, Generations and Group compare it with its prediction (`lag.generations.prediction`).
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.scenario import draft_state
from app.ui.scenario.draft import Draft
from assignors.model import AssignorError
from assignors.whatif.events import Action, Scenario
from lag.errors import GroupscopeError
from lag.generations.prediction import Outcome, Prediction, outcomes
from lag.generations.recorded import Recording

MAX_DEVIATIONS = 5
MAX_PREDICTIONS = 100
MAX_PARTITIONS = 20_000
"""A larger group is not kept: comparing its moves would take too long for a page."""

WHAT_IF, DEMO = "What if", "Demo"


class Predictions:
    """The last predictions of all clusters, at most MAX_PREDICTIONS."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str, str], Prediction] = OrderedDict()

    def add(self, cluster: str, group_id: str, key: str, prediction: Prediction) -> None:
        """Keep a prediction; the same one (by `key`) is kept once, with its first time."""
        with self._lock:
            self._kept.setdefault((cluster, group_id, key), prediction)
            while len(self._kept) > MAX_PREDICTIONS:
                self._kept.popitem(last=False)

    def of(self, cluster: str, group_id: str) -> list[Prediction]:
        """The predictions of a group, oldest first."""
        with self._lock:
            return [one for (where, group, _), one in self._kept.items() if (where, group) == (cluster, group_id)]


@st.cache_resource(show_spinner=False)
def _predictions() -> Predictions:
    return Predictions()


def keep(page: state.Shown, draft: Draft, source: str = WHAT_IF) -> None:
    """Keep the prediction of a draft that began as a live group and has events, with the group's own assignor."""
    scenario = draft.scenario
    partitions = sum(topic.partitions for topic in scenario.topics.values())
    if draft.group_id is None or not scenario.events or partitions > MAX_PARTITIONS:
        return
    made = draft_state.outcome(draft, scenario.assignor)
    if made.error is None:
        kept = Prediction(page.report.snapshot.at_ms, source, tuple(made.generations))
        _predictions().add(page.cluster, draft.group_id, draft_state.key_of(draft), kept)


def keep_action(group_id: str, actions: Callable[[Scenario], Sequence[Action]]) -> None:
    """Keep the prediction of what the Demo page is about to do to a group; nothing if it cannot be predicted."""
    page = state.shown()
    if page is None:
        return
    with suppress(AssignorError, GroupscopeError, KeyError):
        draft = draft_state.from_group(page, group_id)
        keep(page, draft.then(actions(draft.scenario)), DEMO)


def came_true(page: state.Shown, group_id: str, live: Recording) -> Mapping[int, Outcome]:
    """By position in the group's generations: the prediction that came true there."""
    known = _predictions().of(page.cluster, group_id)
    return outcomes(live.generations, known) if known else {}


def show(found: Outcome | None, names: Mapping[str, str]) -> None:
    """Say that a rebalance was predicted, and how it differs; nothing if it was not."""
    if found is None:
        return
    head, _, rest = sentence(found, names).partition(": ")
    when = formats.clock(found.prediction.at_ms, state.zone())
    where = f":gray[(generation {found.number}, predicted by {found.prediction.source} at {when})]"
    colour, icon = (":orange", "difference") if found.deviations else (":green", "check_circle")
    widgets.line(colour, icon, head, f"{formats.md(rest)} {where}")


def sentence(found: Outcome, names: Mapping[str, str]) -> str:
    """ "As predicted: 3 of 3 moves"; or what went elsewhere, partition by partition."""
    count = f"{found.as_predicted:,} of {formats.plural(found.moves, 'move')}" if found.moves else "no move"
    if not found.deviations:
        return f"As predicted: {count}"
    parts = [
        f"{one.tp} went to {_member(one.recorded, names)}, predicted {_member(one.predicted, names)}"
        for one in found.deviations[:MAX_DEVIATIONS]
    ]
    more = len(found.deviations) - len(parts)
    rest = f"; and {more:,} more" if more else ""
    came_true = f"{count} came true. " if found.moves else ""
    return f"Not as predicted: {came_true}{'; '.join(parts)}{rest}"


def _member(name: str | None, names: Mapping[str, str]) -> str:
    return "nobody" if name is None else names.get(name, name)
