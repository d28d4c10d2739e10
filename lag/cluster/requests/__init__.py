"""One kind of request a file: what is asked of a broker, and its answer as typed values."""
