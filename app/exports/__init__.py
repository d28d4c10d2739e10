"""Files for Grafana and Prometheus about our own metrics, with names and labels from the definitions of /metrics."""
