"""The controls of the Delivery lab: strategy, batch, failure and its moment."""

import streamlit as st

from app.ui import widgets
from app.ui.labs import fields
from app.ui.labs.story import refusal
from app.ui.stepper import stepper
from app.views.labs.delivery import labels, text
from app.views.labs.delivery.state import LAB, OUTSIDERS
from assignors.labs.delivery import DeliveryStory, FailureKind, Interceptor, Strategy, first_life
from assignors.labs.delivery.model import AUTO_COMMITTING
from assignors.labs.delivery.stories import MOST_WORKERS
from assignors.labs.story import NONE

_EVERY = (Strategy.EVERY_N, Strategy.EVERY_N_FROM_ZERO)
_ASYNC = (Strategy.ASYNC, Strategy.ASYNC_RETRY)
_WORKERS = (Strategy.WORKERS_SHARED, Strategy.WORKERS_QUEUES)
_REBALANCES = (FailureKind.EAGER, FailureKind.COOPERATIVE)
_TO_100 = (1, 100)


def moment(story: DeliveryStory) -> None:
    """When the failure happens: a stepper over the first consumer's steps."""
    if story.kind is FailureKind.NONE:
        return
    steps = first_life(story.lab, story.failed_commits)
    when = " at the next poll after" if story.kind in _REBALANCES else " after"
    widgets.note(f"The failure happens{when} step {story.step} of consumer A's {len(steps)} steps.")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        stepper(
            "step",
            story.step,
            len(steps),
            "Step",
            lambda at: text.step(story.lab, steps, at),
            lambda at: LAB.change({"step": at}),
        )


def controls(story: DeliveryStory) -> None:
    """Strategy, batch and failure, and the rest in an expander."""
    fields.select(LAB, "Commits", "strategy", labels.STRATEGIES, story.strategy, LAB.set_strategy)
    _by_strategy(story)
    fields.number(LAB, "Records per poll (max.poll.records)", "batch_records", story.batch_records, _TO_100)
    fields.select(LAB, "Failure", "failure", labels.FAILURES, story.kind)
    _by_failure(story)
    with st.expander("Log, interceptor, deserializer", icon=":material/tune:"):
        _log(story)
    refusal(LAB)


def _by_strategy(story: DeliveryStory) -> None:
    if story.strategy in _EVERY:
        fields.number(LAB, "n", "every_records", story.every_records, _TO_100)
    if story.strategy in AUTO_COMMITTING:
        fields.number(LAB, "Polls per auto.commit.interval.ms", "auto_commit_polls", story.auto_commit_polls, _TO_100)
    if story.strategy in _WORKERS:
        fields.number(LAB, "Workers", "workers", story.workers, (1, MOST_WORKERS))
    if story.strategy in _ASYNC:
        _text("Commits that are lost, counted from 0", "failed_commits", story)


def _by_failure(story: DeliveryStory) -> None:
    if story.kind in _REBALANCES:
        fields.field(LAB, st.toggle, "Commit in onPartitionsRevoked", "commits_on_revoke", story.commits_on_revoke)
    if story.kind in OUTSIDERS:
        _text("The standalone consumer commits", "outsider", story)


def _log(story: DeliveryStory) -> None:
    _text("First committed offset of each partition", "start", story)
    _text("Log end offset of each partition", "end", story)
    fields.select(LAB, "Interceptor", "interceptor", labels.INTERCEPTORS, story.interceptor)
    if story.interceptor is not Interceptor.NONE:
        _text("Expired records, as partition:offset", "expired", story)
    _text("Record that cannot be deserialized, as partition:offset", "poison", story)
    if story.poison:
        fields.select(LAB, "The application then", "on_poison", labels.ON_POISON, story.on_poison)


def _text(label: str, parameter: str, story: DeliveryStory) -> None:
    start = story.lab.start if parameter == "start" else None
    written = ", ".join(map(str, start)) if start else story.texts()[parameter]
    shown = "" if written == NONE else written
    fields.field(LAB, st.text_input, label, parameter, shown, max_chars=120, placeholder=NONE)
