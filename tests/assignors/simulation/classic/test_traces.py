"""What Kafka 4.3.1's coordinator did in stories S1 to S6, S8 and S9, played again line by line.

Each line of the fixture has a time, a request with its result (or a note), and the group after it. Nothing may happen
between two lines: a timer that changes the group has a line of its own, with its millisecond.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest

from assignors.model import TopicPartition
from assignors.simulation.classic import ClassicCoordinator, InstantLog
from assignors.simulation.classic.messages import (
    Commit,
    CommitReply,
    Heartbeat,
    HeartbeatReply,
    Join,
    JoinReply,
    Leave,
    Leaver,
    LeaveReply,
    Reply,
    Request,
    Sync,
    SyncReply,
)
from assignors.simulation.classic.records import GroupRecord
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Kernel
from tests.assignors.simulation.recorded_traces import Chapter, chapters

ALIVE = {"S1c": "A", "S3b": "B"}
"""Who sends a heartbeat every second, of which the fixture has no lines."""

_LINE = re.compile(r"  t=(\d+) +(.*?) *\| (.*)")
_STEP = re.compile(
    r"(?:zombie )?(?P<who>[A-Z]'?)(?: gen1 view)? (?P<what>Join|JoinResponse|Sync|Heartbeat|OffsetCommit|LeaveGroup)"
    r"(?P<how>\([^)]*\))?(?: ->)? (?P<result>.*)"
)
_EXCEPTIONS = {
    "FencedInstanceIdException": "FENCED_INSTANCE_ID",
    "IllegalGenerationException": "ILLEGAL_GENERATION",
    "RebalanceInProgressException": "REBALANCE_IN_PROGRESS",
    "UnknownMemberIdException": "UNKNOWN_MEMBER_ID",
}


def stories() -> Iterator[list[Chapter]]:
    """Chapters that go on with the same group."""
    story: list[Chapter] = []
    for chapter in (chapter for chapter in chapters() if not chapter.is_consumer):
        begins = chapter.lines[0].startswith("  t=0 ") and not chapter.name.startswith("S8b")
        if begins and story:
            yield story
            story = []
        story.append(chapter)
    yield story


@dataclass
class Client:
    """What a client knows."""

    name: str
    static: bool = False
    member_id: str = ""
    generation: int = -1
    replies: list[Reply] = field(default_factory=list)

    @property
    def instance_id(self) -> str | None:
        return f"i{self.name[0]}" if self.static else None

    def learn(self, reply: Reply) -> None:
        self.replies.append(reply)
        if isinstance(reply, JoinReply) and reply.member_id:
            self.member_id = reply.member_id
            self.generation = max(self.generation, reply.generation)


class Player:
    """Plays the lines of one story on our coordinator, and says what it saw in the fixture's words."""

    def __init__(self, story: list[Chapter]) -> None:
        seconds = re.search(r"rebalance (?:timeout )?(\d+)s", " ".join(chapter.title for chapter in story))
        self._rebalance_ms = int(seconds[1]) * 1000 if seconds else 300_000
        self._ids = (f"-{number}" for number in count())
        self._clients: dict[str, Client] = {}
        self._alive = ""
        self._load(InstantLog())

    def _load(self, log: InstantLog) -> None:
        self._kernel, self._log = Kernel(), log
        self._coordinator = ClassicCoordinator(
            self._kernel, lambda prefix: prefix + next(self._ids), log, records=list(log.records)
        )

    def play(self, chapter: Chapter) -> Iterator[tuple[str, str]]:
        """Each line, and what became of it here."""
        self._alive = ALIVE.get(chapter.name, "")
        if chapter.name == "S8b":
            self._load(self._first_log)
            self._clients["A"].generation = 1
        for line in chapter.lines:
            yield line, self._line(line)

    def _line(self, line: str) -> str:
        match = _LINE.fullmatch(line)
        if match is None:  # what a parked sync got in the end
            who = "B" if " F " in line else line.split()[0]
            return f"{line.partition('->')[0]}-> {self._clients[who].replies[-1].error.name}"
        at_ms, text = int(match[1]), match[2]
        self._wait(at_ms, text)
        return f"  t={at_ms:<7} {self._do(text):<60} | {self._state()}"

    def _wait(self, at_ms: int, text: str) -> None:
        before = self._state()
        for second in range(self._kernel.now_ms // 1000 * 1000 + 1000, at_ms, 1000):
            self._kernel.run_until(second)
            self._beat()
        self._kernel.run_until(max(at_ms - 1, self._kernel.now_ms))
        assert self._state() == before, f"not before {at_ms} ms"
        if at_ms > self._kernel.now_ms:
            self._kernel.run_until(at_ms)
            assert text == "(timer)" or self._state() == before, f"not at {at_ms} ms"
            self._beat()

    def _beat(self) -> None:
        if self._alive and self._clients[self._alive].generation >= 0:
            client = self._clients[self._alive]
            self._ask(client, Heartbeat(client.member_id, client.generation), [])

    def _state(self) -> str:
        group = self._coordinator.group
        if group is None:
            return "(no group)"
        return (
            f"{group.state} gen={group.generation} members={len(group.members)} "
            f"awaitingJoin={group.parked_joins} pending={len(group.pending_ids)}"
        )

    def _do(self, text: str) -> str:
        match = _STEP.fullmatch(text)
        if match is None:
            self._note(text)
            return text
        client = self._clients.setdefault(match["who"], Client(match["who"]))
        how = match["how"] or ""
        if match["what"] == "JoinResponse":
            result = _join_words(client.replies.pop(0))
        else:
            client.static |= "static" in how
            result = self._result(client, self._request(client, match["what"], how))
        if match["result"] in _EXCEPTIONS:
            result = next(name for name, error in _EXCEPTIONS.items() if error == result)
        arrow = "" if result == "parked" else "-> "
        return text[: match.start("result")].removesuffix("-> ") + arrow + result

    def _note(self, text: str) -> None:
        """Some notes describe a step that has no line."""
        if text == "P got MEMBER_ID_REQUIRED only":
            self._ask(Client("P"), self._join(Client("P")), [])
        elif text.startswith("A synced"):
            self._sync_of_s8()
        elif text == "gen 2 not persisted; coordinator dies":
            self._first_log = InstantLog(list(self._log.records))
        elif text == "new coordinator loaded":
            self._load(InstantLog(list(self._log.records)))
        else:
            assert text in ("(timer)", "after", "no rebalance", "A silent 46 s after load"), text

    def _sync_of_s8(self) -> None:
        before = len(self._log.records)
        assert self._result(self._clients["A"], self._request(self._clients["A"], "Sync", "")) == "NONE"
        (record,) = self._log.records[before:]
        assert isinstance(record, GroupRecord)

    def _request(self, client: Client, what: str, how: str) -> Request:
        member_id, instance_id = client.member_id, client.instance_id
        stated = re.fullmatch(r"\(gen (\d+)\)", how)
        generation = int(stated[1]) if stated else client.generation
        match what:
            case "Join":
                return self._join(client, "" if how in ("(memberId='')", "(static,unknown id)") else member_id)
            case "Sync":
                return self._sync(client)
            case "Heartbeat":
                return Heartbeat(member_id, generation, instance_id)
            case "OffsetCommit":
                return Commit(((TopicPartition("foo", 0), 1),), member_id, generation, instance_id)
            case _:
                return Leave((Leaver(member_id, instance_id),))

    def _join(self, client: Client, member_id: str = "") -> Join:
        return Join(
            client.name, (("range", b""),), member_id, client.instance_id, rebalance_timeout_ms=self._rebalance_ms
        )

    def _sync(self, client: Client) -> Sync:
        group = self._coordinator.group
        plan: tuple[tuple[str, bytes], ...] = ()
        if group is not None and group.leader == client.member_id:
            plan = tuple((member_id, b"\x01") for member_id in group.members)
        return Sync(client.member_id, client.generation, plan, client.instance_id, "consumer", "range")

    def _ask(self, client: Client, request: Request, answers: list[Reply]) -> None:
        def answer(reply: Reply) -> None:
            answers.append(reply)
            client.learn(reply)

        self._coordinator.handle(request, answer)

    def _result(self, client: Client, request: Request) -> str:
        answers: list[Reply] = []
        self._ask(client, request, answers)
        if not answers:
            return "parked"
        client.replies.remove(answers[0])
        return _words(answers[0])


def _words(reply: Reply) -> str:
    match reply:
        case JoinReply():
            return _join_words(reply)
        case LeaveReply():
            return next((error.name for _, error in reply.members if error is not KafkaError.NONE), reply.error.name)
        case SyncReply() | HeartbeatReply() | CommitReply():
            return reply.error.name


def _join_words(reply: Reply) -> str:
    assert isinstance(reply, JoinReply)
    if reply.error is KafkaError.MEMBER_ID_REQUIRED:
        return reply.error.name
    leads, skips = str(reply.leader == reply.member_id).lower(), str(reply.skip_assignment).lower()
    return (
        f"{reply.error.name} gen={reply.generation} leader={leads} skipAssignment={skips} members={len(reply.members)}"
    )


@pytest.mark.parametrize("story", list(stories()), ids=lambda story: "+".join(chapter.name for chapter in story))
def test_a_recorded_story_happens_again_to_the_millisecond(story: list[Chapter]) -> None:
    player = Player(story)
    for chapter in story:
        for recorded, ours in player.play(chapter):
            assert ours == recorded, chapter.title


def test_every_classic_story_of_the_fixture_is_played() -> None:
    names = [chapter.name for story in stories() for chapter in story]
    assert names == ["S1", "S1b", "S1c", "S1d", "S2", "S3", "S3b", "S4", "S4b", "S5", "S6", "S8", "S8b", "S9"]
