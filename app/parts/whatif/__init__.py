"""The pieces of the What-if page."""
