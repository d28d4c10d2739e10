"""Whether groupscope may change a cluster: only if it was started so, and never if the cluster is marked read-only."""

from lag.errors import WritesNotAllowed


def check_writes(allowed: bool, read_only: bool) -> None:
    """Raise WritesNotAllowed unless writes are allowed."""
    if read_only:
        raise WritesNotAllowed(
            "The cluster is marked read-only (groupscope.read.only=true)",
            "Use Kafka's own tools, or remove groupscope.read.only from the client.properties file",
        )
    if not allowed:
        raise WritesNotAllowed("Writes are not allowed", "Add --allow-writes")
