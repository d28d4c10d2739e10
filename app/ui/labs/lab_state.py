"""The story that a lab shows: it is in the URL, and changed, downloaded and uploaded from there."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import streamlit as st

from app.ui import state
from app.ui.labs import link_codec
from assignors.labs.story import Story, from_file, to_file
from assignors.model import AssignorError

S = TypeVar("S", bound=Story)
STEP = "step"
"""The URL parameter of the step that is shown."""


class LabState(Generic[S]):
    """One for each lab; a story that is chosen or uploaded opens at the step that its lab finds most interesting."""

    def __init__(self, stories: Mapping[str, S]) -> None:
        self.stories = stories
        self.first = next(iter(stories.values()))
        self.name = self.first.lab_name
        self._parameters = tuple(self.first.keys())

    def current(self) -> S:
        """The story of the URL; without parameters the first preset. Raises AssignorError."""
        given = {name: text for name in self._parameters if (text := state.url(name)) is not None}
        return link_codec.decode(given, self.stories)

    def parameters(self, story: S) -> dict[str, str]:
        """The URL parameters of a story. Raises AssignorError when it does not fit into a link."""
        return link_codec.encode(story, self.stories)

    def is_changed(self, story: S) -> bool:
        """Whether it differs from its preset."""
        return story != self.stories.get(story.name)

    def write(self, story: S) -> None:
        """Put a story into the URL. Raises AssignorError when it does not fit into a link."""
        parameters = self.parameters(story)
        for name in self._parameters:
            state.set_url(name, parameters.get(name))

    def open(self, story: S) -> None:
        """Show another story, at no step in particular."""
        self.write(story)
        if STEP not in self._parameters:
            state.set_url(STEP, None)

    def change(self, values: Mapping[str, Any]) -> None:
        """Change values by key. What cannot be played is refused, and the page stays as it was."""
        try:
            self.write(self.current().changed(values))
        except AssignorError as error:
            self.refuse(error)

    def refuse(self, why: Exception) -> None:
        """Keep why a change was refused, for `refusal`."""
        st.session_state[f"_{self.name}_refused"] = str(why)

    def refusal(self) -> str | None:
        """Why the last change was refused; returned only once."""
        why: str | None = st.session_state.pop(f"_{self.name}_refused", None)
        return why

    def file(self, story: S) -> bytes:
        """The story as a file."""
        return to_file(story)

    def upload(self, data: bytes, name: str) -> None:
        """Show the story of an uploaded file. Raises ScenarioError naming the lines."""
        self.open(from_file(data, self.stories))
