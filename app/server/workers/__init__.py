"""Computations that can take long: in warm processes apart from the one that polls, each with a deadline."""
