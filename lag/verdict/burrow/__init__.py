"""The statuses that Burrow gives to partitions and groups, from the same commits or from the polls of this server."""
