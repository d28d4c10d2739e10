"""Sweeps: a fleet of groups x assignors x member counts x failures, a row for each case; without Spark."""
