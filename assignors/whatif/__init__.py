"""From a scenario to its generations: events, moves, quality, time to drain."""
