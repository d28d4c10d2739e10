"""What a call story is."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a script is played on; the value is how links name it."""

    CLIENT = "consumer"
    CLASSIC_GROUP = "classic-group"
    CONSUMER_GROUP = "consumer-group"
    FINDER = "finder"
    CONNECTIONS = "connections"
    GROUPS = "groups"
    OFFSETS_TOPIC = "offsets-topic"


@dataclass(frozen=True, slots=True)
class Story:
    """A preset: `name` for links, `title` for people, `shows` in one sentence, the script and what plays it."""

    name: str
    title: str
    shows: str
    kind: Kind
    script: str


def told(name: str, title: str, shows: str, kind: Kind, *lines: str) -> Story:
    """A story from its lines."""
    return Story(name, title, shows, kind, "\n".join(lines) + "\n")
