"""One poller for each cluster and process: reads, judges, keeps and publishes snapshots."""
