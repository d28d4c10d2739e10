"""The watermark lab: log end, high watermark, ISR and leader epochs, step by step. `play` gives the steps."""

from assignors.simulation.watermark.machine import begin, play, play_on, step
from assignors.simulation.watermark.stories import STORIES, Story

__all__ = ["STORIES", "Story", "begin", "play", "play_on", "step"]
