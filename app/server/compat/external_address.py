"""Streamlit never asks a server on the internet for the external address of this machine.

It does so to compare an Origin that it does not know, also in the answer to an upload.

Checked against Streamlit 1.67.0 (`net_util.get_external_ip`). Unnecessary once Streamlit has an option for it.
"""

from streamlit import net_util


def never_look_up() -> None:
    """Make the external address the empty name, which no Origin has."""
    net_util._external_ip = ""
