"""The only place that talks to a cluster of the user's."""
