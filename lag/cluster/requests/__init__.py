"""One kind of request per file: what is asked of a broker, and its answer as typed values."""
