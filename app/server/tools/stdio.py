"""The tool server over stdin and stdout, until stdin ends. Needs the package `mcp`."""

from mcp.server.stdio import stdio_server

from app.server.tools.protocol import tool_server

FIRST_POLL_S = 30.0
"""How long the first call waits for the first poll."""


async def serve_stdio(dashboard: str | None) -> None:
    """Serve the installed source. `dashboard`: the address of the pages, None for answers without links."""
    server = tool_server(dashboard, FIRST_POLL_S)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
