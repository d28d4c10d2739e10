"""The roll-up of one series in plain Python, sample by sample and commit by commit, straight from the specification.

None is "not known". Times are seconds. It shares but the names of columns with `lag.rollup.lag_minutes`.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Any

from tests.support.known import known


@dataclass
class Sample:
    at: float
    start: int | None
    end: int | None
    stable: int | None
    topic: str | None = None


@dataclass
class Commit:
    at: float
    offset: int | None
    topic: str | None = None
    bootstrap: bool = False


def minutes(samples: list[Sample], commits: list[Commit], since: float, until: float) -> list[dict[str, Any]]:
    samples = in_order(samples)
    lives = [life(number, samples) for number in range(len(samples))]
    judged = [judge(number, samples, commits, lives) for number in range(len(samples))]
    count_lost(judged)
    rows = []
    for minute in range(round(since), round(until), 60):
        inside = [one for one in judged if minute <= one["at"] < minute + 60]
        news = [c for c in commits if minute <= c.at < minute + 60 and c.offset is not None and not c.bootstrap]
        if inside or news:
            rows.append(row(minute, inside, news, judged, commits))
    return rows


def in_order(samples: list[Sample]) -> list[Sample]:
    """One between the two that were read before it, of one topic id, is as the last of them."""
    made = list(samples)
    read = [number for number, sample in enumerate(samples) if sample.end is not None]
    for first, before, number in zip(read, read[1:], read[2:], strict=False):
        a, b, c = samples[first], samples[before], samples[number]
        if c.topic and a.topic == b.topic == c.topic and known(a.end) <= known(c.end) < known(b.end):
            made[number] = replace(b, at=c.at)
    return made


def judge(number: int, samples: list[Sample], commits: list[Commit], lives: list[int]) -> dict[str, Any]:
    """What is known at one sample."""
    sample = samples[number]
    log = [index for index in range(len(samples)) if lives[index] == lives[number]]
    start, end, stable = (carried(number, samples, log, name) for name in ("start", "end", "stable"))
    before = [c for c in commits if c.at <= sample.at]
    commit = before[-1] if before else Commit(0, None)
    stale = commit.offset is not None and None not in (commit.topic, sample.topic) and commit.topic != sample.topic
    reported = {"at": sample.at, "life": lives[number], "committed": commit.offset, "start": start, "end": end,
            "committed_at": commit.at, "place": None if stale else commit.offset, "stale": stale, "topic": sample.topic,
            "lag": None, "raw": None, "lost": 0, "rc": None, "time": None, "least": None}  # fmt: skip
    if commit.offset is None or end is None or stale:
        return reported
    position = max(commit.offset, start if start is not None else -1)
    reported |= {"lag": max(end - position, 0), "raw": end - commit.offset}
    reported["lead"] = commit.offset - (start if start is not None else -1)
    reported["lost"] = max((start or 0) - commit.offset, 0)
    reported["rc"] = None if stable is None else max(stable - position, 0)
    read = [samples[index] for index in log if samples[index].end is not None]
    return reported | time_lag(sample.at, position, end, read)


def count_lost(judged: list[dict[str, Any]]) -> None:
    """Offset by offset: which are lost and were not at the sample before, if that is of the same topic id."""
    before: dict[str, Any] = {}
    for one in judged:
        one["new"] = 0
        if one["lag"] is None or one["start"] is None:
            continue
        gone = set(range(one["committed"], one["start"]))
        is_next = before and before["topic"] == one["topic"] and round(one["at"] - before["at"], 6) <= 7200
        one["new"] = len(gone - before["gone"]) if is_next else len(gone)
        before = one | {"gone": gone}


def time_lag(now: float, position: int, end: int, read: list[Sample]) -> dict[str, Any]:
    if position >= end:
        return {"time": 0.0}
    for low, high in pairwise(read):
        first, last = known(low.end), known(high.end)
        if first <= position < last and low.at >= now - 7200:
            return {"time": now - (low.at + (position - first) * (high.at - low.at) / (last - first))}
    return {"least": min(now - read[0].at, 7200)}


def life(number: int, samples: list[Sample]) -> int:
    lives, topic, end = 0, None, None
    for sample in samples[: number + 1]:
        new_topic = None not in (topic, sample.topic) and sample.topic != topic
        fell = end is not None and sample.end is not None and sample.end < end
        lives += new_topic or fell
        topic = sample.topic or topic
        end = end if sample.end is None else sample.end
    return lives


def carried(number: int, samples: list[Sample], log: list[int], name: str) -> int | None:
    for index in range(number, max(number - 3, -1), -1):
        value = getattr(samples[index], name)
        if value is not None:
            return value if index in log else None
    return None


def row(minute: int, inside: list[Any], news: list[Commit], judged: list[Any], commits: list[Commit]) -> dict[str, Any]:
    lags = [one for one in inside if one["lag"] is not None]
    timed = [one["time"] for one in lags if one["time"] is not None]
    least = [one["least"] for one in lags if one["least"] is not None]
    consume, produce = rate(inside, judged, "place"), rate(inside, judged, "end")
    lag_last = lags[-1]["lag"] if lags else None
    moves = [(c, before) for c in news if (before := previous(c, commits)) is not None]
    placed = [one for one in inside if one["place"] is not None]
    open_gaps = [one["at"] - one["committed_at"] for one in placed[-1:]]
    gaps = [c.at - before.at for c, before in moves] + open_gaps
    back = [fell for c, before in moves if (fell := known(before.offset) - known(c.offset)) > 0]
    return {
        "minute": minute,
        "committed_last": last(inside, "committed"),
        "log_start": last(inside, "start"),
        "log_end": last(inside, "end"),
        "lag_avg": sum(one["lag"] for one in lags) / len(lags) if lags else None,
        "lag_max": max((one["lag"] for one in lags), default=None),
        "lag_last": lag_last,
        "lag_raw_min": min((one["raw"] for one in lags), default=None),
        "lag_rc_last": last(inside, "rc"),
        "lost": max((one["lost"] for one in lags), default=None),
        "newly_lost": sum(one["new"] for one in lags) if lags else None,
        "lead_min": min((one["lead"] for one in lags), default=None),
        "time_lag_avg_ms": 1000 * sum(timed) / len(timed) if timed else None,
        "time_lag_max_ms": 1000 * max(timed) if timed else None,
        "time_lag_min_ms": 1000 * max(least) if least else None,
        "time_lag_bounded": len(timed) == len(lags),
        "commits": len(news),
        "commit_gap_max_ms": max((round(1e6 * gap) // 1000 for gap in gaps), default=None),
        "commit_gap_open_ms": max((round(1e6 * gap) // 1000 for gap in open_gaps), default=None),
        "rewinds": len(back),
        "rewind_records": sum(back),
        "consume_rate": consume,
        "produce_rate": produce,
        "eta_s": drain(lag_last, *(recent_rate(lags[-1], judged, name) for name in ("place", "end"))) if lags else None,
        "time_to_loss_s": time_to_loss(lags[-1], judged) if lags else None,
        "status": status(inside, lags, judged, len(back)),
        "samples": len(inside),
        "lag_samples": len(lags),
        "time_lag_samples": len(timed),
    }


def last(inside: list[Any], name: str) -> int | None:
    return next((one[name] for one in reversed(inside) if one[name] is not None), None)


def previous(commit: Commit, commits: list[Commit]) -> Commit | None:
    """The one that this one goes on from: not over a tombstone, nor over from another topic of this name."""
    at = next(index for index, c in enumerate(commits) if c is commit)
    before = commits[at - 1] if at else Commit(0, None)
    other_topic = None not in (before.topic, commit.topic) and before.topic != commit.topic
    return None if before.offset is None or other_topic else before


def rate(inside: list[Any], judged: list[Any], name: str) -> float | None:
    pairs = [(old, new) for old, new in pairwise(judged) if any(new is one for one in inside)]
    grown, spans = growth(pairs, name)
    return grown / spans if spans else None


def recent_rate(one: Any, judged: list[Any], name: str) -> float | None:
    """Over the 15 minutes that end with this sample, or what of them its log has: five at least."""
    log = [other for other in judged if other["life"] == one["life"] and 0 <= round(one["at"] - other["at"], 6) <= 900]
    grown, spans = growth(list(pairwise(log)), name)
    return grown / spans if round(spans, 6) >= 300 else None


def growth(pairs: list[tuple[Any, Any]], name: str) -> tuple[int, float]:
    """Between these samples: by how much it grew, and in which time."""
    grown, spans = 0, 0.0
    for old, new in pairs:
        span = new["at"] - old["at"]
        if 0 < span <= 300 and new["life"] == old["life"] and None not in (new[name], old[name]):
            grown, spans = grown + max(new[name] - old[name], 0), spans + span
    return grown, spans


def time_to_loss(one: Any, judged: list[Any]) -> float | None:
    """Sample by sample: the deletions of the last two hours, and what the group read meanwhile."""
    log = [other for other in judged if other["life"] == one["life"] and other["start"] is not None]
    log = [other for other in log if other["place"] is not None and other["at"] <= one["at"]]
    if not log or log[-1] is not one:
        return None
    rolls = [new for old, new in pairwise(log) if new["start"] > old["start"] and new["at"] >= one["at"] - 7200]
    if len(rolls) < 3:
        return None
    first, newest = rolls[0], rolls[-1]
    deleted = (newest["start"] - first["start"]) / (newest["at"] - first["at"])
    read = max(one["place"] - first["place"], 0) / max(one["at"] - first["at"], 1e-6)
    lead = max(one["place"] - one["start"], 0)
    if not lead:
        return 0.0
    return lead / (deleted - read) if deleted > read else inf


def drain(lag: int | None, consume: float | None, produce: float | None) -> float | None:
    if lag == 0:
        return 0.0
    if lag is None or consume is None or produce is None:
        return None
    return lag / (consume - produce) if consume > produce * 1.02 else inf


def status(inside: list[Any], lags: list[Any], judged: list[Any], rewinds: int) -> str:
    if any(one["lost"] for one in lags):
        return "lost"
    if any(one["stale"] for one in inside):
        return "topic_deleted"
    if lags and is_beyond_end(lags[-1], judged):
        return "beyond_end"
    if not lags:
        return "unknown"
    if lags[-1]["lag"] == 0:
        return "ok"
    if (waits := waits_since(inside[-1], judged)) >= 600 and waits >= 1.25 * usual_wait(inside[-1], judged):
        return "stopped"
    return "rewound" if rewinds else "ok"


def is_beyond_end(one: Any, judged: list[Any]) -> bool:
    """This log end is below the commit at this sample and at both before it."""
    at = next(index for index, other in enumerate(judged) if other is one)
    last = judged[max(at - 2, 0) : at + 1]
    return len(last) == 3 and all(other["lag"] is not None and other["committed"] > one["end"] for other in last)


def usual_wait(one: Any, judged: list[Any]) -> float:
    """The longest wait for a commit that began and ended in the 110 minutes before, but not with the first sample."""
    at = next(index for index, other in enumerate(judged) if other is one)
    longest = 0.0
    for end in range(1, at + 1):
        before = judged[end - 1]
        lasted = waits_since(before, judged)
        goes_on = judged[end]["lag"] and judged[end]["committed"] == before["committed"]
        began = before["at"] - lasted
        if lasted and not goes_on and began > judged[0]["at"] and began >= one["at"] - 6600:
            longest = max(longest, judged[end]["at"] - began)
    return longest


def waits_since(one: Any, judged: list[Any]) -> float:
    """For how long records have waited under the same commit, up to this sample."""
    at = next(index for index, other in enumerate(judged) if other is one)
    first = at
    while first > 0 and judged[first]["lag"] and judged[first]["committed"] == judged[first - 1]["committed"]:
        first -= 1
    return one["at"] - judged[first]["at"] if first < at else 0.0
