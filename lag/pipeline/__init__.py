"""What needs Spark: backfill and streaming ingest, roll-ups of a whole fleet. Nothing else imports PySpark."""
