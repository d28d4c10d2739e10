"""Real consumers on a real broker and simulated ones play the same stories. These tests mirror no package: they hold
`assignors.simulation` against Kafka itself, end to end."""
