"""The Call lab."""
