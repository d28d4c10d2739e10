"""A follower's fetch: divergence, truncation, data, and the high watermark that comes with it."""

from dataclasses import replace

from assignors.labs.watermark.leader import leading, note_fetch, with_replica
from assignors.labs.watermark.leader_epochs import EpochEnd, diverging, truncation_offset
from assignors.labs.watermark.model import Fetch, Replica, State, Timing, Truncation, WatermarkError


def fetch(state: State, action: Fetch) -> tuple[State, str]:
    """One fetch from its log end. Raises WatermarkError when either side cannot take part."""
    name = action.follower
    leader_name, leader = leading(state)
    if name not in state.replicas or name == leader_name or not state.replicas[name].alive:
        raise WatermarkError(f"{name} cannot fetch: it is the leader, down, or not a replica. Use a live follower.")
    follower = state.replicas[name]
    by_epoch = state.settings.truncation is Truncation.LEADER_EPOCH
    end = diverging(leader.log, follower.leo, follower.log[-1].epoch) if by_epoch and follower.log else None
    if end is not None:
        return _diverged(state, action, end)
    if follower.leo > leader.leo:
        return with_replica(state, name, truncated(follower, leader.leo)), (
            f"{name} asks for offset {follower.leo}, past {leader_name}'s end (OFFSET_OUT_OF_RANGE): "
            f"it truncates to {leader.leo}."
        )
    return _answered(state, action, follower)


def truncated(replica: Replica, offset: int) -> Replica:
    """The replica without its records from this offset on; its high watermark never lies past its end."""
    return replace(replica, log=replica.log[:offset], hw=min(replica.hw, offset))


def _diverged(state: State, action: Fetch, end: EpochEnd) -> tuple[State, str]:
    name, follower = action.follower, state.replicas[action.follower]
    asks = f"{name} fetches at {follower.leo} with epoch {follower.log[-1].epoch}"
    says = f"{asks}; {state.leader} answers that epoch {end.epoch} ends at {end.offset}"
    if action.response_lost:
        return state, f"{says}, and the response is lost."
    offset = truncation_offset(follower.log, end)
    return with_replica(state, name, truncated(follower, offset)), f"{says}: {name} truncates to {offset}."


def _answered(state: State, action: Fetch, follower: Replica) -> tuple[State, str]:
    name, before = action.follower, leading(state)[1]
    data = before.log[follower.leo :]
    waits = state.settings.timing is Timing.EXACT and not data
    noted = note_fetch(state, name, follower.leo)
    if waits:
        noted = replace(noted, at_ms=noted.at_ms + state.settings.replica_fetch_wait_max_ms)
    after = leading(noted)[1]
    hw = before.hw if state.settings.timing is Timing.EXACT and data else after.hw
    says = f"{name} fetches at {follower.leo}: {state.leader} now has high watermark {after.hw}"
    if action.response_lost:
        return noted, f"{says}; the response is lost."
    log = (*follower.log, *data)
    got = f"{len(data)} record{'s' * (len(data) != 1)} and high watermark {hw}"
    return with_replica(noted, name, replace(follower, log=log, hw=min(hw, len(log)))), f"{says}; {name} gets {got}."
