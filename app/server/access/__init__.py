"""Who asks this server, and what they may see and do: hosts, logins, roles, tokens, limits."""
