"""What a request has computed by a worker (`app.server.workers`): a few at a time, each with a deadline."""
