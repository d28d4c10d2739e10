"""`python -m lag.pipeline --bootstrap-server H:P --history PATH`: the pipeline of the demo, in its own process.

It writes its temporary files to the working folder and runs until it is killed. An error that ends it is the last line
on standard error.
"""

import argparse
import os
import sys
import tempfile

from lag.cluster.connection.settings import load_settings
from lag.errors import GroupscopeError
from lag.history.store import History

NICE = 10
"""Lower priority than the broker, the workload and the dashboard, which people watch."""


def main() -> None:
    """Record until killed; exit code 1 on an error."""
    os.nice(NICE)
    parser = argparse.ArgumentParser(prog="python -m lag.pipeline", description=__doc__)
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT")
    parser.add_argument("--history", required=True, metavar="PATH")
    arguments = parser.parse_args()
    tempfile.tempdir = os.getcwd()  # files that a killed Spark leaves are deleted with the folder
    try:
        from lag.pipeline.combined import record  # raises ConfigError without PySpark

        record(load_settings(arguments.bootstrap_server, None, {}), History(arguments.history))
    except GroupscopeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
