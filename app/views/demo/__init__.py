"""The Demo page."""
