"""A process that appends to a history: python -m tests.lag.history.writer ROOT NAME APPENDS [FILE_BYTES]

It appends APPENDS times ten rows, each row named NAME and numbered. With FILE_BYTES no file may grow further.
"""

import resource
import signal
import sys

from lag.errors import HistoryError
from lag.history.store import History
from tests.lag.history.rows import rows

ROWS = 10


def main(root: str, name: str, appends: str, file_bytes: str = "") -> None:
    """Append; a HistoryError is told on stdout."""
    if file_bytes:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(file_bytes), resource.RLIM_INFINITY))
    history = History(root)
    try:
        for number in range(int(appends)):
            made = [{"group_id": name, "src_offset": number * ROWS + row} for row in range(ROWS)]
            history.append("commits", rows("commits", *made))
    except HistoryError as error:
        sys.stdout.write(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
