"""From offsets over time to a verdict for each partition and group."""
