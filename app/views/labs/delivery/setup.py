"""What the Delivery lab is set up from: a story, or strategy, batch, failure and its moment by hand."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

import streamlit as st

from app.ui import formats, state, upload, widgets
from app.ui.stepper import stepper
from app.ui.story import choose, shows
from app.views.labs.delivery import link
from app.views.labs.delivery import state as state_delivery
from app.views.labs.delivery import text as sentences_delivery
from app.views.labs.delivery.link import joined
from assignors.labs.checklist import Page
from assignors.labs.delivery import (
    STORIES,
    Failure,
    FailureKind,
    Interceptor,
    Lab,
    OnPoison,
    Strategy,
    first_life,
)
from assignors.labs.delivery.model import AUTO_COMMITTING

OWN, _UPLOAD = "own", "delivery_file"
_EVERY = (Strategy.EVERY_N, Strategy.EVERY_N_FROM_ZERO)
_ASYNC = (Strategy.ASYNC, Strategy.ASYNC_RETRY)
_WORKERS = (Strategy.WORKERS_SHARED, Strategy.WORKERS_QUEUES)
_REBALANCES = (FailureKind.EAGER, FailureKind.COOPERATIVE)
_Choice = TypeVar("_Choice", bound=StrEnum)


def story(lab: Lab, failure: Failure) -> None:
    """Choose a story, and what it shows; what is set up by hand is your own."""
    titles = {its.name: its.title for its in STORIES}
    now = link.story_of(lab, failure)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        choose(
            "delivery_story",
            now.name if now else OWN,
            [*titles, *([] if now else [OWN])],
            lambda name: titles.get(name, "Your own story"),
            _tell,
        )
        text = now.shows if now else "Change anything below; the address holds all of it."
        shows(text, Page.DELIVERY, now.name if now else None)
        upload.take_along(
            "Story file", _UPLOAD, "delivery.txt", lambda: state_delivery.as_file(lab, failure), state_delivery.take
        )
    upload.problems(_UPLOAD)


def _tell() -> None:
    named = link.BY_NAME.get(st.session_state["delivery_story"])
    if named:
        state_delivery.show(named.lab, named.failure)


def moment(lab: Lab, failure: Failure) -> None:
    """When it goes wrong: a stepper over the first consumer's life."""
    if failure.kind is FailureKind.NONE:
        return
    course = first_life(lab, failure.failed_commits)
    when = " at its next poll after" if failure.kind in _REBALANCES else " after"
    widgets.note(f"It goes wrong{when} step {failure.step} of the {len(course)} that consumer A takes.")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        stepper("step", failure.step, len(course), "Step", lambda at: sentences_delivery.step(lab, course, at), _goes)


def _goes(at: int) -> None:
    lab, failure = state_delivery.chosen()
    state_delivery.show(lab, replace(failure, step=at))


def controls(lab: Lab, failure: Failure) -> None:
    """Strategy, batch and failure, and what else can be set."""
    _select("Commits", "strategy", list(Strategy), lab.strategy, state_delivery.switch)
    _by_strategy(lab, failure)
    _number("Records per poll (max.poll.records)", "batch_records", lab.batch_records)
    _select("What goes wrong", "kind", list(FailureKind), failure.kind, _fails)
    _by_failure(lab, failure)
    with st.expander("Log, interceptor, deserializer", icon=":material/tune:"):
        _log(lab)
    if (told := state.refused(state_delivery.LAB)) is not None:
        widgets.line(":red", "error", "Not changed", formats.md(told))


def _fails(kind: FailureKind) -> None:
    lab, failure = state_delivery.chosen()
    state_delivery.show(lab, replace(failure, kind=kind))


def _by_strategy(lab: Lab, failure: Failure) -> None:
    if lab.strategy in _EVERY:
        _number("n", "every_records", lab.every_records)
    if lab.strategy in AUTO_COMMITTING:
        _number("Polls in auto.commit.interval.ms", "auto_commit_polls", lab.auto_commit_polls)
    if lab.strategy in _WORKERS:
        _number("Workers", "workers", lab.workers, link.MOST_WORKERS)
    if lab.strategy in _ASYNC:
        _text("Commits that get lost, counted from 0", "failed_commits", joined(sorted(failure.failed_commits)), "none")


def _by_failure(lab: Lab, failure: Failure) -> None:
    if failure.kind in _REBALANCES:
        key = "delivery_commits_on_revoke"
        st.session_state[key] = lab.commits_on_revoke
        st.toggle(
            "Commits in onPartitionsRevoked",
            key=key,
            on_change=lambda: state_delivery.change("commits_on_revoke", "yes" if st.session_state[key] else "no"),
        )
    if failure.kind in state_delivery.OUTSIDERS:
        _text("The standalone consumer commits", "outsider", joined(failure.outsider))


def _log(lab: Lab) -> None:
    _text("First committed offset of each partition", "start", joined(lab.start))
    _text("Log end of each partition", "end", joined(lab.end))
    _select("Interceptor", "interceptor", list(Interceptor), lab.interceptor, _of_lab("interceptor"))
    if lab.interceptor is not Interceptor.NONE:
        _text("Expired records, as partition:offset", "expired", joined(sorted(lab.expired)), "none")
    _text("Cannot be deserialized, as partition:offset", "poison", str(lab.poison) if lab.poison else "", "none")
    if lab.poison:
        _select("Then the application", "on_poison", list(OnPoison), lab.on_poison, _of_lab("on_poison"))


def _of_lab(field: str) -> Callable[[StrEnum], None]:
    return lambda member: state_delivery.change(field, link.slug(member))


def _select(
    label: str, field: str, options: Sequence[_Choice], value: _Choice, write: Callable[[_Choice], None]
) -> None:
    key = f"delivery_{field}"
    st.session_state[key] = value
    st.selectbox(
        label,
        options,
        key=key,
        format_func=lambda option: option.value,
        on_change=lambda: write(st.session_state[key]),
    )


def _number(label: str, field: str, value: int, most: int = 100) -> None:
    key = f"delivery_{field}"
    st.session_state[key] = min(value, most)
    st.number_input(label, 1, most, key=key, on_change=lambda: state_delivery.change(field, str(st.session_state[key])))


def _text(label: str, field: str, value: str, placeholder: str = "") -> None:
    key = f"delivery_{field}"
    st.session_state[key] = value
    st.text_input(
        label,
        key=key,
        placeholder=placeholder,
        max_chars=120,
        on_change=lambda: state_delivery.change(field, st.session_state[key]),
    )


def begin_again() -> None:
    """Go to the first story."""
    state_delivery.show(link.FIRST.lab, link.FIRST.failure)
