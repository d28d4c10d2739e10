"""The JSON forms that commands print and the HTTP API answers: one form for each thing, with its type."""
