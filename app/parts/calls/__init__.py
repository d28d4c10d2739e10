"""The pieces of the Call lab."""
