"""The Delivery lab's story in the URL, and the worst moment of its failure under each strategy, cached."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from app.server.workers.pool import computed
from app.ui.labs.lab_state import LabState
from assignors.labs.delivery import (
    STORIES,
    DeliveryStory,
    Failure,
    FailureKind,
    Lab,
    Strategy,
    first_life,
    under,
    worst,
)
from assignors.labs.delivery.compare import Outcome
from assignors.model import AssignorError

OUTSIDERS = (FailureKind.OUTSIDER_REFUSED, FailureKind.OUTSIDER_ACCEPTED)


class DeliveryLab(LabState[DeliveryStory]):
    """Its failures stay possible when the lab changes."""

    def change(self, values: Mapping[str, Any]) -> None:
        """Change values by key; step and standalone commit are adapted to the new lab."""
        story = self.current()
        try:
            without = story.changed({**values, "failure": FailureKind.NONE, "step": 0})
        except AssignorError as error:
            self.refuse(error)
            return
        step = min(values.get("step", story.step), len(first_life(without.lab, without.failed_commits)))
        outsider = without.outsider if values.get("failure", story.kind) in OUTSIDERS else ()
        if values.get("failure", story.kind) in OUTSIDERS and len(outsider) != len(without.end):
            outsider = without.lab.start
        super().change({**values, "step": step, "outsider": outsider})

    def set_strategy(self, strategy: Strategy) -> None:
        """Use another strategy, with the failure at the same moment."""
        story = self.current()
        self.change({"strategy": strategy, "step": under(story.lab, story.failure, strategy)[1].step})


LAB = DeliveryLab(STORIES)


def worst_of(lab: Lab, failure: Failure) -> Mapping[Strategy, Outcome]:
    """Per strategy the most records processed twice and lost, over all moments of the failure: up to a second of work.

    Raises NotComputed.
    """
    anytime = replace(failure, step=0)
    return _worst(repr((lab, sorted(lab.expired), anytime.kind, sorted(anytime.failed_commits))), lab, anytime)


@st.cache_resource(max_entries=64, show_spinner=False)
def _worst(key: str, _lab: Lab, _failure: Failure) -> Mapping[Strategy, Outcome]:
    return computed(partial(worst, _lab, _failure))
