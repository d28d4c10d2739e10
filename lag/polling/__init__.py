"""One poller for each cluster and process: reads snapshots, computes verdicts and publishes reports."""
