"""Processes beside the server, for work that must not slow, block or end it."""
