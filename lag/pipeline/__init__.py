"""The parts that need Spark: backfill, streaming ingest, roll-ups and sweeps. Nothing else imports PySpark."""
