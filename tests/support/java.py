"""Kafka's own Java classes and tools, the truth that tests compare with."""

import faulthandler
import os
import subprocess
from pathlib import Path
from typing import Any

import jpype

from lag.embedded.jars import kafka_classpath
from lag.embedded.java import find_java

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"


def start_jvm() -> None:
    """Start the JVM of this process with Kafka's classes, once."""
    if jpype.isJVMStarted():
        return
    faulthandler.disable()  # the JVM uses SIGSEGV in its normal work, and it would be reported as a crash
    jpype.startJVM(
        str(find_java().libjvm),
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:-UsePerfData",
        "-XX:TieredStopAtLevel=1",  # the second compiler takes more time than it gives back within minutes
        "--sun-misc-unsafe-memory-access=allow",  # Java 17 does not know it; the coordinator oracle needs it
        classpath=[str(jar) for jar in kafka_classpath()],
        ignoreUnrecognized=True,
        interrupt=False,
    )


def java_admin(bootstrap_servers: str) -> Any:
    """A Java `Admin` client; use it as a context manager. The JVM must run."""
    properties = jpype.JClass("java.util.Properties")()
    properties.put("bootstrap.servers", bootstrap_servers)
    return jpype.JClass("org.apache.kafka.clients.admin.Admin").create(properties)


def run_tool(main_class: str, *args: str, config: Path | None = None) -> str:
    """Run one of Kafka's command line tools in a JVM of its own (some 0.6 s); what it printed on stdout."""
    classpath = os.pathsep.join(map(str, kafka_classpath()))
    command = [str(find_java().executable), "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp", classpath, main_class]
    command += [*args, *(("--command-config", str(config)) if config else ())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
