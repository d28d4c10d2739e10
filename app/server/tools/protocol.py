"""The tools as a server of the Model Context Protocol. Needs the package `mcp`."""

import json
import logging
import time
from functools import partial
from http import HTTPStatus
from typing import Any

from anyio import sleep
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ToolDescription

from app.server import source
from app.server.api.dispatch import encoded, in_thread
from app.server.api.endpoint import Call
from app.server.api.problem import ApiError
from app.server.tools.catalog import BY_NAME, TOOLS
from app.server.tools.tool import Answered, Tool
from assignors.spelling import shown, suggestion
from lag.version import VERSION

log = logging.getLogger(__name__)

MOST_ANSWER_BYTES = 1_000_000
"""More is of no use to a model."""

READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
INSTRUCTIONS = (
    "groupscope reads Kafka consumer groups and changes nothing. Start with list_groups, then why. Times are in ms "
    "since 1970, lag is in records; what is unknown is null. An answer is {page, notes, result}."
)
LOOK_EVERY_S = 0.05


def tool_server(dashboard: str | None, first_poll_s: float = 0.0) -> Server[Any]:
    """The server of the tools. `dashboard`: the address of the pages, None for answers without links.

    A call waits up to `first_poll_s` for the first poll of its cluster.
    """

    async def list_tools(_context: Any, _page: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_description(tool) for tool in TOOLS])

    async def call_tool(_context: Any, asked: CallToolRequestParams) -> CallToolResult:
        tool = _tool(asked.name)
        try:
            call = tool.call(source.current(), asked.arguments or {})
            await _first_poll(call, first_poll_s)
            return await in_thread(partial(_answer, tool, call, dashboard), for_worker=tool.needs_worker)
        except ApiError as error:
            return _result(error.document(), is_error=True)
        except Exception:  # a bug: the client gets no traceback
            log.exception("tool %s: internal error", tool.name)
            bug = ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error. See the server's log.")
            return _result(bug.document(), is_error=True)

    return Server(
        "groupscope",
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _description(tool: Tool[Any]) -> ToolDescription:
    return ToolDescription(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=READ_ONLY,
    )


def _tool(name: str) -> Tool[Any]:
    if name in BY_NAME:
        return BY_NAME[name]
    raise MCPError(INVALID_PARAMS, f"There is no tool {shown(name)!r}.{suggestion(name, BY_NAME)}")


async def _first_poll(call: Call[Any], timeout_s: float) -> None:
    """Wait until the cluster was polled, or could not be, or the time is over."""
    feed, ends_s = call.source.feeds.get(call.path.get("cluster", "")), time.monotonic() + timeout_s
    while feed and feed.latest() is None and feed.status().error is None and time.monotonic() < ends_s:
        await sleep(LOOK_EVERY_S)


def _answer(tool: Tool[Any], call: Call[Any], dashboard: str | None) -> CallToolResult:
    try:
        answered: Answered = tool.respond(call)
    except ApiError as error:
        raise tool.in_terms_of_arguments(error, call) from None
    data = answered.document if isinstance(answered.document, bytes) else encoded(answered.document)
    if len(data) > MOST_ANSWER_BYTES:
        message = (
            f"The answer has {len(data):,} bytes, more than {MOST_ANSWER_BYTES:,}. Ask for less, or use the HTTP API."
        )
        raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
    page, notes = tool.address(dashboard, call), list(answered.notes)
    return _result({"page": page, "notes": notes, "result": json.loads(data)})


def _result(document: Any, is_error: bool = False) -> CallToolResult:
    """The document, also as text for clients that know no structured content. Only Unicode: the package needs it."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()
    return CallToolResult(content=[TextContent(text=text)], structured_content=json.loads(text), is_error=is_error)
