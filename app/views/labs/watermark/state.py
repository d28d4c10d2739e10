"""The Watermark lab's story in the URL."""

from app.ui.labs.lab_state import STEP, LabState
from app.ui.stepper import go
from assignors.labs.watermark import STORIES, WatermarkStory, begin, play_on, step
from assignors.labs.watermark.model import Action, WatermarkError
from assignors.labs.watermark.stories import MOST_ACTIONS
from assignors.model import AssignorError


class WatermarkLab(LabState[WatermarkStory]):
    """Actions can be added to its story."""

    def add(self, at: int, action: Action) -> None:
        """Add an action after a step, in place of the following ones. An impossible action is refused."""
        story = self.current()
        steps, _ = play_on(begin(story.replicas, story.settings), story.actions[:at])
        try:
            if at >= MOST_ACTIONS:
                raise WatermarkError(f"A story has at most {MOST_ACTIONS} actions.")
            step(steps[-1].state, action)
            self.write(story.changed({"do": (*story.actions[:at], action)}))
        except (AssignorError, WatermarkError) as error:
            self.refuse(error)
            return
        go(STEP, at + 1)


LAB = WatermarkLab(STORIES)
