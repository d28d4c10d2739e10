"""Ownership over generations as pictures: stills, one step, tokens, tiles, counts and flows."""
