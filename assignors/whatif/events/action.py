"""What every kind of scenario event defines."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from assignors.durations import seconds_text
from assignors.model import Member, Topic
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.membership import KeyPath, Membership, Remarks
from assignors.whatif.timeouts import Timeouts

MAX_NAMED = 3


class Wording:
    """How sentences about events show names and durations; pages override it with their own."""

    def member(self, member_id: str) -> str:
        """A member."""
        return member_id

    def name(self, text: str) -> str:
        """A topic, pattern, rack or assignor."""
        return text

    def duration(self, ms: int) -> str:
        """A duration."""
        return seconds_text(ms)

    def names(self, texts: Sequence[str]) -> str:
        """The first names, and how many more there are."""
        more = f" and {len(texts) - MAX_NAMED:,} more" if len(texts) > MAX_NAMED else ""
        return ", ".join(map(self.name, texts[:MAX_NAMED])) + more


PLAIN = Wording()


class SimulatedGroup(Protocol):
    """What an event can do to a simulated group (`assignors.simulation.run`). AssignorError when it is impossible."""

    @property
    def topics(self) -> Mapping[str, Topic]: ...
    def join(self, member: Member) -> None: ...
    def leave(self, member_id: str) -> None: ...
    def crash(self, member_id: str) -> None: ...
    def freeze(self, member_id: str) -> None: ...
    def resume(self, member_id: str) -> None: ...
    def pause(self, member_id: str, lasts_ms: int) -> None: ...
    def set_processing_ms(self, member_id: str, processing_ms: int) -> None: ...
    def split(self, member_id: str) -> None: ...
    def heal(self, member_id: str) -> None: ...
    def restart(self, member_id: str) -> None: ...
    def subscribe(self, member_id: str, topics: tuple[str, ...], pattern: str | None) -> None: ...
    def change_rack(self, member_id: str, rack: str | None) -> None: ...
    def change_topics(self, topics: Mapping[str, Topic]) -> None: ...
    def use_assignor(self, assignor: str) -> None: ...
    def stop_coordinator(self) -> None: ...
    def start_coordinator(self) -> None: ...


class Action(ABC):
    """One kind of thing that happens to a group in a scenario."""

    __slots__ = ()

    @property
    def subject(self) -> str:
        """The member, topic or assignor that it concerns; empty for the coordinator."""
        return ""

    @property
    def title(self) -> str:
        """What happens in two or three words: `crash c1`."""
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(self).__name__).lower()
        return f"{words} {self.subject}".rstrip()

    @property
    def pause_ms(self) -> int:
        """For how long processes of the group stand still from then on; 0 for most."""
        return 0

    def takes_ms(self, member: Member | None, timeouts: Timeouts) -> float:
        """How long until the group can notice all of it; infinite: again and again. `member` is its subject."""
        return 0

    @abstractmethod
    def sentence(self, wording: Wording = PLAIN) -> str:
        """What happens, without a full stop: `c1 crashes`."""

    @abstractmethod
    def check(self, membership: Membership) -> Remarks:
        """Why it cannot happen now, as far as the scenario itself shows it."""

    def warn(self, membership: Membership) -> Remarks:
        """What Kafka allows but may not be intended; `membership` is that after the last event."""
        yield from ()

    def change(self, membership: Membership) -> None:  # noqa: B027  most leave it as it is
        """Change the membership; also after `check` found something, so that only the first error is reported."""

    @abstractmethod
    def apply(self, state: GroupState) -> Step:
        """The effect on the group, between two rebalances, of an event that `check` has let pass."""

    @abstractmethod
    def simulate(self, group: SimulatedGroup) -> None:
        """The effect in the simulation. Raises AssignorError when it cannot happen."""


@dataclass(frozen=True, slots=True)
class MemberAction(Action):
    """Something that happens to one member of the group."""

    id_path: ClassVar[KeyPath] = ()
    """Where the scenario file has the member's id."""
    happens: ClassVar[str]
    """What the member does: `crashes`."""

    member_id: str

    @property
    def subject(self) -> str:
        """The member's id."""
        return self.member_id

    def sentence(self, wording: Wording = PLAIN) -> str:
        return f"{wording.member(self.member_id)} {self.happens}"

    def check(self, membership: Membership) -> Remarks:
        """The member must be active."""
        yield from membership.check_active(self.member_id, self.id_path)
