"""The folder in the user's home where downloads are kept between runs."""

import os
from collections.abc import Mapping
from pathlib import Path


def cache_dir(env: Mapping[str, str] = os.environ) -> Path:
    """GROUPSCOPE_CACHE, else `groupscope` in XDG_CACHE_HOME, else in ~/.cache. Not created here."""
    if own := env.get("GROUPSCOPE_CACHE"):
        return Path(own).expanduser()
    return Path(env.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "groupscope"
