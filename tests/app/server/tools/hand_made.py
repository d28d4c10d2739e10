"""The tool server on hand-made clusters: `python -m tests.app.server.tools.hand_made [DASHBOARD]` over stdio."""

import sys
from dataclasses import replace

import anyio

from app.server.settings import Settings
from app.server.source import Source
from app.server.tools.stdio import serve_stdio
from assignors import fold, load_scenario
from lag.generations.recorded import Origin, RecordedGeneration, Recording
from tests.app import feeds
from tests.app.server.api.reports import NOW_MS, installed, report

SCENARIO = """
schema_version: 1
name: billing
assignor: range
topics: [{name: orders, partitions: 2}]
members: [{id: m0, topics: [orders]}]
events: [{at: 30s, join: {id: m1, topics: [orders]}}]
"""


def generations() -> list[RecordedGeneration]:
    """Two generations of `billing`; the second began 3 s before it was written."""
    made = [replace(one, at_ms=NOW_MS - 600_000 + one.at_ms) for one in fold(load_scenario(SCENARIO))]
    return [RecordedGeneration(one, one.at_ms - 3_000, one.at_ms + 40) for one in made]


def source() -> Source:
    """One cluster, with the tool server switched on."""
    feed = feeds.HandFeed(report(), seen={"billing": Recording(Origin.RECORDED, generations())})
    return replace(feeds.source(demo=feed), settings=Settings(mcp=True))


if __name__ == "__main__":
    with installed(source()):
        anyio.run(serve_stdio, sys.argv[1] if len(sys.argv) > 1 else None)
