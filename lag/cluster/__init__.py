"""The only place that talks to a user's cluster."""
