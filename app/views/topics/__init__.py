"""The Topics page."""
