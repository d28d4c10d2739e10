"""`python -m lag.pipeline --bootstrap-server H:P --history PATH`: the pipeline of the demo, a process of its own.

It runs in the folder that it may fill, until it is killed. What ends it before is the last line on standard error.
"""

import argparse
import os
import sys
import tempfile

from lag.cluster.settings import load_settings
from lag.errors import GroupscopeError
from lag.history.store import History

NICE = 10
"""Broker, workload and dashboard come first: people watch them."""


def main() -> None:
    """Record until killed; exit code 1 when that cannot be."""
    os.nice(NICE)
    parser = argparse.ArgumentParser(prog="python -m lag.pipeline", description=__doc__)
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT")
    parser.add_argument("--history", required=True, metavar="PATH")
    arguments = parser.parse_args()
    tempfile.tempdir = os.getcwd()  # what Spark leaves when it is killed goes with the folder
    try:
        from lag.pipeline.combined import record  # needs PySpark, and says so

        record(load_settings(arguments.bootstrap_server, None, {}), History(arguments.history))
    except GroupscopeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
