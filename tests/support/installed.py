"""A package with assignors of its own, installed: a dist-info with entry points in a folder where Python looks."""

from dataclasses import dataclass
from pathlib import Path

from assignors.registry import ENTRY_POINT_GROUP

MODULE = '''\
"""Assignors that report in which process they ran, and then go wrong, each in its own way."""

import os
import time
from pathlib import Path

from assignors.model import Assignment, TopicPartition


def ran():
    with Path(__file__).with_name("ran").open("a") as processes:
        print(os.getpid(), file=processes)


ran()


class First:
    """Everything to the first member, whether it subscribes or not."""

    name = "first"

    def assign(self, group):
        ran()
        everything = [TopicPartition(its.name, at) for its in group.topics.values() for at in range(its.partitions)]
        first, *others = [member.member_id for member in group.members]
        return Assignment(None, {first: everything, **{other: [] for other in others}})


class Hangs(First):
    name = "hangs"

    def assign(self, group):
        time.sleep(600)


class Dies(First):
    name = "dies"

    def assign(self, group):
        os._exit(3)


class Quits(First):
    name = "quits"

    def assign(self, group):
        os._exit(0)


class Hoards(First):
    name = "hoards"

    def assign(self, group):
        import numpy

        kept = [numpy.ones(25_000_000) for _ in range(40)]  # 200 MB each
        return Assignment(None, {"kept": kept})


class Modest(First):
    name = "modest"

    def assign(self, group):
        import numpy

        assert (numpy.ones((1000, 1000)) @ numpy.ones((1000, 1000))).sum() == 1e9
        return super().assign(group)


class Rants(First):
    name = "rants"

    def assign(self, group):
        print("word " * 1_000_000)
        raise ValueError("no" * 10_000_000)


class Spills(First):
    name = "spills"

    def assign(self, group):
        while True:
            for file in range(3, 20):
                try:
                    os.write(file, b"x" * 100_000)
                except OSError:
                    pass


class Strange(str):
    """A text of a class that only this module has."""


class Wraps(First):
    """A sound plan, under ids that are objects of ours."""

    name = "wraps"

    def assign(self, group):
        return Assignment(None, {Strange(who): part for who, part in super().assign(group).by_member.items()})


class Unready(First):
    def __init__(self):
        raise ValueError("no settings")
'''


@dataclass(frozen=True)
class Yours:
    """The folder of the package `yours`."""

    folder: Path

    @property
    def processes(self) -> set[int]:
        """The ids of those that imported it or planned with it."""
        reported = self.folder / "ran"
        return {int(line) for line in reported.read_text().splitlines()} if reported.exists() else set()


def install(folder: Path, *names: str) -> Yours:
    """Write the package into a folder; each name is an entry point of the class that is spelt so."""
    info = folder / "yours-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: yours\nVersion: 1.0\n")
    points = "".join(f"{name} = yours:{name.title()}\n" for name in names)
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{points}")
    (folder / "yours.py").write_text(MODULE)
    return Yours(folder)
