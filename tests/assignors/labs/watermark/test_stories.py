"""The stories of the watermark lab, each step with what the spec says."""

import pytest

from assignors.labs.watermark import STORIES, begin, step
from assignors.labs.watermark.leader_epochs import EpochEnd, diverging, epoch_end, truncation_offset
from assignors.labs.watermark.model import (
    Ack,
    Action,
    Crash,
    Entry,
    Fetch,
    PowerCut,
    Produce,
    Restart,
    Settings,
    Start,
    State,
    Timing,
    Truncation,
    Wait,
    WatermarkError,
)
from tests.assignors.labs.watermark.playing import play

T1_TO_T4, LOSS, DIVERGENCE, SLOW_FOLLOWER, UNCLEAN = (
    STORIES[name].actions for name in ("t1-t4", "loss", "divergence", "slow-follower", "unclean")
)
BY_HW = Settings(truncation=Truncation.HIGH_WATERMARK)
M0, M1 = Entry(0, "m0"), Entry(0, "m1")


def after(*actions: Action, settings: Settings = Settings()) -> State:  # noqa: B008 - frozen
    return play(begin("AB", settings), actions)[-1].state


def figures(state: State) -> tuple[int, int, int, int, int]:
    """Leader's high watermark, log end, what it knows of B; B's high watermark and log end."""
    a, b = state.replicas["A"], state.replicas["B"]
    return a.hw, a.leo, state.followers["B"].leo or 0, b.hw, b.leo


@pytest.mark.parametrize(("timing", "waited_ms"), [(Timing.TEXTBOOK, 0), (Timing.EXACT, 500)])
def test_t1_to_t4_end_alike_in_both_timings_the_exact_one_500_ms_later(timing: Timing, waited_ms: int) -> None:
    steps = play(begin("AB", Settings(timing=timing)), T1_TO_T4)
    assert [figures(each.state) for each in steps] == [
        (0, 0, 0, 0, 0),
        (0, 1, 0, 0, 0),
        (0, 1, 0, 0, 1),
        (1, 1, 1, 1, 1),
    ]
    assert steps[-1].state.at_ms == waited_ms
    assert [each.sentence for each in steps] == [
        "A leads epoch 0; all replicas are in sync.",
        "A appends m0 at offset 0, epoch 0; the producer waits for the ISR.",
        "B fetches at 0: A now has high watermark 0; B gets 1 record and high watermark 0.",
        "B fetches at 1: A now has high watermark 1; B gets 0 records and high watermark 1.",
    ]


@pytest.mark.parametrize(("timing", "hw_of_b"), [(Timing.TEXTBOOK, 1), (Timing.EXACT, 0)])
def test_response_with_data_carries_the_watermark_from_before_the_fetch(timing: Timing, hw_of_b: int) -> None:
    state = after(Produce("m0"), Fetch("B"), Produce("m1"), Fetch("B"), settings=Settings(timing=timing))
    assert figures(state) == (1, 2, 1, hw_of_b, 2)


def test_loss_before_kip_101_the_committed_record_is_gone() -> None:
    steps = play(begin("AB", BY_HW), LOSS)
    assert figures(steps[6].state) == (2, 2, 2, 1, 2)
    assert steps[7].sentence == "B restarts and truncates from 2 to its high watermark 1."
    end = steps[-1].state
    assert (end.leader, end.epoch, end.replicas["B"].log) == ("B", 1, (M0,))
    assert [(lost.entry, lost.ack) for lost in end.lost] == [(M1, Ack.ACKED)]


def test_loss_with_leader_epochs_the_record_is_kept() -> None:
    end = after(*LOSS)
    assert (end.leader, end.epoch, end.replicas["B"].log) == ("B", 1, (M0, M1))
    assert end.lost == ()
    assert end.committed == (M0, M1)


def test_divergence_before_kip_101_the_logs_differ_for_good() -> None:
    steps = play(begin("AB", BY_HW), DIVERGENCE)
    end = steps[-1].state
    assert end.replicas["A"].log == (M0, M1)
    assert end.replicas["B"].log == (M0, Entry(1, "m2"))
    assert end.replicas["A"].hw == end.replicas["B"].hw == 2


def test_divergence_with_leader_epochs_a_truncates_to_the_end_of_epoch_0() -> None:
    steps = play(begin("AB"), DIVERGENCE)
    assert steps[10].sentence == "A fetches at 2 with epoch 0; B answers that epoch 0 ends at 1: A truncates to 1."
    assert steps[-1].state.replicas["A"].log == steps[-1].state.replicas["B"].log == (M0, Entry(1, "m2"))


def test_slow_follower_leaves_the_isr_after_30_s_and_returns_when_caught_up() -> None:
    steps = play(begin("AB"), SLOW_FOLLOWER)
    assert [each.state.isr for each in steps] == [("A", "B"), ("A", "B"), ("A",), ("A",), ("A",), ("A", "B")]
    assert steps[2].sentence == "30001 ms pass. B fell behind for more than 30000 ms and left the ISR."
    assert steps[2].state.produced[0].ack is Ack.ACKED
    assert after(Produce("m0"), Wait(30_000)).isr == ("A", "B")


def test_too_few_in_sync_replicas_refuse_acks_all_alone() -> None:
    two = Settings(min_insync_replicas=2)
    refused = play(begin("AB", two), (Crash("B"), Produce("m0")))[-1]
    assert (
        refused.sentence
        == "A refuses m0 with NOT_ENOUGH_REPLICAS: the ISR has 1 replica, and min.insync.replicas is 2."
    )
    assert refused.state.replicas["A"].log == ()
    assert refused.state.produced == ()
    assert step(refused.state, Produce("m0", acks_all=False)).state.produced[0].ack is Ack.ACKED


@pytest.mark.parametrize(
    ("waits", "ack", "hw"), [(True, Ack.WAITING, 0), (False, Ack.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 1)]
)
def test_isr_that_shrinks_below_the_minimum_after_the_append(waits: bool, ack: Ack, hw: int) -> None:
    settings = Settings(min_insync_replicas=2, hw_waits_for_min_isr=waits)
    state = after(Produce("m0"), Crash("B"), settings=settings)
    assert (state.produced[0].ack, state.replicas["A"].hw) == (ack, hw)
    later = step(state, Wait(30_000)).state.produced[0].ack
    assert later is (Ack.REQUEST_TIMED_OUT if waits else ack)


def test_without_unclean_election_the_partition_waits_for_the_last_of_the_isr() -> None:
    steps = play(begin("AB"), UNCLEAN)
    assert [each.state.leader for each in steps] == ["A", "A", "A", "A", None, None, "A"]
    assert steps[-1].state.lost == ()
    assert steps[-1].state.committed == (M0, M1)


def test_unclean_election_loses_acknowledged_records() -> None:
    end = after(*UNCLEAN, settings=Settings(unclean_leader_election=True))
    assert (end.leader, end.epoch, end.isr) == ("B", 1, ("B",))
    assert [lost.entry for lost in end.lost] == [M0, M1]
    cut = step(end, Fetch("A"))
    assert cut.sentence == "A fetches at 2 with epoch 0; B answers that epoch 0 ends at 0: A truncates to 0."
    assert cut.state.replicas["A"].hw == 0


def test_waiting_producer_is_turned_away_when_its_leader_dies() -> None:
    assert after(Produce("m0"), Crash("A")).produced[0].ack is Ack.NOT_LEADER_OR_FOLLOWER


def test_epochs_that_only_one_side_has_are_cut_one_after_the_other() -> None:
    """KIP-279: leader has epochs 0, 2; the follower 0, 1, 1."""
    leader, follower = (Entry(0, "a"), Entry(2, "b"), Entry(2, "c")), (Entry(0, "a"), Entry(1, "x"), Entry(1, "y"))
    assert epoch_end(leader, 1) == EpochEnd(0, 1)
    assert diverging(leader, 3, 1) == EpochEnd(0, 1)
    assert truncation_offset(follower, EpochEnd(0, 1)) == 1
    assert diverging(leader, 1, 0) is None
    assert truncation_offset((Entry(0, "a"), Entry(2, "x")), EpochEnd(1, 2)) == 1


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ((Fetch("A"),), "Action 1: A cannot fetch: it is the leader, down, or not a replica. Use a live follower."),
        ((Crash("A"), Crash("A")), "Action 2: A is already down. Start it first."),
        ((PowerCut(), Produce("m0")), "Action 2: The partition has no leader"),
        ((PowerCut({"B": 1}),), "Action 1: B cannot lose 1 records. Use 0 to 0."),
        ((Start("B"),), "Action 1: B is already running. Crash it first."),
        ((Restart("A"),), "Action 1: A cannot restart unnoticed: it is down or the leader. Use Crash and Start."),
        ((Crash("C"),), "Action 1: C is not a replica. The replicas are A, B."),
        ((Wait(0),), "Action 1: Cannot wait 0 ms. Use 1 or more."),
    ],
)
def test_action_that_cannot_happen_is_refused_with_its_number(actions: tuple[Action, ...], message: str) -> None:
    with pytest.raises(WatermarkError) as refusal:
        play(begin("AB"), actions)
    assert str(refusal.value).startswith(message)


@pytest.mark.parametrize("replicas", ["", "AA"])
def test_partition_without_distinct_replicas_is_refused(replicas: str) -> None:
    with pytest.raises(WatermarkError, match="at least one replica, and each only once"):
        begin(replicas)
