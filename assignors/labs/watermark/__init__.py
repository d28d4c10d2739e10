"""The watermark lab: log end, high watermark, ISR and leader epochs, step by step. `play_on` gives the steps."""

from assignors.labs.watermark.player import begin, play_on, step
from assignors.labs.watermark.stories import STORIES, WatermarkStory

__all__ = ["STORIES", "WatermarkStory", "begin", "play_on", "step"]
