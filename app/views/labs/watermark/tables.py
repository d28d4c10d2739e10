"""The watermark lab as rows: the replicas' cells, all steps, what producers were told, the end under other rules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import pandas as pd

from app.views.labs.watermark.link import rules
from assignors.labs.watermark import Story, begin, play_on
from assignors.labs.watermark.model import Ack, Entry, Produced, Replica, Settings, State, Step, Truncation


class Cell(StrEnum):
    """How a record stands in a replica's log."""

    COMMITTED = "below the high watermark"
    WAITING = "not yet visible"
    NEW = "new in this step"
    DIFFERS = "differs from the other log"
    CUT = "cut in this step"


@dataclass(frozen=True, slots=True)
class Lane:
    """One replica: its name, its part (leader, in ISR, …), its records, and how they stand."""

    name: str
    part: str
    cells: tuple[tuple[Entry, Cell], ...]
    hw: int
    leo: int


def lanes(steps: Sequence[Step], at: int) -> list[Lane]:
    """The replicas after a step, in order of assignment."""
    state = steps[at].state
    before = steps[at - 1].state.replicas if at else state.replicas
    return [
        Lane(name, part(state, name), _cells(state, name, before[name]), replica.hw, replica.leo)
        for name, replica in state.replicas.items()
    ]


def part(state: State, name: str) -> str:
    """What a replica is at the moment."""
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
    """Replica and offset wherever two logs hold different records; the leader's is right where there is one."""
    found = set[tuple[str, int]]()
    for name, replica in state.replicas.items():
        for other, its in state.replicas.items():
            pairs = zip(replica.log, its.log, strict=False)
            if name != state.leader and other != name:
                found |= {(name, offset) for offset, (mine, theirs) in enumerate(pairs) if mine != theirs}
    return found


def steps_frame(steps: Sequence[Step]) -> pd.DataFrame:
    """One row per step: number, what happened, time, leader, epoch, ISR, what consumers see, HW and LEO of each."""
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
    """One row per record that was sent and appended: record, acks, offset, epoch, answer, where it is now."""
    rows = [
        (
            made.entry.value,
            "all" if made.acks_all else "1",
            made.offset,
            made.entry.epoch,
            made.ack.value,
            now(state, made),
        )
        for made in state.produced
    ]
    return pd.DataFrame(rows, columns=["record", "acks", "offset", "epoch", "told", "now"])


def now(state: State, made: Produced) -> str:
    """Where a record is after a step."""
    if state.leader is None:
        return "no leader to ask"
    if state.replicas[state.leader].log[made.offset : made.offset + 1] != (made.entry,):
        return "lost" if made.ack is Ack.ACKED else "gone"
    return "visible" if made.offset < state.replicas[state.leader].hw else "not yet visible"


def values(entries: Sequence[Entry]) -> str:
    """ "m0, m1"; "–" for none."""
    return ", ".join(entry.value for entry in entries) or "–"


def other_rules(told: Story) -> pd.DataFrame:
    """The story's end under each pair of rules: rules, lost, differ, leader, visible, stops (why it cannot go on)."""
    rows = [_end(told, settings) for settings in variants(told.settings)]
    return pd.DataFrame(rows, columns=["rules", "lost", "differ", "leader", "visible", "stops"])


def variants(settings: Settings) -> list[Settings]:
    """Both truncations with and without unclean election."""
    return [
        replace(settings, truncation=truncation, unclean_leader_election=unclean)
        for truncation in Truncation
        for unclean in (False, True)
    ]


def _end(told: Story, settings: Settings) -> tuple[str, str, str, str | None, str, str]:
    steps, refusal = play_on(begin(told.replicas, settings), told.actions)
    end = steps[-1].state
    lost = ", ".join(made.entry.value for made in end.lost) or "–"
    differ = ", ".join(sorted({str(offset) for _, offset in differing(end)})) or "–"
    mine = "▸ " if settings == told.settings else ""
    return (f"{mine}{rules(settings)}", lost, differ, end.leader, values(end.committed), str(refusal or ""))
