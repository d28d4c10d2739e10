"""Taking a scenario file: the uploader, and what is wrong with the file, line by line."""

from collections.abc import Callable

import streamlit as st

from app import formats, widgets
from assignors.scenario import ScenarioError

MOST_UPLOAD_MB = 2


def uploader(key: str, take: Callable[[bytes, str], None]) -> None:
    """Let a file be chosen; `take` raises ScenarioError when it is no scenario."""
    st.file_uploader(
        "Scenario file",
        type=["yaml", "yml", "json"],
        max_upload_size=MOST_UPLOAD_MB,
        key=key,
        label_visibility="collapsed",
        width=420,
        on_change=_upload,
        args=(key, take),
    )


def _upload(key: str, take: Callable[[bytes, str], None]) -> None:
    sent = st.session_state[key]
    st.session_state.pop(_wrong(key), None)
    if sent is None:
        return
    try:
        take(sent.getvalue(), sent.name)
    except ScenarioError as error:
        st.session_state[_wrong(key)] = (sent.name, error.problems)


def problems(key: str) -> None:
    """What is wrong with the file last uploaded, line by line; what was there before it stays."""
    if (wrong := st.session_state.get(_wrong(key))) is None:
        return
    name, told = wrong
    found = formats.plural(len(told), "problem")
    with st.container(gap="xxsmall"):
        widgets.line(":red", "error", f"{formats.md(name)} was not taken", f"{found}; nothing has changed")
        for problem in told:
            where = f"line {problem.line}" if problem.line else "file"
            path = f" {formats.code(problem.path)}" if problem.path else ""
            st.markdown(f":small[**{where}**{path} {formats.md(problem.message)}]")


def _wrong(key: str) -> str:
    return f"_{key}_wrong"
