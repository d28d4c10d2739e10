"""The sentences of the Topics page, as Markdown."""

from collections.abc import Mapping

import pandas as pd

from app.ui import formats, verdicts
from app.ui.charts import limits
from app.views.topics.tables import Reader
from lag.model import FOREVER, Topic


def all_topics(frame: pd.DataFrame) -> str:
    """ "2 of 21 topics have partitions without a leader", or the group that is furthest behind."""
    own = frame[~frame["internal"]]
    broken = own[own["leaderless"] > 0]
    if len(broken):
        verb = "topic has" if len(broken) == 1 else "topics have"
        name = formats.code(str(broken.iloc[0]["topic"]))
        return f"{len(broken)} of {len(own)} {verb} partitions without a leader: {name}"
    behind = own[own["worst_lag"].fillna(0) > 0].sort_values("worst_lag", ascending=False)
    if not len(own):
        return "No topics"
    if behind.empty:
        return f"{formats.plural(len(own), 'topic')}{_none_behind(own)}"
    worst = behind.iloc[0]
    return (
        f"{formats.code(str(worst['worst_group']))} is furthest behind: {formats.count(worst['worst_lag'])} records "
        f"on {formats.code(str(worst['topic']))}"
    )


def _none_behind(topics: pd.DataFrame) -> str:
    """ ", no group is behind"; or the most urgent group whose lag is unknown, with its verdict."""
    unknown = topics[(topics["groups"] > 0) & topics["urgent_lag"].isna()]
    if unknown.empty:
        return ", no group is behind"
    first = unknown.iloc[0]
    who, where = formats.code(str(first["urgent_group"])), formats.code(str(first["topic"]))
    return f"; the lag of {who} on {where} is unknown: {_word(first['urgent_status'])}"


def _word(label: str) -> str:
    """A verdict without its symbol."""
    return label.partition(" ")[2]


def counts(frame: pd.DataFrame) -> str:
    """The number of topics, deleted topics, and topics with groups."""
    own = frame[~frame["internal"]]
    read, deleted = int((own["groups"] > 0).sum()), int((own["state"] == "○ Deleted").sum())
    gone = f", {deleted} of them deleted" if deleted else ""
    return f"{formats.plural(len(own), 'topic')}{gone}; {read} with at least one group."


def map_limit(topics: int, groups: int) -> str:
    """Why there is no map of these topics and groups."""
    return (
        f"The map shows at most {limits.READER_TOPICS} topics and {limits.READER_GROUPS} groups, but there are "
        f"{formats.plural(topics, 'topic')} and {formats.plural(groups, 'group')}. Filter the topics to see the map."
    )


def map_alt(topics: int, groups: Mapping[str, Mapping[str, Reader]]) -> str:
    """The finding of the map: which of its groups need attention."""
    statuses = {name: next(iter(its.values())).status for name, its in groups.items()}
    urgent = [name for name, status in statuses.items() if verdicts.needs_attention(status)]
    found = f"{len(urgent)} need attention: {formats.few(urgent, 3)}" if urgent else "none needs attention"
    return f"{formats.plural(len(groups), 'group')} read {formats.plural(topics, 'topic')}; {found}"


def losing(topic: str, soon: pd.DataFrame) -> str:
    """The group that is about to lose records of the topic: the first of `soon`."""
    first, more = soon.iloc[0], len(soon) - 1
    others = f"; {formats.plural(more, 'more group')} within the hour" if more else ""
    who = formats.code(str(first["group"]))
    if pd.notna(first["lost"]) and first["lost"]:
        return f"{who} is losing records of {topic}: Kafka deletes them unread{others}"
    word = "within" if pd.isna(first["left_s"]) else "in"
    when = f"{word} {formats.duration(first['within_s'])}" if first["within_s"] > 0 else "at any time"
    return f"{who} is about to lose records of {topic}: retention may delete unread ones {when}{others}"


def one_topic(name: str, topic: Topic | None, readers: pd.DataFrame, soon: pd.DataFrame) -> str:
    """The headline of one topic: deleted, leaderless, without groups, about to lose records, or who is behind."""
    shown = formats.code(name)
    if topic is None:
        has = "has" if len(readers) == 1 else "have"
        left = f", but {formats.plural(len(readers), 'group')} {has} committed offsets for it" if len(readers) else ""
        return f"{shown} does not exist{left}"
    if topic.leaderless:
        return f"{shown} has {formats.plural(len(topic.leaderless), 'partition')} without a leader"
    if readers.empty:
        return f"No group reads {shown}"
    if not soon.empty:
        return losing(shown, soon)
    behind = readers[readers["lag"].fillna(0) > 0].sort_values("lag", ascending=False)
    read = f"{shown} is read by {formats.plural(len(readers), 'group')}"
    if behind.empty:
        return f"{read}{_not_behind(readers)}"
    worst = behind.iloc[0]
    who = "it" if len(readers) == 1 else formats.code(str(worst["group"]))
    return f"{read}; {who} is {formats.plural(int(worst['lag']), 'record')} behind"


def _not_behind(readers: pd.DataFrame) -> str:
    """ ", none behind"; or the first group whose lag is unknown, with its verdict."""
    unknown = readers[readers["lag"].isna()]
    if unknown.empty:
        return ", none behind"
    first = unknown.iloc[0]
    whose = "its lag" if len(readers) == 1 else f"the lag of {formats.code(str(first['group']))}"
    return f"; {whose} is unknown: {_word(first['verdict'])}"


def facts(frame: pd.DataFrame, name: str, topic: Topic | None) -> str:
    """The line of numbers under the headline."""
    row = frame[frame["topic"] == name].iloc[0]
    known = pd.notna(row["records"])
    parts = [
        formats.plural(topic.partitions, "partition") if topic else "deleted",
        f"{formats.plural(int(row['records']), 'record')} in the log" if known else "log size unknown",
        f"{formats.rate(row['produce'])} records/s produced" if pd.notna(row["produce"]) else _no_rate(row),
        _retention(topic) if topic else "",
        f"{len(topic.leaderless)} without a leader" if topic and topic.leaderless else "",
    ]
    return formats.joined(*parts)


def _no_rate(row: pd.Series) -> str:
    return f"produce rate unknown: {row['produce_why']}" if row["produce_why"] else "produce rate unknown"


def _retention(topic: Topic) -> str:
    if topic.retention_ms is None:
        return "retention unknown"
    if topic.retention_ms == FOREVER:
        return "no time-based retention"
    return f"retention {formats.duration(topic.retention_ms / 1000)}"
