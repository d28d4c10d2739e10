"""The Call lab's story in the URL."""

from app.ui.labs.lab_state import LabState
from assignors.labs.calls import STORIES, CallStory
from assignors.labs.story import from_values
from assignors.model import AssignorError

_STORY = "story:"


class CallLab(LabState[CallStory]):
    """Its scripts can be edited; files of earlier versions are a story's name and a script."""

    def set_script(self, script: str) -> None:
        """Play another script on the same machine, from where it goes wrong; what cannot be played is refused."""
        try:
            self.open(
                self.current().changed({"script": script if script.endswith("\n") else f"{script}\n", "opens": 0})
            )
        except AssignorError as error:
            self.refuse(error)

    def upload(self, data: bytes, name: str) -> None:
        """Show the story of an uploaded file. Raises ScenarioError naming the lines."""
        lines = [line for line in data.decode(errors="replace").splitlines() if not line.startswith("#")]
        if lines and lines[0].startswith(_STORY):
            name, script = lines[0].removeprefix(_STORY).strip(), "\n".join([*lines[1:], ""])
            self.open(from_values({"story": name, "script": script}, self.stories))
        else:
            super().upload(data, name)


LAB = CallLab(STORIES)
