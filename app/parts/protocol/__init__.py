"""The pieces of the Protocol lab."""
