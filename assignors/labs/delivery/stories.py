"""The stories of the Delivery lab: a consumer, and what goes wrong. The presets are in `stories.yaml`."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, PlainSerializer

from assignors.labs.delivery.failures import run
from assignors.labs.delivery.model import (
    Failure,
    FailureKind,
    Interceptor,
    Lab,
    LabError,
    OnPoison,
    Record,
    Strategy,
)
from assignors.labs.story import NONE, Flag, Story, Whole, Wholes, joined, presets, split

MOST_RECORDS, MOST_PARTITIONS, MOST_WORKERS = 20, 4, 16
"""What fits into a picture."""

_AN_OFFSET_EACH = "an offset for each partition, such as 10, 0"


def _record(value: object) -> object:
    return value.split(":") if isinstance(value, str) else value


OneRecord = Annotated[Record, BeforeValidator(_record)]
Records = Annotated[frozenset[OneRecord], BeforeValidator(split), PlainSerializer(lambda its: joined(sorted(its)))]
Numbers = Annotated[frozenset[Whole], BeforeValidator(split), PlainSerializer(lambda its: joined(sorted(its)))]


class DeliveryStory(Story):
    """The fields of a `Lab` and of its `Failure`."""

    lab_name: ClassVar[str] = "delivery"

    strategy: Strategy
    end: Wholes = Field(description=_AN_OFFSET_EACH)
    start: Wholes = Field((), description=_AN_OFFSET_EACH)
    batch_records: Whole = 5
    every_records: Whole = 100
    auto_commit_polls: Whole = 1
    workers: Whole = 2
    commits_on_revoke: Flag = False
    interceptor: Interceptor = Interceptor.NONE
    expired: Records = Field(frozenset(), description="a list of records, such as 0:1, 0:4")
    poison: Annotated[
        OneRecord | None,
        BeforeValidator(lambda value: None if value in ("", NONE) else value),
        PlainSerializer(lambda record: str(record or NONE)),
        Field(description="a partition and an offset, such as 0:2"),
    ] = None
    on_poison: OnPoison = OnPoison.STOP
    kind: FailureKind = Field(FailureKind.NONE, alias="failure")
    step: Whole = 0
    failed_commits: Numbers = Field(frozenset(), description="a list of numbers from 0, such as 0, 2")
    outsider: Wholes = Field((), description=_AN_OFFSET_EACH)

    @property
    def lab(self) -> Lab:
        """The topic and its consumer. Raises LabError for numbers that contradict each other."""
        return Lab(**{name: getattr(self, name) for name in Lab.__dataclass_fields__})

    @property
    def failure(self) -> Failure:
        """What goes wrong, and when."""
        return Failure(**{name: getattr(self, name) for name in Failure.__dataclass_fields__})

    def changed(self, values: dict[str, Any]) -> Self:  # type: ignore[override]
        """Another number of partitions alone begins at offset 0 in each."""
        if "end" in values and "start" not in values and str(values["end"]).count(",") != len(self.lab.start) - 1:
            values = {**values, "start": ()}
        return super().changed(values)

    def check(self) -> None:
        """Raises LabError for a lab that is too large for a page, or a failure that cannot happen in it."""
        lab = self.lab
        size = sum(lab.end) - sum(lab.start)
        if not 1 <= size <= MOST_RECORDS or not 1 <= len(lab.end) <= MOST_PARTITIONS:
            raise LabError(
                f"The lab has {size:,} records and {len(lab.end)} partitions. "
                f"Use 1 to {MOST_RECORDS} records and 1 to {MOST_PARTITIONS} partitions."
            )
        if lab.workers > MOST_WORKERS:
            raise LabError(f"The lab has {lab.workers:,} workers. Use 1 to {MOST_WORKERS}.")
        for record in (*sorted(lab.expired), *([lab.poison] if lab.poison else [])):
            if (
                record.partition >= len(lab.end)
                or not lab.start[record.partition] <= record.offset < lab.end[record.partition]
            ):
                raise LabError(f"There is no record {record} between the first committed offset and the log end.")
        run(lab, self.failure)


STORIES = presets(Path(__file__).with_name("stories.yaml"), DeliveryStory)
