"""What is no scenario is refused with the line, the path and a sentence that helps."""

from pathlib import Path

import pytest

from assignors import load_scenario
from assignors.model import AssignorError
from assignors.scenario import ScenarioError, check_bytes

HEAD = """\
schema_version: 1
name: shop
assignor: sticky
topics:
  - {name: orders, partitions: 4}
members:
  - {id: c1, topics: [orders]}
"""
LATER = len(HEAD.splitlines()) + 1


def problems_of(text: str, name: str = "shop.yaml") -> list[str]:
    """Every problem of a text, as people read it."""
    with pytest.raises(ScenarioError) as refusal:
        check_bytes(text.encode("utf-8", "surrogatepass"), name)
    return [str(problem) for problem in refusal.value.problems]


def with_event(event: str) -> str:
    return f"{HEAD}events:\n  - {event}\n"


def test_errors_of_shape_and_of_sense_are_reported_at_once() -> None:
    text = """\
schema_version: 1
name: shop
assignor: rnge
topics:
  - {name: orders, partitions: 4}
  - {name: orders, partitions: 2}
members:
  - {id: c1, topics: [orders]}
  - {id: c1, topics: [orders]}
events:
  - {at: soon, leave: c9}
lag: {payments: 3}
"""
    assert problems_of(text) == [
        "line 3: assignor: No assignor is named 'rnge'. Did you mean 'range'?",
        "line 6: topics[1].name: 'orders' is already topics[0].",
        "line 9: members[1].id: 'c1' is already members[0].",
        "line 11: events[0].at: Write a duration such as 30s, 1500ms, 2m or 1h; a plain number means seconds.",
    ]


def test_what_names_a_broken_section_is_not_checked_against_it() -> None:
    text = """\
schema_version: 1
name: shop
assignor: sticky
topics:
  - {name: orders, partitions: many}
members:
  - {id: c1, topics: [orders], owned: {orders: [7]}}
lag: {orders: 3}
"""
    (problem,) = problems_of(text)
    assert problem.startswith("line 5: topics[0].partitions: ")


# -- the file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name", "sentence"),
    [
        (b"", "shop.yaml", "The file is empty. `groupscope scenario example` prints examples."),
        (b"# nothing\n", "shop.yaml", "The file is empty. `groupscope scenario example` prints examples"),
        (b"{}", "shop.txt", "shop.txt ends in .txt. A scenario ends in .yaml, .yml or .json."),
        (b"{}", "shop", "shop has no ending. A scenario ends in .yaml, .yml or .json."),
        (b" " * 2_097_153, "shop.yaml", "This is more than 2,097,152 bytes (2 MB), the most that a scenario may have."),
        (b"name: shop\nid: \xff\xfe", "shop.yaml", "line 2: Byte 15 is not UTF-8. Save the file as text in UTF-8."),
        ("name: shop".encode("utf-16"), "shop.yaml", "line 1: Byte 0 is not UTF-8. Save the file as text in UTF-8."),
        (b"a: 1\nb: \x07", "shop.yaml", "line 2: This is not YAML: the file contains a control character"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "shop.yaml", "line 1: Byte 0 is not UTF-8. Save the file as text in UTF-8."),
        (
            b"a: 1\n\tb: 2",
            "shop.yaml",
            "line 2: This is not YAML: found a tab character that violates indentation. Ind",
        ),
        (b"a: b: c", "shop.yaml", "line 1: This is not YAML: mapping values are not allowed in this context. Quote"),
        (b"a: [1, 2\n", "shop.yaml", "line 2: This is not YAML: did not find expected ',' or ']'."),
        (b'{"a": 1,\n "b" 2}', "shop.json", "line 2: This is not JSON: Expecting ':' delimiter at column 6."),
        (b"a: 1\n---\nb: 2", "shop.yaml", "line 3: A second document begins here. A file holds one document."),
        (b"a: &x 1\nb: *x", "shop.yaml", "line 1: Anchors (&) and aliases (*) are not allowed. Write the value out"),
        (b"a: *x", "shop.yaml", "line 1: Anchors (&) and aliases (*) are not allowed. Write the value out"),
        (b"a:\n  <<: {b: 1}", "shop.yaml", "line 2: Merge keys (<<) are not allowed. Write the values out."),
        (b"a: !!python/object:os.system x", "shop.yaml", "line 1: Tags such as tag:yaml.org,2002:python/object:os"),
        (b"a: 1\nb:\n  c: 1\n  c: 2", "shop.yaml", "line 4: b: The key 'c' is listed twice. Keep one."),
        (b'{"a": 1, "a": 2}', "shop.json", "line 1: The key 'a' is listed twice. Keep one."),
        (b"a: 1\n[b]: 2", "shop.yaml", "line 2: A list or a mapping is used as a key."),
        (b"a:\n  true: 2", "shop.yaml", "line 2: a: true is used as a key. Quote it if it is a name."),
        (b"a: " + b"[" * 20 + b"]" * 20, "shop.yaml", "Lists and mappings are nested more than 12 deep."),
        (b"[" * 100_000, "shop.json", "Lists and mappings are nested more than 12 deep."),
        (b"a: " + b"[" * 100_000, "shop.yaml", "Lists and mappings are nested more than 12 deep."),
        (b"- 1\n- 2", "shop.yaml", "line 1: A mapping is expected: lines or pairs of 'key: value'."),
        (b"just words", "shop.yaml", "line 1: A mapping is expected: lines or pairs of 'key: value'."),
        (b'{"n": %s}' % (b"9" * 5000), "shop.json", "line 1: schema_version: The key 'schema_version' is missing."),
    ],
)
def test_a_file_that_is_no_scenario(data: bytes, name: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        check_bytes(data, name)
    assert sentence in str(refusal.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"none\.yaml cannot be read: No such file or directory\.$"):
        load_scenario(tmp_path / "none.yaml")
    with pytest.raises(ScenarioError, match=r"cannot be read: Is a directory\.$"):
        load_scenario(tmp_path)


def test_a_scenario_error_is_an_assignor_error() -> None:
    with pytest.raises(AssignorError, match=r"^line 1: schema_version: The key 'schema_version' is missing"):
        load_scenario("{}")


# -- its shape ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("eventz: []", "eventz: The key 'eventz' is unknown. Did you mean 'events'?"),
        ("events: 5", "events: A list is expected, such as [a, b] or lines that begin with '- '."),
        ("weights: 5", "weights: A mapping is expected: lines or pairs of 'key: value'."),
        (
            "weights: {orders: x}",
            "weights.orders: Write a number for all partitions, a list of numbers (null: unknown), "
            "or a mapping of partition: number.",
        ),
        ("weights: {orders: {0: -1}}", "weights.orders[0]: This must be at least 0."),
        ("lag: {orders: [1, .5, a]}", "lag.orders[2]: A number is expected, unquoted."),
        ("rates: {orders: 1e999}", "rates.orders: A finite number is expected."),
        ("rates: {orders: {0: 1, '0': 2}}", "rates.orders: A partition is listed twice, as a number and as a string."),
        ("rates: {orders: 1e16}", "rates.orders: This must be at most 1,000,000,000,000,000."),
        ("capacity: 0", "capacity: This must be more than 0."),
        ("capacity: {c1: -1}", "capacity.c1: This must be more than 0."),
        ("capacity: fast", "capacity: Write a number for all members, or a mapping of member: number."),
        ("protocol: {session.timeout.ms: [6000]}", 'protocol["session.timeout.ms"]: A setting is a string, a number'),
    ],
)
def test_a_key_of_the_wrong_shape(line: str, problem: str) -> None:
    (only,) = problems_of(f"{HEAD}{line}\n")
    assert only.startswith(f"line {LATER}: {problem}")


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        ("{id: 1}", ".id: 1 is not a string here. Quote it: '1'."),
        ("{id: true}", ".id: true is not a string here. Quote it: 'true'."),
        ("{id: null}", ".id: A string is expected."),
        ("{id: ''}", ".id: This must not be empty."),
        ("{topics: [orders]}", ".id: The key 'id' is missing."),
        ("{id: c2, topics: orders}", ".topics: A list is expected, such as [a, b]"),
        ("{id: c2, topics: [or ders]}", ".topics[0]: A topic's name consists of ASCII letters, digits"),
        ("{id: c2, topics: [..]}", ".topics[0]: A topic's name consists of ASCII letters, digits"),
        ("{id: c2, topics: [%s]}" % ("x" * 250), ".topics[0]: A topic's name has at most 249 characters; this one has"),
        ("{id: c2, owned: {orders: [-1]}}", ".owned.orders[0]: This must be at least 0."),
        ("{id: c2, generation: 2147483647}", ".generation: This must be at most 2,000,000,000."),
        ("{id: c2, owned: {orders: [01]}}", ".owned.orders[0]: A whole number is expected, unquoted and without"),
        ("{id: c2, owned: {orders: ['1']}}", ".owned.orders[0]: A whole number is expected, unquoted and without"),
        ("{id: c2, owned: {7: [0]}}", ".owned[7]: 7 is not a string here. Quote it: '7'."),
        ("{id: c2, instance: pod-2}", ".instance: The key 'instance' is unknown. Did you mean 'instance_id'?"),
        ("{id: c2, topics: [orders], pattern: o.*}", ": Give topics or a pattern: Kafka's consumer takes the one or"),
        ("{id: c2, pattern: '(?=o)o.*'}", ".pattern: This is not a valid RE2 expression, and Kafka's brokers use RE2"),
        ("{id: c2, generation: 1.5}", ".generation: A whole number is expected"),
        ("c2", ": A mapping is expected"),
    ],
)
def test_a_member_of_the_wrong_shape(member: str, problem: str) -> None:
    (only,) = problems_of(f"{HEAD}  - {member}\n")
    assert only.startswith(f"line {LATER}: members[1]{problem}")


@pytest.mark.parametrize(
    ("topic", "problem"),
    [
        ("{name: t, partitions: 0}", ".partitions: This must be at least 1."),
        ("{name: t, partitions: -3}", ".partitions: This must be at least 1."),
        ("{name: t, partitions: 1000001}", ".partitions: This must be at most 1,000,000."),
        ("{name: t, partitions: 99999999999999999999999}", ".partitions: This must be at most 1,000,000."),
        ("{name: t, partitions: many}", ".partitions: A whole number is expected"),
        ("{name: t, partitions: 2, id: nope}", ".id: This is not a topic id. Give the 22 characters that Kafka prints"),
        ("{name: t, partitions: 2, racks: [[a]]}", ".racks: There are racks for 1 partition, but t has 2."),
        ("{name: t, partitions: 2, racks: [a, b]}", ".racks[0]: A list is expected"),
        ("{name: orders, partitions: 2}", ".name: 'orders' is already topics[0]."),
        ("{name: t, partitions: 999997}", "s: The topics have 1,000,001 partitions. A scenario has at most 1,000,000."),
    ],
)
def test_a_topic_that_cannot_be(topic: str, problem: str) -> None:
    text = HEAD.replace("members:", f"  - {topic}\nmembers:")
    problems = problems_of(text)
    assert any(f"topics[1]{problem}" in one or f"topic{problem}" in one for one in problems), problems


def test_problems_are_collected_up_to_twenty_in_the_order_of_the_file() -> None:
    members = "".join(f"  - {{id: m{n}, topic: [orders]}}\n" for n in range(30))
    problems = problems_of(HEAD + members)
    first = LATER
    assert problems == [
        f"line {first + n}: members[{n + 1}].topic: The key 'topic' is unknown. Did you mean 'topics'?"
        for n in range(20)
    ]


def test_of_problems_with_the_meaning_too_twenty_are_reported() -> None:
    members = "".join(f"  - {{id: m{n}, owned: {{order: [0]}}}}\n" for n in range(30))
    assert problems_of(HEAD + members) == [
        f"line {LATER + n}: members[{n + 1}].owned.order: No topic is named 'order'. Did you mean 'orders'?"
        for n in range(20)
    ]


def test_ten_thousand_members_are_the_most() -> None:
    text = HEAD + "".join(f"  - {{id: m{n}}}\n" for n in range(10_000))
    assert problems_of(text) == [
        f"line {LATER + 9_999}: members: At most 10,000 are allowed here, and this is one more."
    ]


def test_a_thousand_events_are_the_most() -> None:
    events = "".join("  - {at: 1s, use_assignor: sticky}\n" for _ in range(1000))
    assert len(check_bytes(f"{HEAD}events:\n{events}".encode(), "").scenario.events) == 1000
    text = f"{HEAD}events:\n{events}  - {{at: 1s, use_assignor: sticky}}\n"
    assert problems_of(text) == [f"line {LATER + 1001}: events: At most 1,000 are allowed here, and this is one more."]


# -- its meaning -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("  - {id: c1}", "members[1].id: 'c1' is already members[0]."),
        (
            "  - {id: c2, owned: {order: [0]}}",
            "members[1].owned.order: No topic is named 'order'. Did you mean 'orders'?",
        ),
        (
            "  - {id: c2, owned: {orders: [0, 4]}}",
            "members[1].owned.orders[1]: orders has no partition 4: it has 4, numbered from 0.",
        ),
        (
            "  - {id: c2, owned: {orders: [2, 2]}}",
            "members[1].owned.orders[1]: Partition 2 is listed twice. Keep one.",
        ),
        ("weights: {order: {0: 1}}", "weights.order: No topic is named 'order'. Did you mean 'orders'?"),
        ("lag: {orders: {4: 1}}", "lag.orders[4]: orders has no partition 4: it has 4, numbered from 0."),
        ("lag: {orders: [1, 2, 3, 4, 5]}", "lag.orders: There are 5 numbers, but orders has 4 partitions."),
        ("capacity: {c9: 10}", "capacity.c9: No member is named 'c9'. The only one is c1."),
    ],
)
def test_a_name_or_number_that_does_not_exist(line: str, problem: str) -> None:
    assert problems_of(f"{HEAD}{line}\n") == [f"line {LATER}: {problem}"]


def test_a_capacity_that_is_given_twice() -> None:
    text = HEAD.replace("{id: c1,", "{id: c1, capacity: 5,") + "capacity: {c1: 6}\n"
    assert problems_of(text) == [f"line {LATER}: capacity.c1: 'c1' already has a capacity. Keep one."]


@pytest.mark.parametrize(
    ("assignor", "problem"),
    [
        ("stick", "No assignor is named 'stick'. Did you mean 'sticky'?"),
        ("weird", "No assignor is named 'weird'. Choose from range, roundrobin, sticky, "),
        ("os:system", "A file cannot name a plugin, which runs as code. Give it as --plugin, or install it."),
    ],
)
def test_an_assignor_that_is_unknown(assignor: str, problem: str) -> None:
    (only,) = problems_of(HEAD.replace("assignor: sticky", f"assignor: {assignor}"))
    assert only.startswith(f"line 3: assignor: {problem}")


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        (["{at: 1s, crash: c9}"], "crash: No member is named 'c9'. The only one is c1."),
        (["{at: 1s, leave: c1}", "{at: 2s, crash: c1}"], "crash: 'c1' has left at 1s. It must join again first."),
        (["{at: 1s, crash: c1}", "{at: 2s, freeze: c1}"], "freeze: 'c1' has crashed at 1s. It must join again first."),
        (["{at: 9s, join: {id: c2}}", "{at: 2s, leave: c2}"], "leave: 'c2' joins only at 9s."),
        (["{at: 1s, join: {id: c1}}"], "join.id: 'c1' is already in the group."),
        (["{at: 1s, freeze: c1}", "{at: 2s, freeze: c1}"], "freeze: 'c1' is frozen. Resume it first."),
        (["{at: 1s, freeze: c1}", "{at: 2s, crash: c1}"], "crash: 'c1' is frozen. Resume it first."),
        (["{at: 1s, split: c1}", "{at: 2s, crash: c1}"], "crash: 'c1' is cut off. Heal it first."),
        (["{at: 1s, freeze: c1}", "{at: 2s, heal: c1}"], "heal: 'c1' is frozen. Resume it first."),
        (["{at: 1s, heal: c1}"], "heal: 'c1' is not cut off. Cut it off with split first, or leave this event out."),
        (
            ["{at: 1s, gc_pause: {id: c1, lasts: 20s}}", "{at: 20500ms, leave: c1}"],
            "leave: 'c1' is paused until 21s. Move this event to a later time.",
        ),
        (["{at: 1s, gc_pause: {id: c9, lasts: 1s}}"], "gc_pause.id: No member is named 'c9'. The only one is c1."),
        (["{at: 1s, slow: {id: c9, processing: 1s}}"], "slow.id: No member is named 'c9'. The only one is c1."),
        (["{at: 1s, resume: c1}"], "resume: 'c1' is not frozen. Freeze it first, or leave this event out."),
        (["{at: 1s, subscribe: {id: c9, topics: []}}"], "subscribe.id: No member is named 'c9'. The only one is c1."),
        (["{at: 1s, rack: {id: c9, rack: a}}"], "rack.id: No member is named 'c9'. The only one is c1."),
        (
            ["{at: 1s, add_partitions: {orders: 4}}"],
            "add_partitions.orders: orders already has 4 partitions, and Kafka cannot remove partitions. "
            "Write the new total.",
        ),
        (
            ["{at: 1s, add_partitions: {order: 9}}"],
            "add_partitions.order: There is no topic 'order' at this time. Did you mean 'orders'?",
        ),
        (
            ["{at: 1s, create_topic: {name: orders, partitions: 1}}"],
            "create_topic.name: The topic orders already exists.",
        ),
        (
            ["{at: 1s, delete_topic: orders}", "{at: 2s, add_partitions: {orders: 9}}"],
            "add_partitions.orders: There is no topic 'orders' at this time.",
        ),
        (["{at: 1s, use_assignor: stick}"], "use_assignor: No assignor is named 'stick'. Did you mean 'sticky'?"),
        (["{at: 1s, coordinator_up: true}"], "coordinator_up: The coordinator is already up."),
        (["{at: 1s, coordinator_down: 5}"], "coordinator_down: This event has no value. Write true."),
        (["{at: 1s, crash: null}"], "crash: A string is expected."),
        (["{at: 1s, add_partitions: {orders: 1000001}}"], "add_partitions.orders: This must be at most 1,000,000."),
    ],
)
def test_an_event_that_cannot_happen(events: list[str], problem: str) -> None:
    text = HEAD + "events:\n" + "".join(f"  - {event}\n" for event in events)
    number = len(events) - 1
    assert problems_of(text) == [f"line {LATER + len(events)}: events[{number}].{problem}"]


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ("{crash: c1}", ".at: The key 'at' is missing."),
        ("{at: 1s}", ": An event has one key besides 'at'; this one has nothing. Write one of join, leave, crash"),
        ("{at: 1s, crash: c1, leave: c1}", ": An event has one key besides 'at'; this one has crash and leave."),
        ("{at: 1s, crsh: c1}", ".crsh: The key 'crsh' is unknown. Did you mean 'crash'?"),
        ("{at: 1s, join: {id: c2, owned: {orders: [0]}}}", ".join.owned: The key 'owned' is unknown. Choose from id, "),
        (
            "{at: soon, crash: c1}",
            ".at: Write a duration such as 30s, 1500ms, 2m or 1h; a plain number means seconds.",
        ),
        ("{at: -1, crash: c1}", ".at: Write a duration such as 30s"),
        ("{at: true, crash: c1}", ".at: Write a duration such as 30s"),
        ("{at: 1.5ms, crash: c1}", ".at: This is not a whole number of milliseconds, the smallest unit of a scenario."),
        ("{at: 9999999h, crash: c1}", ".at: A scenario lasts at most 366 days."),
        ("{at: 1s, gc_pause: {id: c1, lasts: long}}", ".gc_pause.lasts: Write a duration such as 30s"),
        (
            "{at: 1s, gc_pause: {id: c1, lasts: 1s, for: 1s}}",
            ".gc_pause.for: The key 'for' is unknown. Choose from id, lasts.",
        ),
        ("{at: 1s, subscribe: {id: c1}}", ".subscribe: Give topics or a pattern: "),
        ("{at: 1s, subscribe: {id: c1, topics: [orders], pattern: o.*}}", ".subscribe: Give topics or a pattern: "),
        ("{at: 1s, subscribe: {id: c1, pattern: '(o'}}", ".subscribe.pattern: This is not a valid RE2 expression"),
        ("{at: 1s, add_partitions: {}}", ".add_partitions: At least 1 is expected."),
    ],
)
def test_an_event_of_the_wrong_shape(event: str, problem: str) -> None:
    (only,) = problems_of(with_event(event))
    assert only.startswith(f"line {LATER + 1}: events[0]{problem}")


def test_growth_beyond_a_million_partitions_in_all() -> None:
    problems = problems_of(with_event("{at: 1s, create_topic: {name: more, partitions: 999997}}"))
    assert problems == [
        f"line {LATER}: events: The topics have 1,000,001 partitions. A scenario has at most 1,000,000."
    ]
