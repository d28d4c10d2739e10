"""What Kafka 4.3.1's coordinator did in stories S7 and S7i of KIP-848, played again line by line.

Each line of the fixture has a time, a heartbeat with its answer, and the group after it, members in Kafka's order. A
member that joins owns nothing and says so; the others say what they own where the line has it.
"""

import re

import pytest

from assignors.model import Topic
from assignors.simulation.consumer import ConsumerCoordinator, InstantLog, Settings, TopicIdPartition, Topics
from assignors.simulation.consumer.messages import JOINING, Heartbeat, HeartbeatReply, Reply
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Kernel
from tests.assignors.simulation.recorded_traces import Chapter, chapters

TOPIC = Topic("foo", 6, topic_id="AAAAAAAAAAEAAAAAAAAAAQ")  # as the recorder had it
ALIVE = "A"
"""Who sends a heartbeat every second while others are silent, of which the fixture has no lines."""

_LINE = re.compile(
    r"  t=(?P<at_ms>\d+) +(?P<who>[A-Z]) HB\(epoch (?P<epoch>-?\d+)(?:, owned=\[(?P<owned>[\d, ]*)\])?\) "
    r"-> (?P<answer>.*?) *\| (?P<group>.*)"
)
CHAPTERS = [chapter for chapter in chapters() if chapter.is_consumer]


class Player:
    """Plays the lines of one story on our coordinator, and says what it saw in the fixture's words."""

    def __init__(self, chapter: Chapter) -> None:
        self._kernel = Kernel()
        settings = Settings() if chapter.name == "S7i" else Settings(assignment_interval_ms=0)
        self._coordinator = ConsumerCoordinator(
            self._kernel, lambda: "nobody asks for one", InstantLog(), Topics.of([TOPIC]), settings
        )
        self._epochs: dict[str, int] = {}

    def play(self, line: str) -> str:
        """The line as it is here."""
        match = _LINE.fullmatch(line)
        assert match is not None, line
        self._wait(int(match["at_ms"]))
        owned = None if match["owned"] is None else [int(part) for part in match["owned"].split(", ") if part]
        answer = self._beat(match["who"], int(match["epoch"]), owned)
        begin, end = match.span("answer")
        return line[:begin] + answer.ljust(end - begin) + line[end : match.start("group")] + self._state()

    def _wait(self, at_ms: int) -> None:
        if at_ms - self._kernel.now_ms < 10_000:
            self._kernel.run_until(at_ms)
        for second in range(self._kernel.now_ms + 1000, at_ms + 1, 1000):
            self._kernel.run_until(second)
            self._beat(ALIVE, self._epochs[ALIVE], None)

    def _beat(self, who: str, epoch: int, owned: list[int] | None) -> str:
        stated = None if owned is None else frozenset(TopicIdPartition(str(TOPIC.topic_id), number) for number in owned)
        timeout_ms, topics = (300_000, ("foo",)) if epoch == JOINING else (None, None)
        request = Heartbeat(who, epoch, None, timeout_ms, topics, owned=stated, client_id=who)
        replies: list[Reply] = []
        self._coordinator.handle(request, replies.append)
        (reply,) = replies
        assert isinstance(reply, HeartbeatReply)
        assert reply.error is KafkaError.NONE
        self._epochs[who] = reply.epoch
        return _words(reply)

    def _state(self) -> str:
        group = self._coordinator.group
        assert group is not None
        members = "".join(f"{name}:{member.state}@{member.epoch} " for name, member in group.members.items())
        return f"group {group.state} epoch={group.epoch} target={group.target_epoch} {members}"


def _words(reply: HeartbeatReply) -> str:
    given = reply.assignment
    numbers = "(unchanged)" if given is None else str(sorted(partition.partition for partition in given))
    return f"epoch={reply.epoch} assignment={numbers}"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_a_recorded_story_happens_again_to_the_millisecond(chapter: Chapter) -> None:
    player = Player(chapter)
    for recorded in chapter.lines:
        assert player.play(recorded) == recorded, chapter.title


def test_every_kip_848_story_of_the_fixture_is_played() -> None:
    assert [(chapter.name, len(chapter.lines)) for chapter in CHAPTERS] == [("S7", 22), ("S7i", 23)]
