"""The sentences of the Topics page. Pure: tables in, Markdown out; ids stand in monospace."""

import pandas as pd

from app.ui import formats
from lag.model import Topic


def topics(frame: pd.DataFrame) -> str:
    """ "2 of 21 topics have partitions without a leader", or who is furthest behind where."""
    own = frame[~frame["internal"]]
    broken = own[own["leaderless"] > 0]
    if len(broken):
        verb = "topic has" if len(broken) == 1 else "topics have"
        name = formats.code(str(broken.iloc[0]["topic"]))
        return f"{len(broken)} of {len(own)} {verb} partitions without a leader: {name}"
    behind = own[own["worst_lag"].fillna(0) > 0].sort_values("worst_lag", ascending=False)
    if not len(own):
        return "No topic yet"
    if behind.empty:
        return f"{formats.plural(len(own), 'topic')}, and no group is behind on any"
    worst = behind.iloc[0]
    return (
        f"{formats.code(str(worst['worst_group']))} is furthest behind: {formats.count(worst['worst_lag'])} records "
        f"on {formats.code(str(worst['topic']))}"
    )


def topics_more(frame: pd.DataFrame) -> str:
    """How many are read, unread and deleted."""
    own = frame[~frame["internal"]]
    read, deleted = int((own["groups"] > 0).sum()), int((own["state"] == "○ Deleted").sum())
    gone = f", {deleted} of them deleted" if deleted else ""
    return f"{formats.plural(len(own), 'topic')}{gone}; {read} read by at least one group."


def losing(topic: str, soon: pd.DataFrame) -> str:
    """Who is about to lose records of the topic; the rows of `soon` stand in the order in which they do."""
    first, more = soon.iloc[0], len(soon) - 1
    others = f"; {formats.plural(more, 'more group')} within the hour" if more else ""
    who = formats.code(str(first["group"]))
    if first["lost"]:
        return f"{who} loses records of {topic}: Kafka deletes them before they are read{others}"
    word = "within" if pd.isna(first["left_s"]) else "in"
    when = f"{word} {formats.duration(first['within_s'])}" if first["within_s"] > 0 else "at any moment"
    return f"{who} is about to lose records of {topic}: deletion may reach its position {when}{others}"


def topic(name: str, its: Topic | None, readers: pd.DataFrame, soon: pd.DataFrame) -> str:
    """One topic's conclusion: gone, leaderless, unread, about to be deleted unread, or who is behind."""
    shown = formats.code(name)
    if its is None:
        left = f": {formats.plural(len(readers), 'group')} still keep commits for it" if len(readers) else ""
        return f"{shown} does not exist{left}"
    if its.leaderless:
        return f"{shown} has {formats.plural(len(its.leaderless), 'partition')} without a leader"
    if readers.empty:
        return f"No group reads {shown}"
    if not soon.empty:
        return losing(shown, soon)
    behind = readers[readers["lag"].fillna(0) > 0].sort_values("lag", ascending=False)
    read = f"{shown} is read by {formats.plural(len(readers), 'group')}"
    if behind.empty:
        return f"{read}, none behind"
    worst = behind.iloc[0]
    who = "it" if len(readers) == 1 else formats.code(str(worst["group"]))
    return f"{read}; {who} is {formats.plural(int(worst['lag']), 'record')} behind"
