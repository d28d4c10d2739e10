"""A cluster made by hand, polled a few times: a group that is behind, one that is stopped, one without members."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from app.server import source
from app.server.source import Source
from lag.model import ClusterSnapshot, GroupType, Member
from lag.polling.report import Report
from lag.verdict.judge import judge
from lag.verdict.window.sample_window import SampleRing
from tests.app import feeds
from tests.lag.make import GroupSpec, cluster, deleted, end, group, tp

NOW_MS = 1_795_258_817_000
POLL_MS = 10_000
POLLS = 40
TOPIC_IDS = {"orders": "AAAAAAAAAAAAAAAAAAAAAg", "clicks": "AAAAAAAAAAAAAAAAAAAAAw"}
ODD = "team/größe?#%2F 東京"


def groups(poll: int) -> Mapping[str, GroupSpec]:
    """The groups at that poll, counted from 0."""
    moved = 100 * poll
    search = Member("s-1", client_id="search", host="10.0.0.9", assigned=(tp("clicks-0"),), epoch=3, topics=("clicks",))
    return {
        "billing": group(
            {"orders-0": 5_000, "orders-1": 5_000}, [_reader("m0", "orders-0"), _reader("m1", "orders-1")]
        ),
        "search": group({"clicks-0": 1_000 + moved}, [search], type=GroupType.CONSUMER),
        "reports": group({"orders-0": 900, "gone-0": 7}, members=0, state="Empty"),
        "newcomer": group({"clicks-0": None}),
        ODD: group({"clicks-0": 1_000 + moved}),
        "__internal": group({"clicks-0": 1}, members=0, state="Empty"),
    }


def _reader(name: str, partition: str) -> Member:
    """A member that reads one partition."""
    owned = tp(partition)
    return Member(name, client_id=f"c-{name}", host="10.0.0.1", assigned=(owned,), topics=(owned.topic,))


def snapshot(poll: int, at_ms: int) -> ClusterSnapshot:
    """What one poll reads."""
    moved = 100 * poll
    ends = {
        "orders-0": end(6_000 + moved),
        "orders-1": end(6_000 + moved, start=10),
        "clicks-0": end(1_000 + moved),
        "gone-0": deleted(),
    }
    return cluster(groups(poll), ends, number=poll + 1, at_ms=at_ms, topic_ids=TOPIC_IDS)


def report(polls: int = POLLS, at_ms: int = NOW_MS) -> Report:
    """The report of the last of these polls, which is at `at_ms`."""
    ring = SampleRing()
    for poll in range(polls):
        read = snapshot(poll, at_ms - (polls - 1 - poll) * POLL_MS)
        window = ring.append(read)
    return Report(read, judge(read, window), window)


def source_of(**reports: Report | None) -> Source:
    """A source with those clusters."""
    return feeds.source(**{name: feeds.HandFeed(its) for name, its in reports.items()})


@contextmanager
def installed(its: Source) -> Iterator[Source]:
    """The source of this process during the block; afterwards the one before."""
    before = source.current()
    source.install(its)
    try:
        yield its
    finally:
        source.install(before)


def ids(documents: Sequence[Mapping[str, object]]) -> list[object]:
    """The ids of groups."""
    return [each["group_id"] for each in documents]
