"""Tools for agents (Model Context Protocol): read-only questions, answered in the forms of the HTTP API."""
