"""What the leader does on its own: append, move the high watermark, keep the ISR, answer producers."""

from collections.abc import Mapping
from dataclasses import replace

from assignors.labs.watermark.model import (
    Ack,
    Entry,
    Follower,
    Produce,
    Produced,
    Replica,
    State,
    Wait,
    WatermarkError,
)


def leading(state: State) -> tuple[str, Replica]:
    """The leader and its replica. Raises WatermarkError when there is none."""
    if state.leader is None:
        raise WatermarkError("The partition has no leader (LEADER_NOT_AVAILABLE). Start a broker of the ISR.")
    return state.leader, state.replicas[state.leader]


def with_replica(state: State, name: str, replica: Replica) -> State:
    return replace(state, replicas={**state.replicas, name: replica})


def produce(state: State, action: Produce) -> tuple[State, str]:
    """Append a record, unless acks=all finds fewer in-sync replicas than min.insync.replicas."""
    name, leader = leading(state)
    need = state.settings.min_insync_replicas
    if action.acks_all and len(state.isr) < need:
        why = f"the ISR has {len(state.isr)} replica{'s' * (len(state.isr) != 1)}, and min.insync.replicas is {need}"
        return state, f"{name} refuses {action.value} with NOT_ENOUGH_REPLICAS: {why}."
    entry = Entry(state.epoch, action.value)
    ack = Ack.WAITING if action.acks_all else Ack.ACKED
    made = Produced(leader.leo, entry, action.acks_all, state.at_ms, ack)
    appended = with_replica(state, name, replace(leader, log=(*leader.log, entry)))
    after = advance(replace(appended, produced=(*state.produced, made)))
    answer = "acknowledged at once" if after.produced[-1].ack is Ack.ACKED else "the producer waits for the ISR"
    return after, f"{name} appends {action.value} at offset {leader.leo}, epoch {state.epoch}; {answer}."


def advance(state: State) -> State:
    """Move the high watermark as far as it goes (Kafka's `maybeIncrementLeaderHW`), and answer producers."""
    name, leader = leading(state)
    if state.settings.hw_waits_for_min_isr and len(state.isr) < state.settings.min_insync_replicas:
        return state
    needed = [state.followers[f].leo for f in state.followers if _counts(state, f)]
    candidate = min([leader.leo, *(-1 if leo is None else leo for leo in needed)])
    moved = with_replica(state, name, replace(leader, hw=max(leader.hw, candidate)))
    return replace(moved, produced=tuple(_answered(moved, made) for made in moved.produced))


def _counts(state: State, follower: str) -> bool:
    """Those of the ISR, and the caught-up ones that are about to join it."""
    return follower in state.isr or (state.replicas[follower].alive and _is_caught_up(state, follower))


def _is_caught_up(state: State, follower: str) -> bool:
    known = state.followers[follower]
    recent = state.at_ms - known.caught_up_ms <= state.settings.replica_lag_time_max_ms
    return known.leo is not None and (known.leo == leading(state)[1].leo or recent)


def _answered(state: State, made: Produced) -> Produced:
    if made.ack is not Ack.WAITING or leading(state)[1].hw <= made.offset:
        return made
    enough = len(state.isr) >= state.settings.min_insync_replicas
    return replace(made, ack=Ack.ACKED if enough else Ack.NOT_ENOUGH_REPLICAS_AFTER_APPEND)


def note_fetch(state: State, follower: str, offset: int) -> State:
    """The leader takes note of a fetch at `offset`: log end, caught-up time, ISR, high watermark."""
    leader = leading(state)[1]
    known = state.followers[follower]
    caught_up = known.caught_up_ms
    if offset >= leader.leo:
        caught_up = state.at_ms
    elif offset >= known.leader_leo:
        caught_up = max(caught_up, known.fetched_ms)
    noted = replace(
        state, followers={**state.followers, follower: Follower(offset, caught_up, state.at_ms, leader.leo)}
    )
    start = sum(entry.epoch < state.epoch for entry in leader.log)
    if follower not in state.isr and offset >= max(leader.hw, start):
        noted = replace(noted, isr=tuple(name for name in state.replicas if name in (*state.isr, follower)))
    return advance(noted)


def wait(state: State, action: Wait) -> tuple[State, str]:
    """Let time pass; slow followers leave the ISR first, then waiting producers time out."""
    if action.ms <= 0:
        raise WatermarkError(f"Cannot wait {action.ms} ms. Use 1 or more.")
    later = replace(state, at_ms=state.at_ms + action.ms)
    if later.leader is None:
        return later, f"{action.ms} ms pass without a leader."
    slow = tuple(name for name in later.isr if name != later.leader and _is_slow(later, name))
    shrunk = advance(replace(later, isr=tuple(name for name in later.isr if name not in slow)))
    after = replace(shrunk, produced=tuple(_timed_out(shrunk, made) for made in shrunk.produced))
    limit = state.settings.replica_lag_time_max_ms
    left = f" {' and '.join(slow)} fell behind for more than {limit} ms and left the ISR." if slow else ""
    return after, f"{action.ms} ms pass.{left}"


def _is_slow(state: State, follower: str) -> bool:
    """Kafka's `isFollowerOutOfSync`: not at the log end, and last caught up too long ago."""
    known = state.followers[follower]
    behind = known.leo != leading(state)[1].leo
    return behind and state.at_ms - known.caught_up_ms > state.settings.replica_lag_time_max_ms


def _timed_out(state: State, made: Produced) -> Produced:
    over = state.at_ms - made.at_ms >= state.settings.produce_timeout_ms
    return replace(made, ack=Ack.REQUEST_TIMED_OUT) if made.ack is Ack.WAITING and over else made


def fresh_followers(state: State, leader: str) -> Mapping[str, Follower]:
    """The followers as a new leader knows them: log ends are unknown, and the ISR counts as caught up now."""
    now = state.at_ms
    return {
        name: Follower(None, now if name in state.isr else -state.settings.replica_lag_time_max_ms - 1, now, 0)
        for name in state.replicas
        if name != leader
    }
