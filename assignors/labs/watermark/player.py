"""Play actions on a partition, one step after the other."""

from collections.abc import Iterable, Sequence

from assignors.labs.watermark import brokers
from assignors.labs.watermark.fetch import fetch
from assignors.labs.watermark.leader import fresh_followers, produce, wait
from assignors.labs.watermark.model import (
    Action,
    Crash,
    Fetch,
    PowerCut,
    Produce,
    Replica,
    Restart,
    Settings,
    Start,
    State,
    Step,
    Wait,
    WatermarkError,
)


def begin(replicas: Sequence[str], settings: Settings = Settings()) -> State:  # noqa: B008 - frozen
    """An empty partition: the first replica leads epoch 0, all are in sync."""
    if not replicas or len(set(replicas)) < len(replicas):
        raise WatermarkError("A partition needs at least one replica, and each only once.")
    state = State(settings, {name: Replica() for name in replicas}, replicas[0], 0, tuple(replicas), {})
    followers = fresh_followers(state, replicas[0])
    return State(settings, state.replicas, replicas[0], 0, state.isr, followers)


def step(state: State, action: Action) -> Step:
    """The next state. Raises WatermarkError when the action cannot happen."""
    match action:
        case Produce():
            after, sentence = produce(state, action)
        case Fetch():
            after, sentence = fetch(state, action)
        case Wait():
            after, sentence = wait(state, action)
        case Restart():
            after, sentence = brokers.restart(state, action)
        case Crash():
            after, sentence = brokers.crash(state, action)
        case PowerCut():
            after, sentence = brokers.power_cut(state, action)
        case Start():
            after, sentence = brokers.start(state, action)
    return Step(action, after, sentence)


def play_on(state: State, actions: Iterable[Action]) -> tuple[tuple[Step, ...], WatermarkError | None]:
    """Every step up to the first action that cannot happen, and why that one cannot (None: all of them can)."""
    steps = [Step(None, state, f"{state.leader} leads epoch {state.epoch}; all replicas are in sync.")]
    for number, action in enumerate(actions, 1):
        try:
            steps.append(step(steps[-1].state, action))
        except WatermarkError as error:
            return tuple(steps), WatermarkError(f"Action {number}: {error}")
    return tuple(steps), None
