"""The lag of the group: by partition, and over time with its rebalances and verdicts."""
