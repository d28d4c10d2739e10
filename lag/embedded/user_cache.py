"""The folder in the user's home where downloads are kept between runs."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def cache_dir(env: Mapping[str, str] = os.environ) -> Path:
    """GROUPSCOPE_CACHE, else `groupscope` in XDG_CACHE_HOME, else in ~/.cache. Not created here."""
    if own := env.get("GROUPSCOPE_CACHE"):
        return Path(own).expanduser()
    return Path(env.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "groupscope"


def write_whole(path: Path, data: bytes, mode: int = 0o600) -> Path:
    """Write the file in such a way that other processes see all of it or nothing; returns `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(mode)
        return temporary.replace(path)
    except OSError:
        temporary.unlink()
        raise
