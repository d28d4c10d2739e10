"""What a group coordinator computes: the assignors of KIP-848 and share groups."""
