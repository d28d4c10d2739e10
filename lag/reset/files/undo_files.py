"""Where an undo plan is stored: a new file beside the plan, and its offsets as the CSV of `kafka-consumer-groups`.

And the lock of a group: of all plans that are applied with the same undo folder, one at a time changes the group.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path

from lag.errors import ConfigError, ResetRefused
from lag.locked_file import locked_file
from lag.reset.files.offsets_csv import offsets_csv
from lag.reset.files.plan_document import plan_text
from lag.reset.files.plan_file import YAML_ENDINGS, write_new
from lag.reset.model import Plan

VARIABLE = "GROUPSCOPE_UNDO_FOLDER"
LOCK_WAIT_S = 60.0


def undo_folder(env: Mapping[str, str]) -> Path:
    """GROUPSCOPE_UNDO_FOLDER, else `groupscope/undo` in the user's state folder. Not created here.

    Raises ConfigError if the user has no home.
    """
    if own := env.get(VARIABLE):
        return Path(own)
    try:
        return Path(env.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "groupscope" / "undo"
    except RuntimeError:
        raise ConfigError("This user has no home folder", f"Name a folder in {VARIABLE}") from None


def make_undo_folder(folder: Path) -> Path:
    """The folder, which only its owner can read. Raises ConfigError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be created: {error.strerror}", f"Set {VARIABLE}") from None
    return folder


class UndoFiles:
    """`store` writes PLAN.undo.json (or .yaml) and PLAN.undo.csv, with a number if these exist.

    `plan` and `csv` are the files once they are written; there is no CSV if no offset is to be set. `folder` has the
    locks of groups.
    """

    def __init__(self, plan_file: Path, folder: Path) -> None:
        self._plan_file, self._folder = plan_file, folder
        self.plan: Path | None = None
        self.csv: Path | None = None

    @contextmanager
    def lock(self, group_id: str, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
        """Nothing else that has the folder changes the group meanwhile. Waits for what does so now.

        Raises ResetRefused if that takes longer than `wait_s`, ConfigError if the folder cannot be written to.
        """
        name = sha256(group_id.encode(errors="surrogatepass")).hexdigest()[:32]
        file = make_undo_folder(self._folder) / f".{name}.lock"
        with ExitStack() as held:
            try:
                held.enter_context(locked_file(file, os.O_RDWR | os.O_CREAT, wait_s))
            except TimeoutError:
                raise ResetRefused(
                    f"Another plan for group {group_id} is being applied on this machine", "Wait until it has ended"
                ) from None
            except OSError as error:
                raise ConfigError(f"{file} cannot be locked: {error.strerror}", f"Set {VARIABLE}") from None
            held.callback(file.unlink, missing_ok=True)  # while it is locked: who waits for it makes a new one
            yield

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
