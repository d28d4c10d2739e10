"""What to do about the group's verdict: commands, a what-if and a reset."""
