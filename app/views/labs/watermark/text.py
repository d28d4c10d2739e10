"""A step of the Watermark lab in words: what a consumer sees, and why the high watermark is where it is."""

from collections.abc import Sequence

from app.ui.formats import few, listing, plural
from app.views.labs.watermark.tables import differing
from assignors.labs.watermark.model import Ack, Entry, State, Step

MOST_NAMED = 6
"""How many records a sentence names."""


def headline(state: State) -> str:
    """The most important facts after a step: lost records, diverging logs, visible and waiting records."""
    if state.leader is None:
        return "There is no leader: no client can write or read"
    leader, facts = state.replicas[state.leader], []
    if state.lost:
        lost = _few([its.entry for its in state.lost])
        facts.append(f"{lost} {'was' if len(state.lost) == 1 else 'were'} acknowledged and lost")
    if offsets := sorted({offset for _, offset in differing(state)}):
        facts.append(f"the logs differ at offset {listing(offsets)}")
    facts.append(f"a consumer sees {_few(state.committed) if state.committed else 'nothing yet'}")
    if waiting := leader.log[leader.hw :]:
        facts.append(f"{_few(waiting)} {'waits' if len(waiting) == 1 else 'wait'} for the ISR")
    whole = "; ".join(facts)
    return whole if state.lost else whole[0].upper() + whole[1:]


def _few(entries: Sequence[Entry]) -> str:
    return few([entry.value for entry in entries], MOST_NAMED)


def why(before: State, after: State) -> list[str]:
    """What a consumer can read and why, and the responses to producers in this step."""
    return [watermark(after), *responses(before, after)]


def watermark(state: State) -> str:
    """The leader's high watermark, and what determines it."""
    if state.leader is None:
        return f"Only an in-sync replica ({', '.join(state.isr)}) may lead, unless unclean leader election is enabled."
    leader = state.replicas[state.leader]
    known = [
        f"{state.leader} {leader.leo}",
        *(f"{name} {_known(state, name)}" for name in state.isr if name != state.leader),
    ]
    reads = f"A consumer reads records below offset {leader.hw}, the high watermark of {state.leader}"
    if not leader.hw:
        reads = f"A consumer reads nothing, because the high watermark of {state.leader} is 0"
    need = state.settings.min_insync_replicas
    if state.settings.hw_waits_for_min_isr and len(state.isr) < need:
        isr = plural(len(state.isr), "replica")
        return f"{reads}. It does not move: the ISR has {isr}, and min.insync.replicas is {need}."
    return f"{reads}. Log end offsets of the ISR as known to {state.leader}: {', '.join(known)}."


def _known(state: State, name: str) -> str:
    leo = state.followers[name].leo
    return "not fetched in this epoch" if leo is None else str(leo)


def responses(before: State, after: State) -> list[str]:
    """The responses to producers in this step, those that are alike in one sentence."""
    old = {(its.offset, its.entry): its.ack for its in before.produced}
    alike: dict[tuple[bool, Ack], list[str]] = {}
    for its in after.produced:
        if its.ack is not Ack.WAITING and old.get((its.offset, its.entry)) is not its.ack:
            alike.setdefault((its.acks_all, its.ack), []).append(its.entry.value)
    return [_response(names, *kind) for kind, names in alike.items()]


def _response(names: list[str], acks_all: bool, ack: Ack) -> str:
    many = len(names) > 1
    whom = f"The producer{'s' * many} of {few(names, MOST_NAMED)} (acks={'all' if acks_all else '1'})"
    if ack is Ack.ACKED:
        return f"{whom} {'get' if many else 'gets'} an acknowledgement."
    return f"{whom} {'fail' if many else 'fails'} with {ack.value}."


def picture(steps: Sequence[Step], at: int) -> str:
    """The picture in words: what happened, and the log of each replica."""
    replicas = steps[at].state.replicas.items()
    logs = (f"{name}: {plural(replica.leo, 'record')}, high watermark {replica.hw}" for name, replica in replicas)
    return f"Step {at}: {steps[at].sentence} {'; '.join(logs)}"
