"""A process that appends to a history: python -m tests.lag.history.writer ROOT NAME APPENDS [FILE_BYTES]

It appends APPENDS times ten rows, each row named NAME and numbered; "-": until its input is closed, then it says how
often. With FILE_BYTES no file may grow further.
"""

import resource
import select
import signal
import sys
from collections.abc import Iterator

from lag.errors import HistoryError
from lag.history.store import History
from tests.lag.history.rows import rows

ROWS = 10


def main(root: str, name: str, appends: str, file_bytes: str = "") -> None:
    """Append; a HistoryError is printed on stdout."""
    if file_bytes:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(file_bytes), resource.RLIM_INFINITY))
    history = History(root)
    try:
        for number in range(int(appends)) if appends != "-" else until_stopped():
            made = [{"group_id": name, "src_offset": number * ROWS + row} for row in range(ROWS)]
            history.append("commits", rows("commits", *made))
    except HistoryError as error:
        sys.stdout.write(str(error))


def until_stopped() -> Iterator[int]:
    """Numbers until standard input is closed; then how many there were, on stdout."""
    number = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        yield number
        number += 1
    sys.stdout.write(str(number))


if __name__ == "__main__":
    main(*sys.argv[1:])
