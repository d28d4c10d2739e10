"""Lag, group health and error budgets by the minute. Pure functions; `lag.pipeline` runs them on Spark."""
