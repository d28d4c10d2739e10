"""Sweeps: a fleet of groups x assignors x numbers of members x failures, a row for each case; without Spark."""
