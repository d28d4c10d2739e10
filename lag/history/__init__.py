"""The recorded past in Delta tables: columns, append, query, compact, retain; by delta-rs, without a JVM."""
