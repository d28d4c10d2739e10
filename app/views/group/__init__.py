"""The Group page."""
