"""A Spark standalone master and its workers on this machine's loopback address, from the jars of the pyspark package.

with Standalone(workers=2) as spark:
    spark.submit("pipeline", "stream", ...)

Every process runs under the embedded broker's supervisor: whatever happens to us, they and their folder go with us.
"""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyspark

import app.submit.groupscope as program
from lag.embedded.config import HOST
from lag.embedded.jars import spark_jars
from lag.embedded.java import find_java, spark_java_home
from lag.embedded.supervisor_client import Keeper, log_tail
from tests.support.processes import using
from tests.support.waiting import wait_until

HOME = Path(pyspark.__file__).parent
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
LISTENS, REGISTERED = "Starting Spark master at ", "Registering worker "
EXECUTOR_MB, DRIVER_MB, DAEMON_MB = 512, 768, 192
SUBMITTED_WITHIN_S = 400


class Standalone:
    """A master and workers of one core each, between `with` and its end."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def __enter__(self) -> Self:
        self._keeper = Keeper()
        try:
            self._start()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    @property
    def folder(self) -> Path:
        """Of the logs and of all that Spark writes; it goes with the processes."""
        assert self._keeper.folder is not None
        return self._keeper.folder

    def submit(self, *args: str) -> Any:
        """Run `groupscope ARGS --json` under spark-submit to its end; the document that it printed."""
        name = f"submit-{time.monotonic_ns()}"
        self._spawn(name, "spark-submit", *self._options(), program.__file__, *args, "--json")
        deadline = time.monotonic() + SUBMITTED_WITHIN_S
        while (code := self._keeper.poll(name)) is None and time.monotonic() < deadline:
            time.sleep(0.2)
        assert code == 0, "\n".join(log_tail(self._log(name), 60))
        (document,) = [line for line in self._log(name).read_text().splitlines() if line.startswith("{")]
        return json.loads(document)

    def tasks(self) -> list[Counter[str]]:
        """Of each application, in the order of its start: the tasks that each executor ended well."""
        logs = sorted(self._events.iterdir())
        return [_tasks(log.read_text().splitlines()) for log in logs]

    def left(self) -> list[int]:
        """The processes of ours that still run."""
        return [process.pid for process in using(self._temp)]

    def _start(self) -> None:
        self._temp, self._events = self.folder / "temp", self.folder / "events"
        self._temp.mkdir()
        self._events.mkdir()
        self._spawn("master", "spark-class", MASTER, "--host", HOST, "--port", "0", "--webui-port", "0")
        self._url = wait_until(lambda: self._stated("master", LISTENS), 60)[0]
        for number in range(self._workers):
            self._spawn(f"worker-{number}", "spark-class", WORKER, *self._worker(), self._url)
        wait_until(lambda: len(self._stated("master", REGISTERED)) == self._workers, 60)

    def _worker(self) -> list[str]:
        return [
            *("--host", HOST, "--port", "0", "--webui-port", "0", "--cores", "1"),
            *("--memory", f"{EXECUTOR_MB}m", "--work-dir", str(self.folder / "work")),
        ]

    def _options(self) -> list[str]:
        settings = {
            "spark.driver.host": HOST,
            "spark.driver.memory": f"{DRIVER_MB}m",
            "spark.executor.memory": f"{EXECUTOR_MB}m",
            # The workers register one after the other; the first batch is for both of them.
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.cores.max": str(self._workers),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": self._events.as_uri(),
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
            "spark.ui.enabled": "false",
        }
        reported = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
        return ["--master", self._url, "--jars", ",".join(map(str, spark_jars())), *reported]

    def _spawn(self, name: str, tool: str, *args: str) -> None:
        reported = {
            "JAVA_HOME": str(spark_java_home(find_java())),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(self._temp),
            "SPARK_DAEMON_MEMORY": f"{DAEMON_MB}m",
            "JAVA_TOOL_OPTIONS": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData "
            f"-Djava.io.tmpdir={self._temp}",
            "TMPDIR": str(self._temp),
        }
        variables = [f"{key}={value}" for key, value in reported.items()]
        self._keeper.start(name, ["env", *variables, str(HOME / "bin" / tool), *args], self._log(name))

    def _stated(self, name: str, words: str) -> list[str]:
        """What follows these words, wherever the log has them."""
        log = self._log(name)
        lines = log.read_text().splitlines() if log.exists() else []
        return [line.partition(words)[2].strip() for line in lines if words in line]

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _close(self) -> None:
        """An executor ends when its worker has; one that does not is killed."""
        self._keeper.close()
        deadline = time.monotonic() + 10
        while using(self._temp) and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in using(self._temp):
            process.kill()


def _tasks(events: list[str]) -> Counter[str]:
    reported = (json.loads(line) for line in events if '"SparkListenerTaskEnd"' in line)
    return Counter(one["Task Info"]["Executor ID"] for one in reported if one["Task End Reason"]["Reason"] == "Success")
