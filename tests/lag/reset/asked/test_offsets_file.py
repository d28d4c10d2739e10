"""The offsets of a file: a plan, or the CSV of Kafka's tool; what is wrong is named with its line."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.model import GroupType
from lag.reset.asked.offsets_file import offsets_file
from lag.reset.asked.specification import Listed
from lag.reset.files.plan_document import plan_text
from lag.reset.model import Action, Kind, PartitionPlan, Plan

ROWS = (
    PartitionPlan(TopicPartition("orders", 0), Action.SET, 4, 0),
    PartitionPlan(TopicPartition("orders", 1), Action.DELETE, 4),
)
PLAN = Plan(Kind.OFFSETS, "c1", "billing", GroupType.CLASSIC, 1_000, "Empty", None, (), "to earliest", ROWS)

TEXT = plan_text(PLAN)
LINE = TEXT.count("\n", 0, TEXT.index('"to": 0')) + 1


@pytest.mark.parametrize("name", ["plan.json", "plan.yaml", "PLAN.YML"])
def test_a_plan_gives_the_offsets_that_it_sets(name: str) -> None:
    text = plan_text(PLAN, as_yaml=not name.endswith("json"))
    assert offsets_file(text.encode(), f"folder/{name}", "billing") == Listed({TopicPartition("orders", 0): 0}, name)


@pytest.mark.parametrize(
    "text", ["orders,0,7\n", "billing,orders,0,7\r\nother,orders,0,9\n", "\ufefforders,0,7", "orders,0,7\r"]
)
def test_a_csv_gives_the_offsets_of_the_group(text: str) -> None:
    found = offsets_file(text.encode(), "offsets.csv", "billing")
    assert found == Listed({TopicPartition("orders", 0): 7}, "offsets.csv")


@pytest.mark.parametrize(
    ("name", "data", "named"),
    [
        ("o.csv", b"orders,0,7\norders,0\n", "o.csv, line 2: this is not topic,partition,offset"),
        ("o.csv", b"orders,0,7\n\norders,0,-1\n", "o.csv, line 3: this is not topic,partition,offset"),
        ("o.csv", b"TOPIC,PARTITION,NEW-OFFSET\n", "o.csv, line 1: this is not topic,partition,offset"),
        ("o.csv", b"orders,0,7\n" + b"x" * 140_000, "o.csv, line 2: this is not topic,partition,offset"),
        ("o.csv", b"orders,0,7\norders\xff,0,7\n", "o.csv, line 2: this is not UTF-8"),
        ("o.csv", b"other,orders,0,7\n", "o.csv has no offsets for group billing"),
        ("p.json", b'{\n"kind": offsets}', "p.json: line 2"),
        ("p.json", TEXT.replace('"to": 0', '"to": -1').encode(), f"p.json: line {LINE}: .* at least 0"),
        ("p.yaml", b"kind: offsets\nkind: offsets\n", "p.yaml: line 2"),
        ("p.yaml", b"", "p.yaml is empty"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(name: str, data: bytes, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        offsets_file(data, name, "billing")


@given(
    st.sampled_from(["o.csv", "p.json", "p.yaml", "o"]), st.binary(max_size=60) | st.text(max_size=60).map(str.encode)
)
def test_any_bytes_are_offsets_or_refused(name: str, data: bytes) -> None:
    with suppress(ConfigError):
        assert offsets_file(data, name, "billing").offsets
