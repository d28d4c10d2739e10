"""A Grafana dashboard about our own metrics: groups, topics and the health of polls."""

from collections.abc import Sequence
from typing import Any

from app.exports.alerts import COMMITTED, LOG_END
from app.exports.links import group_page
from app.exports.panels import DATASOURCE, Panel, Query, layout, override
from app.exports.promql import LABELS, MEANINGS, increase_rate, selector, series
from app.ui.verdicts import needs_attention
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY

UID = "groupscope"
SCHEMA_VERSION = 39
SHOWN = 20
"""Series in a chart of groups or topics: those with the highest values."""

CHOSEN = ("cluster", "group", "topic")
"""The variables that limit what is shown, named like the labels."""

VERDICT = "groupscope_group_verdict"
LAG, TIME_LAG = "groupscope_group_lag_records", "groupscope_group_time_lag_seconds"
DRAIN, MEMBERS = "groupscope_group_drain_seconds", "groupscope_group_members"
TIME_SERIES = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}
NEVER = {"type": "value", "options": {"Infinity": {"index": 0, "text": "never"}}}
LATEST = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value"}


def dashboard(url: str) -> dict[str, Any]:
    """The JSON model; `url` is the preset address of groupscope, to whose Group page names of groups link."""
    return {
        "uid": UID,
        "title": "Kafka consumer groups",
        "tags": ["kafka", "groupscope"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": _variables(url)},
        "panels": layout(
            {"Now": _now(), "Groups": _groups(), "Topics": _topics(), "Health of polls": _polls()},
        ),
    }


def shown(name: str, *matchers: str) -> str:
    """The metric, limited to what the variables choose."""
    chosen = [f'{label}=~"${label}"' for label in CHOSEN if label in LABELS[name]]
    return series(name, *chosen, *matchers)


def verdict_number() -> str:
    """The verdict of each group as its place in the order of urgency: 0 is most urgent."""
    found = [shown(VERDICT, f'verdict="{status}"') for status in URGENCY]
    places = [f"max by (cluster, group) ({one}) * 0 + {place}" for place, one in enumerate(found)]
    return "\nor ".join(places)


def _now() -> list[Panel]:
    attention = "|".join(status for status in URGENCY if needs_attention(status))
    groups = shown("groupscope_groups", f'verdict=~"{attention}"')
    never = f"sum({shown(DRAIN)} == bool +Inf)"
    unreadable = f"sum({shown('groupscope_cluster_up')} == bool 0)"
    return [
        _stat("Groups that need attention", MEANINGS["groupscope_groups"], f"sum({groups})", warn_from=1),
        _stat("Clusters that cannot be read", MEANINGS["groupscope_cluster_up"], unreadable, 1),
        _stat("Groups whose lag does not shrink", MEANINGS[DRAIN], never, 1),
        _stat("Known lag", MEANINGS[LAG], f"sum({shown(LAG)})"),
    ]


def _stat(title: str, description: str, expr: str, warn_from: int | None = None) -> Panel:
    steps: list[dict[str, Any]] = [{"color": "text", "value": None}]
    if warn_from is not None:
        steps.append({"color": "red", "value": warn_from})
    defaults = {"unit": "short", "thresholds": {"mode": "absolute", "steps": steps}}
    return Panel(title, description, "stat", (Query(expr),), 6, 4, defaults, options=LATEST)


def _groups() -> list[Panel]:
    return [
        _worst_groups(),
        _verdicts_over_time(),
        _groups_by_verdict(),
        _chart("Lag", LAG, "short"),
        _chart("Time lag", TIME_LAG, "s"),
        _of_groups("Time until drained", MEANINGS[DRAIN], f"{shown(DRAIN)} < +Inf", "s"),
        _of_groups(
            "Consumed records", "Records per second that groups commit", _rate(COMMITTED, "cluster, group"), "cps"
        ),
    ]


def _worst_groups() -> Panel:
    """A table with a row for each group, most urgent first; the names link to the Group page."""
    columns = {"Verdict": verdict_number(), "Lag": shown(LAG), "Time lag": shown(TIME_LAG)}
    columns |= {"Drains in": shown(DRAIN), "Members": shown(MEMBERS)}
    queries = [Query(expr, instant=True) for expr in columns.values()]
    values = {f"Value #{chr(ord('A') + at)}": title for at, title in enumerate(columns)}
    return Panel(
        "Groups",
        "Most urgent verdict first",
        "table",
        queries,
        24,
        10,
        overrides=[
            override("Verdict", mappings=_verdict_words(), custom_cellOptions={"type": "color-background"}),
            override("Time lag", unit="s"),
            override("Drains in", unit="s", mappings=[NEVER]),
            override(
                "group", links=[_link("${__data.fields.cluster:percentencode}", "${__data.fields.group:percentencode}")]
            ),
        ],
        options={"showHeader": True, "sortBy": [{"displayName": "Verdict", "desc": False}]},
        transformations=[
            {"id": "merge", "options": {}},
            {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": values}},
        ],
    )


def _verdicts_over_time() -> Panel:
    return Panel(
        "Verdicts over time",
        MEANINGS[VERDICT],
        "state-timeline",
        (Query(verdict_number(), "{{cluster}} {{group}}"),),
        16,
        10,
        {"mappings": _verdict_words(), "links": [_link_of_series()]},
        options={"mergeValues": True, "showValue": "never", "legend": {"displayMode": "list", "placement": "bottom"}},
    )


def _groups_by_verdict() -> Panel:
    colours = [
        override(status, color={"mode": "fixed", "fixedColor": look.fills.dark}, displayName=look.word)
        for status, look in VERDICTS.items()
    ]
    stacked = {"unit": "short", "custom": {"fillOpacity": 70, "lineWidth": 0, "stacking": {"mode": "normal"}}}
    expr = f"sum by (verdict) ({shown('groupscope_groups')})"
    query = Query(expr, "{{verdict}}")
    title, meaning = "Groups by verdict", MEANINGS["groupscope_groups"]
    return Panel(title, meaning, "timeseries", (query,), 8, 10, stacked, colours, TIME_SERIES)


def _verdict_words() -> list[dict[str, Any]]:
    """Value mappings from the place of a verdict to its word and colour."""
    options = {
        str(place): {"index": place, "text": VERDICTS[status].word, "color": VERDICTS[status].fills.dark}
        for place, status in enumerate(URGENCY)
    }
    return [{"type": "value", "options": options}]


def _chart(title: str, name: str, unit: str) -> Panel:
    return _of_groups(title, MEANINGS[name], shown(name), unit)


def _of_groups(title: str, description: str, expr: str, unit: str) -> Panel:
    """A line for each group, which links to its page."""
    query = Query(f"topk({SHOWN}, {expr})", "{{cluster}} {{group}}")
    return _lines(title, description, (query,), unit, links=[_link_of_series()])


def _lines(title: str, description: str, queries: Sequence[Query], unit: str, **defaults: Any) -> Panel:
    """Lines over time, with gaps where nothing is known."""
    drawn = {"unit": unit, "min": 0, "custom": {"spanNulls": False}, **defaults}
    return Panel(title, description, "timeseries", queries, 12, defaults=drawn, options=TIME_SERIES)


def _topics() -> list[Panel]:
    lag = "groupscope_group_topic_lag_records"
    by_topic = f"sum by (cluster, topic) ({shown(lag)})"
    produced = _rate(LOG_END, "cluster, topic")
    held = f"sum by (cluster, topic) ({shown(LOG_END)} - {shown('groupscope_partition_last_stable_offset')})"
    return [
        _of_topics("Lag by topic", "Sum of the known lags of all groups", by_topic, "short"),
        _of_topics("Produced records", "Records per second that the log ends advance", produced, "cps"),
        _of_topics("Held by open transactions", MEANINGS["groupscope_partition_last_stable_offset"], held, "short"),
        _of_topics(
            "Partitions", MEANINGS["groupscope_topic_partitions"], shown("groupscope_topic_partitions"), "short"
        ),
    ]


def _of_topics(title: str, description: str, expr: str, unit: str) -> Panel:
    return _lines(title, description, (Query(f"topk({SHOWN}, {expr})", "{{cluster}} {{topic}}"),), unit)


def _rate(name: str, labels: str) -> str:
    chosen = [f'{label}=~"${label}"' for label in CHOSEN if label in LABELS[name]]
    return f"sum by ({labels}) ({increase_rate(name, *chosen)})"


def _polls() -> list[Panel]:
    return [
        _of_clusters("Age of the served poll", "groupscope_poll_age_seconds", "s"),
        _of_clusters("Duration of a poll", "groupscope_poll_duration_seconds", "s"),
        _of_clusters("Failed polls", "groupscope_poll_failures", "short"),
        _of_clusters("Problems", "groupscope_problems", "short", "{{cluster}} {{scope}} {{kind}}"),
        _of_clusters("Complete polls", "groupscope_snapshot_complete", "short"),
        _of_clusters("Groups left out", "groupscope_scrape_groups_left_out", "short", "{{cluster}} {{granularity}}"),
    ]


def _of_clusters(title: str, name: str, unit: str, legend: str = "{{cluster}}") -> Panel:
    return _lines(title, MEANINGS[name], (Query(shown(name), legend),), unit)


def _link(cluster: str, group: str) -> dict[str, Any]:
    return {"title": "Open in groupscope", "url": group_page("${groupscope:raw}", cluster, group), "targetBlank": True}


def _link_of_series() -> dict[str, Any]:
    return _link("${__field.labels.cluster:percentencode}", "${__field.labels.group:percentencode}")


def _variables(url: str) -> list[dict[str, Any]]:
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    address = {"text": url, "value": url}
    page = {"name": "groupscope", "label": "groupscope", "type": "textbox", "query": url, "current": address}
    return [
        source,
        _values("cluster", "groupscope_cluster_up"),
        _values("group", "groupscope_group_partitions"),
        _values("topic", "groupscope_topic_partitions"),
        page | {"options": [{**address, "selected": True}]},
    ]


def _values(label: str, name: str) -> dict[str, Any]:
    """A variable with the values of a label, within the chosen clusters."""
    within = [] if label == "cluster" else ['cluster=~"$cluster"']
    query = f"label_values({selector(name, *within)}, {label})"
    return {
        "name": label,
        "label": label.capitalize(),
        "type": "query",
        "datasource": DATASOURCE,
        "definition": query,
        "query": {"query": query, "refId": label},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }
