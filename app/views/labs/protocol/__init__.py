"""The Protocol lab."""
