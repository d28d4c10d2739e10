"""Findings on settings, as pages and commands show them."""
