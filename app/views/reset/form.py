"""The choices of the page: group, where the offsets go, topics."""

import streamlit as st

from app.ui import state, widgets
from app.views.reset import runs
from app.views.reset.link import MAX_TEXT, WAYS, Choice


def draw(page: state.Shown, choice: Choice) -> None:
    """The form. Every choice is in the URL; the button makes the plan."""
    group, way, value, topics = st.columns([0.24, 0.24, 0.26, 0.26], gap="small", vertical_alignment="bottom")
    with group:
        _pick("Group", state.group_ids(page), choice.group, "group")
    with way:
        _pick("New offsets", list(WAYS), choice.way, "to", format_func=lambda name: WAYS[name].label)
    label = WAYS[choice.way].value
    with value:
        _field(label or "No value needed", "value", WAYS[choice.way].example, disabled=label is None)
    with topics:
        _field("Topics", "topics", "all that the group has committed", help_=_TOPICS)
    clicked = widgets.clicked(
        "Make the plan", "reset_plan", type="primary", icon=":material/checklist:", disabled=choice.group is None
    )
    if clicked:
        runs.start_plan(choice)
        st.rerun()


_TOPICS = "Separated by blanks: a topic, topic:0,1 for partitions, or a pattern such as pay.*"


def _pick(label: str, options: list[str], chosen: str | None, name: str, **more: object) -> None:
    with st.container(gap="xxsmall"):
        st.markdown(f":small[{label}]")
        widgets.picker(label, options, chosen, f"reset_{name}", lambda new: state.set_url(name, new), **more)


def _field(label: str, name: str, example: str, disabled: bool = False, help_: str | None = None) -> None:
    key = f"reset_{name}"
    st.session_state[key] = (state.url(name) or "")[:MAX_TEXT]
    st.text_input(
        label,
        key=key,
        placeholder=example,
        disabled=disabled,
        help=help_,
        max_chars=MAX_TEXT,
        on_change=lambda: state.set_url(name, st.session_state[key].strip() or None),
    )
