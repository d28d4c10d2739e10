"""The partition of __consumer_offsets that holds a group, against Kafka's own `Utils.abs` and Java's `hashCode`."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.offsets_partition import offsets_partition
from tests.support.random_examples import random_examples

CHECKLIST = {"test": 48, "g1": 42, "my-group": 12, "order-service": 26, "polygenelubricants": 0}
"""Of 50, checked with Kafka's class; the last one's hash code is Integer.MIN_VALUE."""


@pytest.mark.parametrize("group_id", CHECKLIST)
def test_checklist(group_id: str) -> None:
    assert offsets_partition(group_id) == CHECKLIST[group_id]


def test_other_number_of_partitions() -> None:
    assert offsets_partition("polygenelubricants", 3) == 0
    assert {offsets_partition(group_id, 1) for group_id in CHECKLIST} == {0}


def test_topic_without_partitions_is_refused() -> None:
    with pytest.raises(ValueError, match=r"__consumer_offsets has 0 partitions\. Use 1 or more\."):
        offsets_partition("g", 0)


@pytest.fixture(scope="module")
def java_partition(java_classes: Callable[[str], Any]) -> Callable[[str, int], int]:
    """`abs(groupId.hashCode()) % n` with Java's and Kafka's own functions."""
    string, utils = java_classes("java.lang.String"), java_classes("org.apache.kafka.common.utils.Utils")
    return lambda group_id, partitions: int(utils.abs(string(group_id).hashCode())) % partitions


@random_examples(300)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.integers(1, 200))
def test_partition_equals_javas(java_partition: Any, group_id: str, partitions: int) -> None:
    assert offsets_partition(group_id, partitions) == java_partition(group_id, partitions)


@pytest.mark.parametrize("group_id", [*CHECKLIST, "", "gruppe-ä", "групa", "団体", "🦓-zebra"])
def test_partition_equals_javas_for_names_of_all_alphabets(java_partition: Any, group_id: str) -> None:
    assert offsets_partition(group_id) == java_partition(group_id, 50)
