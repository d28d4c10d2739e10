"""Metrics for Prometheus: the latest snapshot of each cluster, under our own names or those of other exporters."""
