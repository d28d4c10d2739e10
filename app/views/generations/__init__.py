"""The Generations page."""
