"""What a consumer computes: the assignors of the classic protocol (`ConsumerPartitionAssignor`)."""
