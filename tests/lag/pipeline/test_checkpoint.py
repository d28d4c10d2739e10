"""What a batch could not read, and which topic a stream does not go on with."""

from dataclasses import replace
from pathlib import Path

import pytest

from lag.cluster.offsets_topic import OffsetsTopic
from lag.errors import HistoryError
from lag.history.store import History
from lag.pipeline.checkpoint import Gap, Run, forget_planned, gaps, refuse_other_topic, spark_checkpoint

TOPIC = OffsetsTopic("c1", "id1", (0, 0, 0), (10, 10, 10), (10, 10, 10))
RUN = Run("r1", "c1", "id1", (10, 10, 10))


def test_nothing_is_missing_of_a_batch_that_begins_within_its_logs() -> None:
    assert gaps((0, 5, 7), (4, 5, 9), (0, 5, 2)) == ()


def test_what_was_deleted_before_it_was_read_is_a_gap_up_to_where_the_log_begins() -> None:
    (gap,) = gaps((0, 5), (4, 90), (0, 8))
    assert gap == Gap(1, 5, 8)
    assert str(gap) == "partition 1 of __consumer_offsets: offsets 5 to 7 were deleted before or while they were read"


def test_a_log_that_begins_behind_the_batch_is_reported_batch_by_batch_each_offset_once() -> None:
    assert gaps((5,), (20,), (30,)) == (Gap(0, 5, 20),)
    assert gaps((20,), (40,), (30,)) == (Gap(0, 20, 30),)


def test_a_batch_that_ends_before_it_begins_shows_that_the_log_was_truncated() -> None:
    (gap,) = gaps((9, 5), (6, 5), (2, 0))
    assert gap == Gap(0, 9, 6)
    assert str(gap) == "partition 0 of __consumer_offsets: the log was truncated from offset 9 to 6"


def test_before_the_first_batch_and_in_a_new_partition_nothing_can_be_missing() -> None:
    assert gaps((), (4, 9), (3, 3)) == ()
    assert gaps((4,), (4, 9), (0, 3)) == ()


def test_the_topic_of_the_run_is_gone_on_with_wherever_it_ends(tmp_path: Path) -> None:
    refuse_other_topic(History(tmp_path), RUN, replace(TOPIC, log_start=(9, 9, 9), last_stable=(9, 9, 9)))


@pytest.mark.parametrize(
    ("topic", "stated"),
    [
        (replace(TOPIC, cluster_id="c2"), "belongs to cluster c1, but this is cluster c2. Use another --history"),
        (replace(TOPIC, topic_id="id2"), "__consumer_offsets was deleted and created again .* Use a new --history"),
    ],
)
def test_another_cluster_or_topic_is_refused(tmp_path: Path, topic: OffsetsTopic, stated: str) -> None:
    with pytest.raises(HistoryError, match=stated):
        refuse_other_topic(History(tmp_path), RUN, topic)


@pytest.mark.parametrize(("recorded", "left"), [(-1, [1, 2]), (2, [1, 2]), (3, [1, 2, 3])])
def test_a_batch_that_another_process_may_have_planned_is_taken_back_unless_a_table_has_it(
    tmp_path: Path, recorded: int, left: list[int]
) -> None:
    """What a table has was planned by the topic that it was read from."""
    history = History(tmp_path)
    for folder, number in (("offsets", "1"), ("offsets", "2"), ("offsets", "3"), ("commits", "1"), ("commits", "2")):
        place = Path(spark_checkpoint(history)) / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / number).touch()
        (place / f".{number}.crc").touch()
    forget_planned(history, recorded)
    files = {file.name for file in (Path(spark_checkpoint(history)) / "offsets").iterdir()}
    assert files == {name for number in left for name in (f"{number}", f".{number}.crc")}
