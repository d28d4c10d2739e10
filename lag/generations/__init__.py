"""From a live group to its generations: recorded in `__consumer_offsets`, or inferred from polls."""
