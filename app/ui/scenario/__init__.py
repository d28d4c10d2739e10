"""Scenarios that several pages show: drafts, links and outcomes."""
