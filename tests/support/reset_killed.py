"""Applies a plan partition by partition and is killed after a number of them: SIGKILL, as by the kernel.

python -m tests.support.reset_killed BOOTSTRAP PLAN PARTITIONS
"""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from assignors.model import TopicPartition
from lag.cluster.connection.connect import open_manager
from lag.cluster.connection.settings import load_settings
from lag.cluster.group_client import GroupClient
from lag.reset.access import Errors
from lag.reset.applying.apply import apply_plan
from lag.reset.files.plan_file import load_plan
from lag.reset.files.undo_files import UndoFiles
from lag.reset.model import Commit
from tests.support.reset_cluster import now_ms


class KilledClient(GroupClient):
    """Ends its process before it commits one more than `left` times."""

    left = 0

    def commit(self, group_id: str, offsets: Mapping[TopicPartition, Commit]) -> Errors:
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        return super().commit(group_id, offsets)


def main(bootstrap_servers: str, plan: str, partitions: str) -> None:
    client = KilledClient(open_manager(load_settings(bootstrap_servers, None, {})), 30.0)
    client.left = int(partitions)
    apply_plan(load_plan(Path(plan)), client, UndoFiles(Path(plan), Path(plan).parent), now_ms, batch=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
