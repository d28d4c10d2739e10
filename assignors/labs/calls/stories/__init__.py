"""The stories of the call lab: scripts, each with what it shows; every one can be edited and played again."""

from assignors.labs.calls.stories import brokers, client, coordinator, reading
from assignors.labs.calls.stories.model import Kind, Story

STORIES: tuple[Story, ...] = (*client.STORIES, *reading.STORIES, *coordinator.STORIES, *brokers.STORIES)
"""The first is where the lab opens."""

__all__ = ["STORIES", "Kind", "Story"]
