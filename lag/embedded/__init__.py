"""A real Apache Kafka on this machine: Java, jars, brokers.

`lag.embedded.broker.EmbeddedKafka` is the way in. This package file imports nothing, because the supervisor process
starts through it and has to be there at once.
"""
