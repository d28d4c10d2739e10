"""Where an undo plan is stored: a new file beside the plan, and its offsets as the CSV of `kafka-consumer-groups`."""

from pathlib import Path

from lag.reset.files.offsets_csv import offsets_csv
from lag.reset.files.plan_document import plan_text
from lag.reset.files.plan_file import YAML_ENDINGS, write_new
from lag.reset.model import Plan


class UndoFiles:
    """`store` writes PLAN.undo.json (or .yaml) and PLAN.undo.csv, with a number if these exist.

    `plan` and `csv` are the files once they are written; there is no CSV if no offset is to be set.
    """

    def __init__(self, plan_file: Path) -> None:
        self._plan_file = plan_file
        self.plan: Path | None = None
        self.csv: Path | None = None

    def store(self, undo: Plan) -> None:
        """Store the undo plan durably. Raises ConfigError."""
        base = self._free()
        suffix = self._plan_file.suffix if self._plan_file.suffix in (".json", *YAML_ENDINGS) else ".json"
        plan = base.with_name(f"{base.name}{suffix}")
        write_new(plan, plan_text(undo, suffix in YAML_ENDINGS))
        self.plan = plan
        if lines := offsets_csv(undo.partitions):
            csv = base.with_name(f"{base.name}.csv")
            write_new(csv, lines)
            self.csv = csv

    def _free(self) -> Path:
        """The name without its ending: PLAN.undo, PLAN.undo-2 and so on."""
        number = 1
        while True:
            base = self._plan_file.with_name(f"{self._plan_file.stem}.undo{'' if number == 1 else f'-{number}'}")
            if not any(base.with_name(f"{base.name}{end}").exists() for end in (".json", ".csv", *YAML_ENDINGS)):
                return base
            number += 1
