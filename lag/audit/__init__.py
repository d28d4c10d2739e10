"""Who did what, when and from where, with its result."""
