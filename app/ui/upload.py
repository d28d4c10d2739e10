"""Stories as files: the download, the uploader, and what is wrong with a file, line by line."""

from collections.abc import Callable, Sequence

import streamlit as st

from app.ui import formats, widgets
from assignors.scenario import ScenarioError

MOST_UPLOAD_MB = 2


SCENARIO = ("yaml", "yml", "json")
TEXT = ("txt",)


def take_along(label: str, key: str, name: str, data: Callable[[], bytes], take: Callable[[bytes, str], None]) -> None:
    """A story as the file `name`, to be edited and played again; `key` is that of its uploader."""
    is_text = name.endswith(TEXT)
    with st.popover(label, icon=":material/description:", type="tertiary"):
        st.download_button(
            "Download",
            data,
            name,
            "text/plain" if is_text else "application/yaml",
            icon=":material/download:",
            on_click="ignore",
            key=f"{key}_download",
        )
        st.markdown(":small[Edit it and play your own story:]")
        uploader(key, take, TEXT if is_text else SCENARIO)


def uploader(key: str, take: Callable[[bytes, str], None], types: Sequence[str] = SCENARIO) -> None:
    """Let a file be chosen; `take` raises ScenarioError when it is none of ours."""
    st.file_uploader(
        "Scenario file",
        type=list(types),
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
