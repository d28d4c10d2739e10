"""Stories and scenarios as files: download, upload, and the problems of an uploaded file, line by line."""

from collections.abc import Callable

import streamlit as st

from app.ui import downloads, formats, widgets
from assignors.scenario import ScenarioError

MOST_UPLOAD_MB = 2
TYPES = ("yaml", "yml", "json")

Take = Callable[[bytes, str], None]
"""Takes the bytes and the name of an uploaded file. Raises ScenarioError for one that cannot be played."""


def story_file(key: str, name: str, data: Callable[[], bytes], take: Take) -> None:
    """A story as the file `name`, to edit and upload; `key` is that of its uploader."""
    with st.popover("Story file", icon=":material/description:", type="tertiary"):
        downloads.button("Download", data, name, "application/yaml", f"{key}_download")
        st.markdown(":small[Edit the file, then upload it:]")
        uploader(key, take, (*TYPES, "txt"))


def uploader(key: str, take: Take, types: tuple[str, ...] = TYPES) -> None:
    """Let a file be chosen."""
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


def _upload(key: str, take: Take) -> None:
    file = st.session_state[key]
    st.session_state.pop(_problems_key(key), None)
    if file is None:
        return
    try:
        take(file.getvalue(), file.name)
    except ScenarioError as error:
        st.session_state[_problems_key(key)] = (file.name, error.problems)


def problems(key: str) -> None:
    """What is wrong with the file last uploaded, line by line."""
    if (found := st.session_state.get(_problems_key(key))) is None:
        return
    name, problems_ = found
    with st.container(gap="xxsmall"):
        count = formats.plural(len(problems_), "problem")
        widgets.line(":red", "error", f"{formats.md(name)} was not loaded", f"{count}; nothing has changed")
        for problem in problems_:
            where = f"line {problem.line}" if problem.line else "file"
            path = f" {formats.code(problem.path)}" if problem.path else ""
            st.markdown(f":small[**{where}**{path} {formats.md(problem.message)}]")


def _problems_key(key: str) -> str:
    return f"_{key}_problems"
