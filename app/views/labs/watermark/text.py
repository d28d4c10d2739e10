"""What a step of the watermark lab means: what a consumer sees, and why the high watermark stands where it does."""

from app.ui.formats import plural
from app.views.labs.watermark.tables import differing, values
from assignors.labs.watermark.model import Ack, Produced, State, Step


def headline(state: State) -> str:
    """What matters most after a step: what is lost, where logs differ, what a consumer sees, what still waits."""
    if state.leader is None:
        return "There is no leader: nobody can write or read"
    leader, said = state.replicas[state.leader], []
    if state.lost:
        said.append(f"{_records(state.lost)} {'was' if len(state.lost) == 1 else 'were'} acknowledged and lost")
    if offsets := sorted({offset for _, offset in differing(state)}):
        said.append(f"the logs differ at offset {', '.join(map(str, offsets))}")
    said.append(f"a consumer sees {values(state.committed) if state.committed else 'nothing yet'}")
    if waiting := leader.log[leader.hw :]:
        said.append(f"{values(waiting)} {'waits' if len(waiting) == 1 else 'wait'} for the ISR")
    whole = "; ".join(said)
    return whole if state.lost else whole[0].upper() + whole[1:]


def _records(made: tuple[Produced, ...]) -> str:
    return ", ".join(its.entry.value for its in made)


def why(before: State, after: State) -> list[str]:
    """What a consumer can read now and why, and what producers were told in this step."""
    return [watermark(after), *told(before, after)]


def watermark(state: State) -> str:
    """Where the leader's high watermark stands, and what holds it there."""
    if state.leader is None:
        return f"Only a replica of the ISR ({', '.join(state.isr)}) may lead, unless unclean election is on."
    leader = state.replicas[state.leader]
    known = [
        f"{state.leader} {leader.leo}",
        *(f"{name} {_known(state, name)}" for name in state.isr if name != state.leader),
    ]
    reads = f"A consumer reads below {leader.hw}, the high watermark of {state.leader}"
    need = state.settings.min_insync_replicas
    if state.settings.hw_waits_for_min_isr and len(state.isr) < need:
        return f"{reads}. It stands still: the ISR has {len(state.isr)}, min.insync.replicas is {need}."
    return f"{reads}. Log ends of the ISR, as {state.leader} knows them: {', '.join(known)}."


def _known(state: State, name: str) -> str:
    leo = state.followers[name].leo
    return "not fetched in this epoch" if leo is None else str(leo)


def told(before: State, after: State) -> list[str]:
    """What producers were told in this step."""
    old = {(its.offset, its.entry): its.ack for its in before.produced}
    said = []
    for its in after.produced:
        if its.ack is not Ack.WAITING and old.get((its.offset, its.entry)) is not its.ack:
            answer = "is acknowledged" if its.ack is Ack.ACKED else f"fails with {its.ack.value}"
            said.append(f"The producer of {its.entry.value} (acks={'all' if its.acks_all else '1'}) {answer}.")
    return said


def picture(step: Step) -> str:
    """The replicas in words, for who cannot see them."""
    state = step.state
    return "; ".join(
        f"{name}: {plural(replica.leo, 'record')}, high watermark {replica.hw}"
        for name, replica in state.replicas.items()
    )
