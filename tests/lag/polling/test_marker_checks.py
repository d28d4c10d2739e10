"""Which rows are checked for markers: those never checked come first."""

from collections.abc import Sequence

from lag.model import ClusterSnapshot, Remainder
from lag.offsets import PartitionLag
from lag.polling.evaluation import Evaluator, default_policy
from lag.polling.marker_checks import CHECKS_PER_POLL
from tests.lag.make import cluster, end, group


class Reader:
    """Groups without members, 3 behind. What is left is known of `tx` alone; the other topics may not be read."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        shut = {f"shut-{at:02}": group({f"shut{at}-0": 5}, members=0, state="Empty") for at in range(CHECKS_PER_POLL)}
        ends = {f"shut{at}-0": end(8) for at in range(CHECKS_PER_POLL)} | {"tx-0": end(8)}
        return cluster({**shut, "tx": group({"tx-0": 5}, members=0, state="Empty")}, ends, number, at_ms)

    def close(self) -> None:
        raise AssertionError

    def remainders(self, rows: Sequence[PartitionLag]) -> list[Remainder]:
        self.asked += [row.tp.topic for row in rows]
        return [Remainder.MARKERS_ONLY if row.tp.topic == "tx" else Remainder.UNKNOWN for row in rows]


def test_rows_that_stay_unknown_do_not_hold_up_the_others() -> None:
    reader, evaluator = Reader(), Evaluator(default_policy)
    for number in (1, 2, 3):
        report = evaluator.evaluate(reader, number, number * 10_000)
    assert reader.asked.count("tx") == 1
    assert min(reader.asked.count(f"shut{at}") for at in range(CHECKS_PER_POLL)) >= 2
    found = report.health.group("tx")
    assert found is not None
    assert found.finding.status == "ok"
