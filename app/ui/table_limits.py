"""How much a page sends to the browser; downloads hold all rows."""

MAX_ROWS = 5_000
MAX_SPARKLINE_ROWS = 1_000
MAX_OPTIONS = 5_000
"""Options of a select box."""
MAX_LAG_COLUMNS = 20
"""Groups whose lag is shown beside the partitions of a topic."""
