"""What a starting process continues from: the last verdicts, and how far the stream and the roll-up have come."""
