"""What came of a story on the stage, put together from what its consumers and its broker reported."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from assignors.model import Member, Topic
from assignors.simulation.timeline.tables import Callback, GroupSpan
from assignors.whatif.events import Action, Crash, Event, Freeze, Join, Leave, Restart, Resume
from assignors.whatif.rebalance_protocol import RebalanceProtocol, is_classic
from tests.fidelity import broker_side
from tests.fidelity.broker_side import Record, Standing
from tests.fidelity.cast import Cast
from tests.fidelity.performance import Beginning, Performance, by_member, rebalances
from tests.fidelity.stage import Stage
from tests.fidelity.stories import HEARTBEAT_MS, NAMES, NEWCOMER, PARTITIONS

Account = tuple[Beginning, Performance]
_HEARD = {Join: "opened", Leave: "closing", Freeze: "stalled", Resume: "resumed", Restart: "closing"}


def accounts(stage: Stage) -> dict[tuple[str, RebalanceProtocol], Account]:
    """Of each story and protocol, where it began and how it went."""
    written, log = broker_side.records(stage.bootstrap_servers), stage.log()
    return {(cast.story.name, cast.protocol): _account(stage, cast, written, log) for cast in stage.casts}


def _account(stage: Stage, cast: Cast, written: Sequence[Record], log: str) -> Account:
    lane, standings = _history(cast, written, log)
    first = [standing for standing in standings if standing.at_ms < cast.began_ms][-1]
    later = [first, *(standing for standing in standings if cast.began_ms <= standing.at_ms < cast.ended_ms)]
    beats = broker_side.heartbeats(log, cast.group_id, cast.began_ms)
    ownership = {standing.generation: standing.by_name() for standing in later}
    callbacks = by_member(
        (callback for name in (*NAMES, NEWCOMER) for callback in _callbacks(stage, cast, name)), cast.protocol
    )
    beginning = _beginning(stage, cast, first, beats, _ids(standings[standings.index(first) :]))
    return beginning, Performance(ownership, rebalances(lane), callbacks)


def _history(cast: Cast, written: Sequence[Record], log: str) -> tuple[Sequence[GroupSpan], Sequence[Standing]]:
    if is_classic(cast.protocol):
        lane = list(broker_side.classic_lane(log, cast.group_id, cast.began_ms))
        return lane, list(broker_side.classic_standings(written, cast.group_id))
    return broker_side.consumer_history(written, cast.group_id, cast.story.topic, cast.began_ms)


def _callbacks(stage: Stage, cast: Cast, name: str) -> Iterator[Callback]:
    for heard in stage.heard(cast, name):
        if heard.what.startswith("on") and cast.began_ms <= heard.at_ms < cast.ended_ms:
            yield Callback(round(heard.at_ms - cast.began_ms), name, heard.what, tuple(sorted(heard.partitions)))


def _ids(standings: Sequence[Standing]) -> dict[str, list[str]]:
    """Every member id by client id, in order."""
    found: dict[str, dict[str, None]] = {}
    for standing in standings:
        for member_id, name in standing.client_ids.items():
            found.setdefault(name, {})[member_id] = None
    return {name: list(ids) for name, ids in found.items()}


def _beginning(
    stage: Stage, cast: Cast, first: Standing, beats: Mapping[str, float], ids: Mapping[str, Sequence[str]]
) -> Beginning:
    topic = cast.story.topic
    return Beginning(
        members=tuple(_member(cast, first, member_id) for member_id in first.owned),
        beats_ms=tuple(round(beats[member_id] - cast.began_ms) % HEARTBEAT_MS for member_id in first.owned),
        ids=ids,
        topic=Topic(topic, PARTITIONS, topic_id=stage.topic_ids[topic]),
        events=tuple(_event(stage, cast, first, at_ms, action) for at_ms, action in cast.done),
        restart_ms=_restart_ms(stage, cast),
        end_ms=round(cast.ended_ms - cast.began_ms),
    )


def _member(cast: Cast, first: Standing, member_id: str) -> Member:
    name = first.client_ids[member_id]
    return Member(
        member_id,
        instance_id=name if cast.story.static else None,
        client_id=name,
        topics=(cast.story.topic,),
        owned=first.owned[member_id],
        generation=first.generation,
    )


def _event(stage: Stage, cast: Cast, first: Standing, at_ms: float | None, action: Action) -> Event:
    """What was done, under the id of the one to whom it was done."""
    happened_ms = round((_reported_ms(stage, cast, action) if at_ms is None else at_ms) - cast.began_ms)
    if isinstance(action, Leave | Crash | Freeze | Resume | Restart):
        ids = {name: member_id for member_id, name in first.client_ids.items()}
        return Event(happened_ms, replace(action, member_id=ids[action.member_id]))
    return Event(happened_ms, action)


def _reported_ms(stage: Stage, cast: Cast, action: Action) -> float:
    """When a host did that."""
    assert isinstance(action, Join | Leave | Freeze | Resume | Restart)
    name = action.member.member_id if isinstance(action, Join) else action.member_id
    return next(heard.at_ms for heard in stage.heard(cast, name) if heard.what == _HEARD[type(action)])


def _restart_ms(stage: Stage, cast: Cast) -> int:
    """From the end of a consumer to the start of the next in its place."""
    reported = [heard for name in NAMES for heard in stage.heard(cast, name) if heard.what in ("closing", "opened")]
    return next((round(two.at_ms - one.at_ms) for one, two in pairwise(reported) if one.what == "closing"), 0)
