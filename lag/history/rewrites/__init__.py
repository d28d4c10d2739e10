"""Rewrites of a table's files, each in one commit: a time span, a finished day in order, days past their retention."""
