"""Every address in docs/api.md answers what is shown there; "…" stands for more."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

import assignors
from app.server.api.burrow.routes import burrow_routes
from app.server.api.openapi import PREFIX, ROOT
from app.server.api.routes import ENDPOINTS
from app.server.readiness import PROBES
from assignors import load_scenario
from lag.generations.recorded import Origin, RecordedGeneration, Recording
from lag.polling.verdict_changes import VerdictChanges
from tests.app import feeds
from tests.app.server.api.reports import NOW_MS, installed, report
from tests.app.server.client import Answer, request
from tests.app.views import pasts

DOCUMENT = Path(__file__).parents[2] / "docs" / "api.md"
EXAMPLE = re.compile(r"^```sh\n(curl .*?)\n```\n+```(json|text)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
SERVER, MORE = "http://127.0.0.1:8501", "…"
SCENARIO = """
schema_version: 1
name: billing
assignor: range
topics: [{name: orders, partitions: 2}]
members: [{id: m0, topics: [orders]}]
events: [{at: 30s, join: {id: m1, topics: [orders]}}]
"""


@dataclass
class Example:
    """A curl command, and what is shown as its answer."""

    command: str
    kind: str
    shown: str
    path: str = ""
    query: str = ""
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        words = iter(shlex.split(self.command.replace("\\\n", " "))[1:])
        for word in words:
            if word == "-H":
                name, _, value = next(words).partition(": ")
                self.headers[name] = value
            elif word == "-d":
                self.body = next(words).encode()
            elif word.startswith(SERVER):
                self.path, _, self.query = word.removeprefix(SERVER).partition("?")
            else:
                assert word in ("-N", "-s"), word

    def answer(self) -> Answer:
        method, until = "POST" if self.body else "GET", self.shown[-20:].strip() if "stream" in self.path else None
        return request(method, self.path, self.query, self.body, self.headers, until=until)


def examples() -> list[Example]:
    return [Example(*found) for found in EXAMPLE.findall(DOCUMENT.read_text())]


@pytest.fixture(autouse=True, scope="module")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    root = str(tmp_path_factory.mktemp("history"))
    pasts.write(root)
    made = assignors.fold(load_scenario(SCENARIO))
    timed = [replace(one, at_ms=NOW_MS - 600_000 + one.at_ms) for one in made]
    kept = [RecordedGeneration(one, one.at_ms - 3_000, one.at_ms + 40) for one in timed]
    read = report()
    feed = feeds.HandFeed(
        replace(read, snapshot=replace(read.snapshot, cluster_id=pasts.CLUSTER)),
        seen={"billing": Recording(Origin.RECORDED, kept)},
    )
    its, changes = feeds.source(demo=feed), VerdictChanges()
    changes.observe(read.health)
    with (
        pytest.MonkeyPatch.context() as patched,
        installed(replace(its, settings=its.settings.model_copy(update={"history": root}), changes={"demo": changes})),
    ):
        for module in ("app.server.readiness", "app.server.api.burrow.routes"):
            patched.setattr(f"{module}.wall_clock_ms", lambda: NOW_MS + 4_000)
        yield


def difference(found: Any, shown: Any, at: str = "") -> str | None:
    """The first place where the answer is not what is shown."""
    if isinstance(shown, dict) and isinstance(found, dict):
        shown = dict(shown)
        if shown.pop(MORE, None) is None and found.keys() != shown.keys():
            return f"{at}: the keys are {sorted(found)}"
        return next((its for key in shown if (its := difference(found.get(key), shown[key], f"{at}.{key}"))), None)
    if isinstance(shown, list) and isinstance(found, list):
        if shown[-1:] == [MORE]:
            shown, found = shown[:-1], found[: len(shown) - 1]
        if len(found) != len(shown):
            return f"{at}: there are {len(found)}"
        pairs = enumerate(zip(found, shown, strict=True))
        return next((its for n, (one, other) in pairs if (its := difference(one, other, f"{at}[{n}]"))), None)
    return None if found == shown or shown == MORE else f"{at}: it is {found!r}"


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.path)
def test_every_example_is_what_the_server_answers(example: Example) -> None:
    answer = example.answer()
    if example.kind == "text":
        assert answer.text.strip() == example.shown
    else:
        assert difference(answer.json, json.loads(example.shown)) is None


PATHS = [
    *(PREFIX + endpoint.path for endpoint in ENDPOINTS),
    *(ROOT + probe.path for probe in PROBES),
    *(route.path for route in burrow_routes() if isinstance(route, Route)),
    "/metrics",
]


@pytest.mark.parametrize("path", [path for path in PATHS if "{rest:path}" not in path])
def test_every_address_has_an_example(path: str) -> None:
    wanted = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
    assert any(wanted.fullmatch(example.path) for example in examples())


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_every_parameter_is_named(endpoint: Any) -> None:
    text = DOCUMENT.read_text()
    assert [name for name in endpoint.query.model_fields if f"`{name}`" not in text] == []
