"""A scrape: the latest snapshot of each cluster as the text that Prometheus reads."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from app.metrics.burrow import BURROW
from app.metrics.family import NameSet
from app.metrics.kafka_exporter import KAFKA_EXPORTER
from app.metrics.kminion import KMINION
from app.metrics.labels import Labels, cluster_labels
from app.metrics.lag_exporter import LAG_EXPORTER
from app.metrics.options import InvalidOption, Options
from app.metrics.own import OWN
from app.metrics.selection import Selection, select
from app.metrics.text_format import TextFormat, lines, pairs
from app.metrics.view import Polled, View

SETS: Mapping[str, NameSet] = {
    "own": OWN,
    "kminion": KMINION,
    "lag-exporter": LAG_EXPORTER,
    "kafka-exporter": KAFKA_EXPORTER,
    "burrow": BURROW,
}

GROUPS_LEFT_OUT = "groupscope_scrape_groups_left_out"
TOPICS_LEFT_OUT = "groupscope_scrape_topics_left_out"
LEFT_OUT = {
    GROUPS_LEFT_OUT: "Groups whose series of this granularity are left out by the limit of series",
    TOPICS_LEFT_OUT: "Topics whose series of this granularity are left out by the limit of series",
}
LEFT_OUT_LABELS = "cluster, granularity"


def scrape(polled: Sequence[Polled], options: Options, form: TextFormat) -> Iterator[str]:
    """The text in parts, the lines of a family and a cluster each. Raises InvalidOption for an unknown cluster.

    Each cluster gets an equal share of `options.max_series`.
    """
    chosen = _chosen(polled, options)
    sets = [SETS[name] for name in options.names]
    families = Counter(family.level for name_set in sets for family in name_set.families)
    limit = options.max_series // max(1, len(chosen))
    views = [
        View(cluster, cluster.report, select(cluster.report.snapshot, options, families, limit))
        for cluster in chosen
        if cluster.report is not None
    ]
    parts = (_set(name_set, chosen, views, form) for name_set in sets)
    return chain(_left_out(views, options, form), chain.from_iterable(parts), [form.end])


def _chosen(polled: Sequence[Polled], options: Options) -> list[Polled]:
    names = [cluster.name for cluster in polled]
    for name in options.clusters or ():
        if name not in names:
            raise InvalidOption("cluster", f"unknown; choose from {', '.join(names)}")
    return [cluster for cluster in polled if options.clusters is None or cluster.name in options.clusters]


def _set(name_set: NameSet, polled: Sequence[Polled], views: Sequence[View], form: TextFormat) -> Iterator[str]:
    """The families of one set; those of clusters without a report only as far as they are about polling."""
    labels = {c.name: cluster_labels(name_set.labels, c.name, len(polled) > 1) for c in polled}
    for about_polling in name_set.polling:
        texts = ("".join(lines(about_polling.name, about_polling.samples(c, labels[c.name]))) for c in polled)
        yield from _with_head(texts, form.head(about_polling.name, about_polling.kind, about_polling.meaning))
    of_views = [(view, Labels(name_set.labels, labels[view.polled.name], view)) for view in views]
    for family in name_set.families:
        texts = ("".join(lines(family.name, family.samples(*each))) for each in of_views)
        yield from _with_head(texts, form.head(family.name, family.kind, family.meaning))


def _with_head(texts: Iterator[str], head: str) -> Iterator[str]:
    """The head and the texts; nothing if all of them are empty."""
    for text in texts:
        if text:
            yield head + text
            head = ""


def _left_out(views: Sequence[View], options: Options, form: TextFormat) -> Iterator[str]:
    """What the limit leaves out, as metrics and, where the format has them, as comments."""
    for name, meaning in LEFT_OUT.items():
        counts = [(view.polled.name, *each) for view in views for each in _counts(view.selection, name)]
        yield from (form.comment(_sentence(name, *each, options.max_series)) for each in counts if each[-1])
        samples = ((pairs([("cluster", cluster), ("granularity", by)]), str(count)) for cluster, by, count in counts)
        yield from _with_head(lines(name, samples), form.head(name, "gauge", meaning))


def _sentence(name: str, cluster: str, granularity: str, count: int, limit: int) -> str:
    what = name.removeprefix("groupscope_scrape_").removesuffix("_left_out")
    return f"The limit of {limit:,} series leaves out the series by {granularity} of {count:,} {what} of {cluster!r}"


def _counts(selection: Selection, name: str) -> Iterator[tuple[str, int]]:
    parts = selection.groups if name == GROUPS_LEFT_OUT else selection.topics
    return ((granularity, part.left_out) for granularity, part in parts.items())
