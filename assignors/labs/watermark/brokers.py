"""Brokers that die, come back and restart, and the controller's elections."""

from dataclasses import replace

from assignors.labs.watermark.fetch import truncated
from assignors.labs.watermark.leader import advance, fresh_followers, with_replica
from assignors.labs.watermark.model import (
    Ack,
    Crash,
    PowerCut,
    Replica,
    Restart,
    Start,
    State,
    Truncation,
    WatermarkError,
)


def crash(state: State, action: Crash) -> tuple[State, str]:
    """The controller fences the broker: it leaves the ISR unless it is the last there, and a leader is replaced."""
    name = action.replica
    if not _replica(state, name).alive:
        raise WatermarkError(f"{name} is already down. Start it first.")
    down = with_replica(state, name, replace(state.replicas[name], alive=False))
    down = replace(down, isr=tuple(member for member in down.isr if member != name) or down.isr)
    if name != state.leader:
        return (down if down.leader is None else advance(down)), f"{name} dies; the ISR is {_names(down.isr)}."
    after, election = elect(replace(down, leader=None))
    return after, f"{name}, the leader, dies; {election}."


def power_cut(state: State, action: PowerCut) -> tuple[State, str]:
    """All brokers die at once: there is no leader, and records that were not flushed are lost."""
    for name, records in action.unflushed.items():
        if not 0 <= records <= _replica(state, name).leo:
            raise WatermarkError(f"{name} cannot lose {records} records. Use 0 to {state.replicas[name].leo}.")
    dead = {
        name: replace(truncated(replica, replica.leo - action.unflushed.get(name, 0)), alive=False)
        for name, replica in state.replicas.items()
    }
    losses = ", ".join(
        f"{name} loses its last {f'{records} records' if records > 1 else 'record'}"
        for name, records in action.unflushed.items()
        if records
    )
    after = _without_leader(replace(state, replicas=dead, leader=None))
    return after, f"All brokers lose power; {losses or 'all records were flushed'}."


def start(state: State, action: Start) -> tuple[State, str]:
    """A broker comes back: as a follower, or as the leader of a partition that has none and may elect it."""
    name = action.replica
    if _replica(state, name).alive:
        raise WatermarkError(f"{name} is already running. Crash it first.")
    up = with_replica(state, name, replace(state.replicas[name], alive=True))
    if up.leader is not None:
        after = _follow(up, name)
        return after, f"{name} comes back as a follower{_cut(up, after, name)}."
    after, election = elect(up)
    return after, f"{name} comes back; {election}."


def restart(state: State, action: Restart) -> tuple[State, str]:
    """A follower is back before anyone noticed. Before KIP-101 it truncates to its high watermark all the same."""
    name = action.replica
    if not _replica(state, name).alive or name == state.leader:
        raise WatermarkError(f"{name} cannot restart unnoticed: it is down or the leader. Use Crash and Start.")
    after = _follow(state, name)
    return after, f"{name} restarts{_cut(state, after, name)}."


def elect(state: State) -> tuple[State, str]:
    """The first live replica of the ISR leads; with unclean election, failing that, the first live one at all."""
    alive = [name for name, replica in state.replicas.items() if replica.alive]
    clean = [name for name in alive if name in state.isr]
    if clean:
        isr = tuple(clean)
        return _led(state, clean[0], isr), f"{clean[0]} of the ISR becomes leader in epoch {state.epoch + 1}"
    if alive and state.settings.unclean_leader_election:
        after = _led(state, alive[0], (alive[0],))
        return after, f"{alive[0]} becomes leader in epoch {after.epoch}, not from the ISR (unclean leader election)"
    return _without_leader(state), f"no live replica is in the ISR ({_names(state.isr)}), so there is no leader"


def _led(state: State, leader: str, isr: tuple[str, ...]) -> State:
    """A new epoch: waiting producers get an error, the other replicas become followers."""
    led = _without_leader(replace(state, leader=leader, epoch=state.epoch + 1, isr=isr))
    led = replace(led, followers=fresh_followers(led, leader))
    for name, replica in state.replicas.items():
        if name != leader and replica.alive:
            led = _follow(led, name)
    return advance(led)


def _without_leader(state: State) -> State:
    """Waiting producers get NOT_LEADER_OR_FOLLOWER."""
    gone = Ack.NOT_LEADER_OR_FOLLOWER
    return replace(
        state, produced=tuple(replace(made, ack=gone) if made.ack is Ack.WAITING else made for made in state.produced)
    )


def _follow(state: State, name: str) -> State:
    if state.settings.truncation is Truncation.LEADER_EPOCH:
        return state
    return with_replica(state, name, truncated(state.replicas[name], state.replicas[name].hw))


def _cut(before: State, after: State, name: str) -> str:
    old, new = before.replicas[name].leo, after.replicas[name].leo
    return f" and truncates from {old} to its high watermark {new}" if new < old else " and keeps its log"


def _replica(state: State, name: str) -> Replica:
    if name not in state.replicas:
        raise WatermarkError(f"{name} is not a replica. The replicas are {_names(tuple(state.replicas))}.")
    return state.replicas[name]


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names)
