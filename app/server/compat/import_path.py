"""Pages leave `sys.path` as it is.

Streamlit inserts the folder of the script before each run of a page and removes it afterwards. Whoever searches
`sys.path` meanwhile, in any thread, may skip an entry: a package that is installed is not found, by an import or by
`importlib.metadata`. Our pages import by whole names, and the folder would only hide packages named like our modules.

Checked against Streamlit 1.67.0 (`modified_sys_path` in `ScriptRunner._run_script`). Unnecessary once Streamlit leaves
`sys.path` alone while pages run.
"""

from contextlib import nullcontext

from streamlit.runtime.scriptrunner import script_runner


def leave_import_path() -> None:
    """Runs of pages that begin from now on do not change `sys.path`."""
    script_runner.modified_sys_path = nullcontext  # type: ignore[attr-defined,assignment]
