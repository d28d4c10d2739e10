"""The watermark lab: log end, high watermark, ISR and leader epochs, step by step. `play` gives the steps."""

from assignors.simulation.watermark.machine import begin, play, step

__all__ = ["begin", "play", "step"]
