"""One command, timed: `python -I -S timed.py COMMAND ...` says on stderr how many seconds it took and its peak in KiB.

A small process of its own because Linux counts what a process held before its exec towards its peak: a command started
by the benchmarks themselves would be charged with all that these have imported.
"""

import os
import sys
import time


def main(command: list[str]) -> int:
    """Run the command, its own stderr thrown away, and return its exit code."""
    silent = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    began = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=silent)
    _, status, usage = os.wait4(child, 0)
    print(time.monotonic() - began, usage.ru_maxrss, file=sys.stderr)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
