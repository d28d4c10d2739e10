"""The pieces of the Sweeps page: the whole fleet, and one group."""
