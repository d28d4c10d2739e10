"""A real Apache Kafka on this machine: Java, jars, brokers.

`lag.embedded.broker.EmbeddedKafka` is the entry point. This package file imports nothing, because the supervisor
process starts through it and has to be there at once.
"""
