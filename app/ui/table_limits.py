"""How many rows a page sends to the browser; downloads hold all of them."""

MOST_ROWS = 5_000
SPARKLINE_ROWS = 1_000
MOST_OPTIONS = 5_000
"""Names in a picker."""
MOST_GROUPS = 20
"""Groups whose lag stands beside the partitions of a topic."""
