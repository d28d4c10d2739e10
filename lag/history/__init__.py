"""What was, in Delta tables: columns, append, query, compact, retain; through delta-rs, without a JVM."""
