"""Topics by name, with partitions, and by pattern."""

import pytest

from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.reset.asked.selection import TopicChoice, choices, partitions
from tests.lag.reset.make import position, reading

SIZES = {"orders": 2, "orders.old": 1, "pay-in": 1, "pay-out": 3}


def picked(*texts: str) -> list[TopicChoice]:
    return choices(texts, SIZES)


def test_names_partitions_and_patterns() -> None:
    assert picked("orders") == [TopicChoice("orders")]
    assert picked("orders:1,0") == [TopicChoice("orders", (1, 0))]
    assert picked("pay.*") == [TopicChoice("pay-in"), TopicChoice("pay-out")]
    assert picked("pay.*:0") == [TopicChoice("pay-in", (0,)), TopicChoice("pay-out", (0,))]


def test_the_exact_name_of_a_topic_is_no_pattern() -> None:
    assert picked("orders.old") == [TopicChoice("orders.old")]
    assert choices(["orders.old"], {"ordersXold"}) == [TopicChoice("ordersXold")]


@pytest.mark.parametrize("text", ["order", "pay", "(", "a)(b", "\ud800"])
def test_what_matches_nothing_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        picked(text)


def test_all_topics_are_what_the_group_has_committed() -> None:
    group = reading({TopicPartition("orders", 1): position(5), TopicPartition("orders", 0): position(None)})
    assert partitions([], True, group, SIZES) == [TopicPartition("orders", 1)]
    assert partitions(picked("orders"), False, group, SIZES) == [TopicPartition("orders", n) for n in (0, 1)]
    assert partitions(picked("orders:1", "orders"), True, group, SIZES) == [TopicPartition("orders", n) for n in (0, 1)]


def test_of_a_dropped_topic_the_committed_partitions_are_meant() -> None:
    group = reading({TopicPartition("gone", 3): position(5, None, None)})
    assert partitions([TopicChoice("gone")], False, group, SIZES) == [TopicPartition("gone", 3)]
