"""Made-up clusters for the tests of the pages: every verdict, every problem, every group type, no broker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import md5
from uuid import UUID

import numpy as np

from assignors.model import TopicPartition
from lag.cluster.requests.error_codes import group_problem
from lag.merged_problems import merged
from lag.model import Broker, ClusterSnapshot, GroupSnapshot, GroupType, LagTotal, Member, Problem, Scope, Topic
from lag.offsets import UNKNOWN, EndOffsets, OffsetTable, PartitionLag, PartitionProblem, PartitionRows, problem_code
from lag.verdict.health import Finding, GroupColumns, GroupHealth, Health, PartitionHealth, PartitionHealths, TimeLag
from lag.verdict.onset import SOURCE_CODE, Onset, OnsetColumns, OnsetSource
from lag.verdict.status import STATUS_CODE, Status
from lag.verdict.window.rates import NEVER
from lag.verdict.window.sample_window import Window

NOW_MS = 1_795_258_817_000
INTERVAL_MS = 10_000
SAMPLES = 90
GROUP_AUTHORIZATION_FAILED = 30
"""Kafka's code of that error."""


@dataclass(frozen=True)
class Row:
    """One partition of one group, as a spec."""

    topic: str
    partition: int
    committed: int | None
    end: int | None
    member: int | None = None
    status: Status = Status.OK
    problem: PartitionProblem | None = None
    start: int = 0
    stable: int | None = None
    produce: float | None = 40.0
    consume: float | None = 40.0
    lost: int = 0


@dataclass(frozen=True)
class Spec:
    """One group, as a spec."""

    group_id: str
    rows: tuple[Row, ...] = ()
    members: tuple[Member, ...] = ()
    status: Status = Status.OK
    type: GroupType = GroupType.CLASSIC
    state: str = "Stable"
    assignor: str | None = "range"
    evidence: str = ""
    rule: str = ""
    since_ms: int | None = None
    drain_s: float | None = None
    epoch: int | None = None
    internal: bool = False
    problems: tuple[Problem, ...] = ()
    slope: float = 0.0
    time_lag: TimeLag = field(default_factory=lambda: TimeLag(None, reason="no sample"))


def open_group(by_id: Mapping[str, Spec], snapshot: ClusterSnapshot, at: int) -> PartitionHealths:
    """The judgement of each partition, as the spec asks."""
    group = snapshot.groups[at]
    spec = by_id[group.group_id]
    rows = _sorted(spec.rows)
    status = np.array([STATUS_CODE[row.status] for row in rows], np.uint8)
    return PartitionHealths(status, lambda n: _partition(snapshot, spec, rows[n], group.partitions[n]))


def _partition(snapshot: ClusterSnapshot, spec: Spec, row: Row, lag: PartitionLag) -> PartitionHealth:
    moving = row.status == Status.OK
    finding = Finding(row.status, "" if moving else spec.rule, "", None if moving else _since(spec, snapshot.at_ms))
    return PartitionHealth(
        finding,
        row.consume,
        row.produce,
        TimeLag(2.0 if moving else None, 1.0, reason=None if moving else "older than the samples"),
        0.0 if moving else NEVER,
        snapshot.at_ms - (2000 if moving else 843_000),
        trend(lag.lag_records, 0.0 if moving else spec.slope),
    )


def _since(spec: Spec, at_ms: int) -> Onset | None:
    """Since when, as far before the snapshot as the spec stands before NOW_MS."""
    return None if spec.since_ms is None else Onset(spec.since_ms + at_ms - NOW_MS, True, OnsetSource.COMMIT)


def trend(last: int | None, slope: float) -> np.ndarray:
    """A lag that ended at `last` and grew by `slope` of it over the window."""
    if last is None:
        return np.full(SAMPLES, np.nan)
    x = np.linspace(-1, 0, SAMPLES)
    return np.maximum(0, last * (1 + slope * x)) + (np.abs(np.sin(x * 40)) * 40 if slope == 0 else 0)


def members(n: int, prefix: str = "c", racks: Sequence[str] = ("eu-1a", "eu-1b", "eu-1c")) -> tuple[Member, ...]:
    """n members of one group."""
    return tuple(
        Member(
            f"{prefix}-{i}-8c1f0e9{i:x}a", f"{prefix}-{i}", f"/10.4.{2 + i % 2}.{17 + i}", rack=racks[i % len(racks)]
        )
        for i in range(n)
    )


def rows(topic: str, ends: Sequence[int], lags: Sequence[int | None], owners: int, **more: object) -> tuple[Row, ...]:
    """One row per partition, owners in blocks (as range would)."""
    size = -(-len(ends) // owners) if owners else 1
    return tuple(
        Row(topic, p, None if lag is None else end - lag, end, p // size if owners else None, **more)  # type: ignore[arg-type]
        for p, (end, lag) in enumerate(zip(ends, lags, strict=True))
    )


def _sorted(these: Sequence[Row]) -> list[Row]:
    return sorted(these, key=lambda r: (r.topic, r.partition))


def snapshot(
    specs: Sequence[Spec],
    number: int = 1,
    at_ms: int = NOW_MS,
    brokers: tuple[Broker, ...] | None = None,
    problems: tuple[Problem, ...] = (),
) -> ClusterSnapshot:
    """The specs as one cluster snapshot, with its offset table."""
    specs = sorted(specs, key=lambda s: s.group_id)
    keys = sorted({(r.topic, r.partition) for s in specs for r in s.rows})
    names = tuple(sorted({topic for topic, _ in keys}))
    by_key = {(r.topic, r.partition): r for s in specs for r in s.rows}
    by_start = sorted((r.start, (r.topic, r.partition)) for s in specs for r in s.rows)
    starts = {key: start for start, key in by_start}  # the highest that a group knows
    gone = {r.topic for s in specs for r in s.rows if r.problem == PartitionProblem.TOPIC_DELETED}
    leaderless = {k for k, r in by_key.items() if r.problem == PartitionProblem.LEADERLESS}
    ends = EndOffsets(
        names,
        np.array([names.index(t) for t, _ in keys], np.int32),
        np.array([p for _, p in keys], np.int32),
        np.array([UNKNOWN if k in leaderless else k[1] % 3 + 1 for k in keys], np.int32),
        np.array([starts[k] for k in keys], np.int64),
        np.array([_code(by_key[k].end) for k in keys], np.int64),
        np.array([_code(by_key[k].stable if by_key[k].stable is not None else by_key[k].end) for k in keys], np.int64),
        np.full(len(keys), UNKNOWN, np.int32),
        np.zeros(len(keys), np.uint8),
    )
    at = {k: i for i, k in enumerate(keys)}
    flat = [(s, r) for s in specs for r in _sorted(s.rows)]
    table = OffsetTable(
        at_ms,
        ends,
        np.cumsum([0, *[len(s.rows) for s in specs]]).astype(np.int64),
        np.array([at[r.topic, r.partition] for _, r in flat], np.int32),
        np.array([_code(r.committed) for _, r in flat], np.int64),
        np.array([_code(_lag(r)) for _, r in flat], np.int64),
        np.array([r.lost for _, r in flat], np.int64),
        np.array([problem_code(r.problem) for _, r in flat], np.uint8),
        np.array([_code(r.member) for _, r in flat], np.int32),
    )
    groups = tuple(_group(s, i, table, at_ms) for i, s in enumerate(specs))
    topics = {
        t: Topic(
            t,
            _topic_id(t),
            sum(k[0] == t for k in keys),
            t.startswith("__"),
            tuple(p for n, p in sorted(leaderless) if n == t),
            604_800_000,
        )
        for t in names
        if t not in gone
    }
    some = brokers or tuple(
        Broker(i, f"10.4.0.1{i}", 9092, f"eu-1{'abc'[i - 1]}", None, 4, 0.021, "4.3") for i in (1, 2, 3)
    )
    problems += tuple(merged(problem for group in groups for problem in group.problems))
    complete = not problems and all(b.error is None for b in some)
    return ClusterSnapshot("demo", "kR4x", number, at_ms, 0.31, complete, some, 1, groups, topics, table, problems)


def _topic_id(name: str) -> str:
    return str(UUID(bytes=md5(name.encode()).digest()))


def _code(value: int | None) -> int:
    return UNKNOWN if value is None else value


def _lag(r: Row) -> int | None:
    if (
        r.committed is None
        or r.end is None
        or r.problem in {PartitionProblem.BEYOND_END, PartitionProblem.TOPIC_DELETED}
    ):
        return None
    return r.end - max(r.committed, r.start)


def _group(s: Spec, at: int, table: OffsetTable, at_ms: int) -> GroupSnapshot:
    tps = [TopicPartition(r.topic, r.partition) for r in _sorted(s.rows)]
    owners = [r.member for r in _sorted(s.rows)]
    these = tuple(
        m
        if m.assigned
        else replace(
            m,
            assigned=tuple(tp for tp, o in zip(tps, owners, strict=True) if o == i),
            topics=tuple(sorted({tp.topic for tp in tps})),
        )
        for i, m in enumerate(s.members)
    )
    partitions = PartitionRows(table, table.rows(at), [m.member_id for m in these])
    return GroupSnapshot(
        "demo",
        s.group_id,
        s.type,
        s.state,
        at % 3 + 1,
        s.assignor,
        s.epoch,
        these,
        partitions,
        at_ms,
        not s.problems,
        s.epoch,
        s.problems,
        s.internal,
    )


def health(specs: Sequence[Spec], snap: ClusterSnapshot) -> Health:
    """The judgement the specs ask for."""
    by_id = {s.group_id: s for s in specs}
    times = snap.at_ms - INTERVAL_MS * np.arange(SAMPLES - 1, -1, -1, dtype=np.int64)
    groups = [_health(by_id[g.group_id], g) for g in snap.groups]
    return Health(snap, times, groups, partial(open_group, by_id, snap), columns=_columns(groups))


def _columns(groups: Sequence[GroupHealth]) -> GroupColumns:
    onsets = [g.finding.onset for g in groups]
    return GroupColumns(
        status=np.array([STATUS_CODE[g.finding.status] for g in groups], np.int8),
        time_lag_s=np.array([g.time_lag.seconds for g in groups], np.float64),
        drain_s=np.array([g.drain_s for g in groups], np.float64),
        markers=np.zeros(len(groups), np.int64),
        onsets=OnsetColumns(
            np.array([_code(None if onset is None else onset.at_ms) for onset in onsets], np.int64),
            np.array([onset is not None and onset.is_exact for onset in onsets], np.bool_),
            np.full(len(groups), SOURCE_CODE[OnsetSource.COMMIT], np.uint8),
        ),
    )


def window(specs: Sequence[Spec], snap: ClusterSnapshot, samples: int = SAMPLES) -> Window:
    """The polls before the snapshot: logs grew and commits moved at the rates of the specs, log starts stood still."""
    table, ends = snap.offsets, snap.offsets.ends
    flat = [r for s in sorted(specs, key=lambda s: s.group_id) for r in _sorted(s.rows)]
    by_key = {(r.topic, r.partition): r for r in flat}
    produced = _steps([by_key[ends.tp(row)].produce for row in range(len(ends))])
    consumed, ago = _steps([r.consume for r in flat]), range(samples - 1, -1, -1)
    return Window(
        snap.at_ms - INTERVAL_MS * np.array(ago, np.int64),
        table.end,
        tuple(_before(table.committed, consumed * n) for n in ago),
        tuple(ends.log_start for _ in ago),
        tuple(_before(ends.log_end, produced * n) for n in ago),
    )


def _steps(rates: Sequence[float | None]) -> np.ndarray:
    """Records from poll to poll."""
    return np.array([(rate or 0) * INTERVAL_MS / 1000 for rate in rates], np.int64)


def _before(offsets: np.ndarray, less: np.ndarray) -> np.ndarray:
    return np.where(offsets == UNKNOWN, UNKNOWN, np.maximum(offsets - less, 0))


def _health(s: Spec, g: GroupSnapshot) -> GroupHealth:
    lags = [p.lag_records for p in g.partitions]
    known = [v for v in lags if v is not None]
    total = LagTotal(sum(known) if known or not lags else None, len(known), len(lags), sum(r.lost for r in s.rows))
    bad: dict[Status, int] = {}
    for r in s.rows:
        if r.status != Status.OK:
            bad[r.status] = bad.get(r.status, 0) + 1
    worst = next((i for i, r in enumerate(_sorted(s.rows)) if r.status == s.status), None)
    rates = [(r.consume, r.produce) for r in s.rows if r.consume is not None and r.produce is not None]
    return GroupHealth(
        Finding(s.status, s.rule, s.evidence, _since(s, g.at_ms)),
        total,
        sum(c for c, _ in rates),
        sum(p for _, p in rates),
        s.time_lag,
        s.drain_s,
        bad,
        worst,
        trend(total.records, s.slope),
    )


def specs() -> list[Spec]:
    """Every verdict once, and some groups that are well."""
    ends = [96_000_000 + 417_003 * p for p in range(40)]
    lags: list[int | None] = [
        402_117 if p == 7 else 398_204 if p == 8 else 371_560 if p == 9 else (p * 37) % 640 for p in range(40)
    ]
    billing = [
        replace(r, status=Status.STALLED, consume=0.0, produce=480.0) if r.partition in (7, 8, 9) else r
        for r in rows("billing.events", ends, lags, 4)
    ]
    for p in (21, 33):
        billing[p] = replace(
            billing[p], end=None, status=Status.UNKNOWN, problem=PartitionProblem.TIMEOUT, produce=None, consume=None
        )
    kip = members(4, "enrich")
    tps = [TopicPartition("orders", p) for p in range(12)]
    kip = tuple(
        replace(
            m,
            epoch=8 if i != 2 else 7,
            assigned=tuple(tps[i::4]) if i < 3 else (),
            topics=("orders",),
            target=tuple(tps[i::4]),
            instance_id=f"enrich-static-{i}",
        )
        for i, m in enumerate(kip)
    )
    twelve = [4_000_000 + 999 * p for p in range(12)]
    out = [
        Spec(
            "billing-settlement",
            tuple(billing),
            members(5, "settle-7c9f"),
            Status.STALLED,
            slope=1.0,
            rule="lag at every sample, committed offset of these partitions equal at every sample, others moved",
            evidence="partitions 7, 8, 9: commit unchanged in 84 of 84 samples while the end grew by 1,201,331",
            since_ms=NOW_MS - 843_000,
            drain_s=NEVER,
            time_lag=TimeLag(843.0, 5.0),
        ),
        Spec(
            "orders-enrichment",
            tuple(
                replace(
                    r,
                    member=None if r.partition % 4 == 3 else r.partition % 4,
                    start=3_990_000,
                    lost=1200 if r.partition < 2 else 0,
                    committed=3_988_800 if r.partition < 2 else r.committed,
                    status=Status.LOST if r.partition < 2 else Status.OK,
                    problem=PartitionProblem.BELOW_LOG_START if r.partition < 2 else None,
                )
                for r in rows("orders", twelve, [900] * 12, 3)
            ),
            kip,
            Status.LOST,
            GroupType.CONSUMER,
            "Reconciling",
            "uniform",
            "2 partitions committed below the log start, 2,400 records deleted unread",
            "committed offset < log start offset",
            NOW_MS - 60_000,
            None,
            8,
        ),
        Spec(
            "fraud-scoring-v2",
            tuple(replace(r, status=Status.STOPPED, consume=0.0) for r in rows("payments", twelve, [26_533] * 12, 3)),
            members(3, "fraud"),
            Status.STOPPED,
            rule="lag > 0 and no commit by any partition in the window",
            evidence="318,396 records behind, no commit in 90 samples over 15 min",
            since_ms=NOW_MS - 900_000,
            drain_s=NEVER,
            slope=0.4,
        ),
        Spec(
            "payments-ledger-writer",
            tuple(
                replace(r, status=Status.FALLING_BEHIND, consume=31.0)
                for r in rows("payments", twelve, [7_676] * 12, 4)
            ),
            members(4, "ledger"),
            Status.FALLING_BEHIND,
            assignor="cooperative-sticky",
            rule="lag grew over the window",
            evidence="lag grew by 9 records/s over 15 min",
            since_ms=NOW_MS - 900_000,
            drain_s=NEVER,
            slope=0.3,
            time_lag=TimeLag(191.0, 5.0),
        ),
        Spec(
            "search-indexer",
            tuple(
                replace(r, status=Status.CATCHING_UP, consume=90.0) for r in rows("catalog", twelve, [28_201] * 12, 6)
            ),
            members(6, "search"),
            Status.CATCHING_UP,
            rule="lag fell over the window",
            evidence="lag falls by 600 records/s",
            drain_s=1620.0,
            slope=-1.5,
            time_lag=TimeLag(1876.0, 10.0),
        ),
        Spec(
            "recreated-topic-reader",
            tuple(
                replace(
                    r,
                    committed=r.end + 5000 if r.end else 0,
                    problem=PartitionProblem.BEYOND_END,
                    status=Status.BEYOND_END,
                )
                for r in rows("recreated", [40] * 3, [0] * 3, 1)
            ),
            members(1, "rec"),
            Status.BEYOND_END,
            rule="committed > log end",
            evidence="3 partitions committed beyond the log end",
        ),
        Spec(
            "replayer",
            tuple(replace(r, status=Status.REWOUND) for r in rows("catalog", twelve, [512] * 12, 1)),
            members(1, "replay"),
            Status.REWOUND,
            rule="a commit lower than its predecessor",
            evidence="partition 3 went back by 48,200 records",
            since_ms=NOW_MS - 45_000,
        ),
        Spec(
            "newcomer",
            tuple(
                replace(r, committed=None, status=Status.NEVER_COMMITTED, problem=PartitionProblem.NO_COMMIT)
                if r.partition > 3
                else r
                for r in rows("catalog", twelve, [3] * 12, 2)
            ),
            members(2, "new"),
            Status.NEVER_COMMITTED,
            rule="no committed offset",
            evidence="8 of 12 partitions have no commit",
        ),
        Spec(
            "tx-reader",
            (
                Row("tx.events", 0, 9_000, 12_500, 0, Status.HELD, stable=9_000),
                Row("tx.marker", 0, 100, 101, 0, Status.OK),
            ),
            members(1, "tx"),
            Status.HELD,
            rule="committed = last stable offset < log end",
            evidence="3,500 records lie above the last stable offset",
            since_ms=NOW_MS - 300_000,
        ),
        Spec(
            "dlq-replayer",
            rows("dlq", [18_211], [18_211], 0),
            (),
            Status.NO_MEMBERS,
            state="Empty",
            assignor=None,
            rule="lag > 0 and no members",
            evidence="18,211 records wait",
        ),
        Spec(
            "returns-processor",
            tuple(
                replace(r, problem=PartitionProblem.TOPIC_DELETED, end=None, status=Status.TOPIC_DELETED)
                for r in rows("returns.v1", [70, 80], [0, 0], 0)
            ),
            (),
            Status.TOPIC_DELETED,
            state="Empty",
            assignor=None,
            rule="commits for a topic that is not in the metadata",
            evidence="2 commits left for returns.v1",
        ),
        Spec(
            "gdpr-erasure-worker",
            (),
            (),
            Status.UNKNOWN,
            state="Unknown",
            assignor=None,
            rule="",
            evidence="not authorised to describe it",
            problems=(group_problem("gdpr-erasure-worker", GROUP_AUTHORIZATION_FAILED),),
        ),
        Spec(
            "share-thumbnailer",
            rows("images", [800] * 3, [219, 220, 219], 0),
            members(7, "thumb"),
            Status.OK,
            GroupType.SHARE,
            assignor="simple",
            epoch=3,
        ),
        Spec(
            "audit-pair",
            rows("audit.a", [500] * 4, [3] * 4, 2) + rows("audit.b", [900] * 4, [1] * 4, 2),
            members(2, "audit"),
            assignor="roundrobin",
        ),
        Spec(
            "groupscope-probe",
            rows("catalog", twelve, [0] * 12, 0),
            (),
            Status.OK,
            internal=True,
            state="Empty",
            assignor=None,
        ),
    ]
    names = [
        "ads-attribution",
        "cart-abandonment",
        "catalog-cdc-to-elastic",
        "chargeback-intake",
        "clickstream-sessionizer",
        "customer-360-sync",
        "geo-fence-alerts",
        "inventory-projection",
        "invoices-pdf",
        "loyalty-points",
        "risk-limits-monitor",
        "shipping-label-printer",
        "streams-order-totals",
        "tax-calculation",
        "user-profile-cache",
        "web-metrics-rollup",
    ]
    for i, name in enumerate(names):
        kind = (
            GroupType.STREAMS if name.startswith("streams") else GroupType.CONSUMER if i % 5 == 1 else GroupType.CLASSIC
        )
        out.append(
            Spec(
                name,
                rows("clicks" if i % 2 else "orders", twelve, [(i * 31 + p * 7) % 90 for p in range(12)], 1 + i % 5),
                members(1 + i % 5, name.split("-")[0]),
                type=kind,
                drain_s=1.0,
                time_lag=TimeLag(float(i % 4), 1.0),
            )
        )
    return out


BROKEN_BROKER = (
    Broker(1, "10.4.0.11", 9092, "eu-1a", None, 4, 0.021, "4.3"),
    Broker(2, "10.4.0.12", 9092, "eu-1b", None, 4, 0.034, "4.3"),
    Broker(3, "10.4.0.13", 9092, "eu-1c", "no answer within 5 s", 2, 5.0, None),
)
PROBLEMS = (
    Problem(
        "timeout",
        Scope.BROKER,
        "3",
        "broker 3 (10.4.0.13:9092) did not answer within 5 s",
        "Check that the broker runs and that this machine can reach it",
        38,
    ),
)


def many(groups: int, partitions: int = 10) -> list[Spec]:
    """A large cluster: groups that share ten topics."""
    return [
        Spec(
            f"group-{i:05d}",
            rows(f"topic-{i % 10}", [10_000] * partitions, [(i * 7 + p) % 500 for p in range(partitions)], 1),
            members(1, f"m{i}"),
            (Status.FALLING_BEHIND if i % 97 == 0 else Status.OK),
        )
        for i in range(groups)
    ]
