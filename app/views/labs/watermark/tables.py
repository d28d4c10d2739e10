"""The Watermark lab as rows: replicas, steps, responses to producers, the end under other rules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise, takewhile

import pandas as pd

from assignors.labs.watermark import WatermarkStory, begin, play_on
from assignors.labs.watermark.model import Ack, Entry, Produce, Produced, Replica, Settings, State, Step, Truncation


class Cell(StrEnum):
    """The state of a record in a replica's log."""

    COMMITTED = "below the high watermark"
    WAITING = "not yet visible"
    NEW = "new in this step"
    DIFFERS = "differs from another log"
    CUT = "truncated in this step"


@dataclass(frozen=True, slots=True)
class Lane:
    """One replica: its name, its role (leader, in ISR, …), its records and their state.

    `moved`: which of high watermark (HW) and log end (LEO) this step has changed.
    """

    name: str
    role: str
    cells: tuple[tuple[Entry, Cell], ...]
    hw: int
    leo: int
    moved: frozenset[str] = frozenset()


def lanes(steps: Sequence[Step], at: int) -> list[Lane]:
    """The replicas after a step, in order of assignment."""
    state = steps[at].state
    before = steps[at - 1].state.replicas if at else state.replicas
    return [
        Lane(name, role(state, name), _cells(state, name, before[name]), its.hw, its.leo, _moved(before[name], its))
        for name, its in state.replicas.items()
    ]


def _moved(before: Replica, now: Replica) -> frozenset[str]:
    pairs = {"HW": (before.hw, now.hw), "LEO": (before.leo, now.leo)}
    return frozenset(name for name, (old, new) in pairs.items() if old != new)


def in_common(lanes: Sequence[Lane]) -> int:
    """How many records from the log start on all replicas hold below their high watermarks."""
    kinds = zip(*([kind for _, kind in lane.cells] for lane in lanes), strict=False)
    return sum(1 for _ in takewhile(lambda column: set(column) == {Cell.COMMITTED}, kinds))


def role(state: State, name: str) -> str:
    """ "leader", "in ISR", "not in ISR" or "down"."""
    if not state.replicas[name].alive:
        return "down"
    if name == state.leader:
        return "leader"
    return "in ISR" if name in state.isr else "not in ISR"


def _cells(state: State, name: str, before: Replica) -> tuple[tuple[Entry, Cell], ...]:
    now = state.replicas[name]
    other = differing(state)
    cells = [(entry, _cell(offset, now, before, (name, offset) in other)) for offset, entry in enumerate(now.log)]
    return (*cells, *((entry, Cell.CUT) for entry in before.log[now.leo :]))


def _cell(offset: int, now: Replica, before: Replica, differs: bool) -> Cell:
    if differs:
        return Cell.DIFFERS
    if now.log[offset : offset + 1] != before.log[offset : offset + 1]:
        return Cell.NEW
    return Cell.COMMITTED if offset < now.hw else Cell.WAITING


def differing(state: State) -> set[tuple[str, int]]:
    """Replica and offset of each record that differs from another log; never the leader's."""
    found = set[tuple[str, int]]()
    for name, replica in state.replicas.items():
        for other, its in state.replicas.items():
            pairs = zip(replica.log, its.log, strict=False)
            if name != state.leader and other != name:
                found |= {(name, offset) for offset, (mine, theirs) in enumerate(pairs) if mine != theirs}
    return found


def first_trouble(steps: Sequence[Step]) -> int:
    """The first step that truncates a log, loses a record or gives a client an error; without one the last step."""
    found = (at for at, (before, step) in enumerate(pairwise(steps), 1) if _is_trouble(before.state, step))
    return next(found, len(steps) - 1)


def _is_trouble(before: State, step: Step) -> bool:
    after = step.state
    truncates = any(after.replicas[name].leo < replica.leo for name, replica in before.replicas.items())
    refuses = isinstance(step.action, Produce) and len(after.produced) == len(before.produced)
    return (
        truncates
        or refuses
        or len(after.lost) > len(before.lost)
        or _failed(after) > _failed(before)
        or (after.leader is None and before.leader is not None)
    )


def _failed(state: State) -> int:
    """How many producers have got an error."""
    return sum(made.ack not in (Ack.WAITING, Ack.ACKED) for made in state.produced)


def steps_frame(steps: Sequence[Step]) -> pd.DataFrame:
    """One row per step: number, sentence, time, leader, epoch, ISR, visible records, HW and LEO of each replica."""
    rows = []
    for number, its in enumerate(steps):
        state = its.state
        ends = {f"{name} HW/LEO": f"{r.hw}/{r.leo}" for name, r in state.replicas.items()}
        rows.append(
            {
                "step": number,
                "what": its.sentence,
                "at_ms": state.at_ms,
                "leader": state.leader,
                "epoch": state.epoch,
                "isr": ", ".join(state.isr),
                "visible": values(state.committed),
                **ends,
            }
        )
    return pd.DataFrame(rows)


def producers(state: State) -> pd.DataFrame:
    """One row per appended record: record, acks, offset, epoch, response, where it is now."""
    made = state.produced
    return pd.DataFrame(
        {
            "record": [its.entry.value for its in made],
            "acks": ["all" if its.acks_all else "1" for its in made],
            "offset": [its.offset for its in made],
            "epoch": [its.entry.epoch for its in made],
            "response": [its.ack.value for its in made],
            "now": [now(state, its) for its in made],
        }
    )


def now(state: State, made: Produced) -> str:
    """Whether a record is visible, waiting or gone after a step."""
    if state.leader is None:
        return "no leader"
    if state.replicas[state.leader].log[made.offset : made.offset + 1] != (made.entry,):
        return "lost" if made.ack is Ack.ACKED else "gone"
    return "visible" if made.offset < state.replicas[state.leader].hw else "not yet visible"


def values(entries: Sequence[Entry]) -> str:
    """ "m0, m1"; "–" for none."""
    return ", ".join(entry.value for entry in entries) or "–"


def other_rules(story: WatermarkStory) -> pd.DataFrame:
    """The end under each pair of rules: rules, lost, differ, leader, visible, stops (why an action is impossible)."""
    rows = [
        _end(story, replace(story.settings, truncation=truncation, unclean_leader_election=unclean))
        for truncation in Truncation
        for unclean in (False, True)
    ]
    return pd.DataFrame(rows, columns=["rules", "lost", "differ", "leader", "visible", "stops"])


def _end(story: WatermarkStory, settings: Settings) -> tuple[str, str, str, str | None, str, str]:
    steps, refusal = play_on(begin(story.replicas, settings), story.actions)
    end = steps[-1].state
    lost = ", ".join(made.entry.value for made in end.lost) or "–"
    differ = ", ".join(sorted({str(offset) for _, offset in differing(end)})) or "–"
    mine = "▸ " if settings == story.settings else ""
    return (f"{mine}{_rules(settings)}", lost, differ, end.leader, values(end.committed), str(refusal or ""))


def _rules(settings: Settings) -> str:
    how = "by leader epoch" if settings.truncation is Truncation.LEADER_EPOCH else "by high watermark"
    return f"{how}, unclean" if settings.unclean_leader_election else how
