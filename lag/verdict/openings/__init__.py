"""A verdict over time: it opens, holds and closes as the policy says."""
