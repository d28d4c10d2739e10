"""What a process that starts goes on from: the last verdicts, and how far the stream and the roll-up have come."""
