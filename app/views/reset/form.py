"""The choices of the page: group, change, and what the change needs: a value, a file, topics."""

from collections.abc import Callable, Iterator
from typing import Any

import streamlit as st

from app.ui import link_values, state, upload, widgets
from app.ui.link_values import MAX_TEXT
from app.views.reset import runs
from app.views.reset.link import FILE_KEY, WAYS, Choice

FILE_TYPES = ("csv", "json", "yaml", "yml")
FIELD_PX = 300
_TOPICS = "Separated by spaces: a topic, topic:0,1 for partitions, or a pattern such as pay.*"
_ALL = {"file": "everything in the file", "group": "everything the other group has committed"}


def draw(page: state.Shown, choice: Choice) -> None:
    """The form. Every choice but the file is in the URL; the button makes the plan."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for field in _fields(page, choice):
            with st.container(gap="xxsmall", width=FIELD_PX):
                field()
    if choice.way == "file":
        _uploader()
    widgets.note(WAYS[choice.way].means)
    clicked = widgets.clicked(
        "Make the plan", "reset_plan", type="primary", icon=":material/checklist:", disabled=choice.group is None
    )
    if clicked:
        runs.start_plan(choice)
        st.rerun()


def _fields(page: state.Shown, choice: Choice) -> Iterator[Callable[[], None]]:
    way = WAYS[choice.way]
    yield lambda: _pick(
        "Group", state.group_ids(page), choice.group, "group", _choose_group, placeholder="Choose a group"
    )
    yield lambda: _pick("Change", list(WAYS), choice.way, "to", _choose_way, format_func=lambda name: WAYS[name].label)
    if choice.way == "remove-member":
        yield lambda: _pick_member(page, choice)
    elif way.value is not None:
        yield lambda: _text(way.value or "", "value", way.example)
    if way.has_topics:
        yield lambda: _text("Topics", "topics", _ALL.get(choice.way, "everything the group has committed"), _TOPICS)


def _choose_group(group: str) -> None:
    """Drop parameters of the URL that are too long: with one, no plan is made."""
    state.set_url("group", group)
    for name in ("topics", "value"):
        if len(state.url(name) or "") > MAX_TEXT:
            state.set_url(name, None)
    if state.url("to") == "remove-member":
        state.set_url("value", None)


def _choose_way(way: str) -> None:
    """The value of one change does not apply to another."""
    state.set_url("to", way)
    state.set_url("value", None)


def _pick(
    label: str, options: list[str], chosen: str | None, name: str, choose: Callable[[Any], None], **more: Any
) -> None:
    st.markdown(f":small[{label}]")
    widgets.picker(label, options, chosen, f"reset_{name}", choose, **more)


def _pick_member(page: state.Shown, choice: Choice) -> None:
    """The static members of the group, by instance id."""
    group = None if choice.group is None else page.report.snapshot.group(choice.group)
    instances = sorted(member.instance_id for member in (group.members if group else ()) if member.instance_id)
    nobody = "Choose its instance id" if instances else "The group has no static member"
    _pick(
        "Static member",
        instances,
        choice.value or None,
        "member",
        lambda new: state.set_url("value", new),
        placeholder=nobody,
        disabled=not instances and not choice.value,
    )


def _text(label: str, name: str, example: str, help_: str | None = None) -> None:
    key = f"reset_{name}"
    st.session_state[key] = link_values.short_text(name) or ""
    st.text_input(
        label,
        key=key,
        placeholder=example,
        help=help_,
        max_chars=MAX_TEXT,
        on_change=lambda: state.set_url(name, st.session_state[key].strip() or None),
    )


def _uploader() -> None:
    st.file_uploader(
        "CSV of kafka-consumer-groups (topic,partition,offset), or a plan (JSON or YAML)",
        type=list(FILE_TYPES),
        max_upload_size=upload.MOST_UPLOAD_MB,
        key=FILE_KEY,
        width=2 * FIELD_PX,
    )
