"""Every tool in docs/tools.md answers what is shown there; "…" stands for more."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.server.tools.catalog import TOOLS
from tests.app.server.api.reports import installed
from tests.app.server.tools import hand_made
from tests.app.server.tools.clients import calls, document, over_http
from tests.docs.test_api import difference

DOCUMENT = (Path(__file__).parents[2] / "docs" / "tools.md").read_text()
EXAMPLE = re.compile(r"^```json\n(\{\"name\".*?)\n```\n+```json\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [(json.loads(call), json.loads(answer)) for call, answer in EXAMPLE.findall(DOCUMENT)]


@pytest.fixture(autouse=True, scope="module")
def _served() -> Iterator[None]:
    with installed(hand_made.source()):
        yield


@pytest.mark.parametrize(("call", "shown"), EXAMPLES, ids=[call["name"] for call, _ in EXAMPLES])
def test_every_example_is_what_the_tool_answers(call: Any, shown: Any) -> None:
    (answer,) = over_http(calls((call["name"], call["arguments"])))
    assert difference(document(answer), shown) is None


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_an_example_and_its_arguments_are_named(tool: Any) -> None:
    assert tool.name in [call["name"] for call, shown in EXAMPLES if "result" in shown]
    assert [name for name in tool.arguments.model_fields if f"`{name}`" not in DOCUMENT] == []
