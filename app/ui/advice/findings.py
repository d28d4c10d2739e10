"""Findings of configuration advice, as several pages show them."""

import streamlit as st

from app.ui import formats
from assignors.advice import Finding, Severity

BADGES = {Severity.ERROR: ":red-badge[■ Error]", Severity.WARNING: ":orange-badge[▲ Warning]"}
SOURCES = "A source is a KIP, a class of Kafka 4.3.1 or of Java, or a general rule."


def show_finding(finding: Finding, location: str) -> None:
    """One finding; `location` says where its setting was read, for example "line 3"."""
    better = f"Better: {formats.code(finding.better)} · " if finding.better else ""
    st.markdown(
        f"{BADGES[finding.severity]} **{formats.code(finding.key)}** :small[:gray[{location}]]  \n"
        f"{formats.md(finding.reason)}  \n:small[{better}:gray[Source: {formats.md(finding.source)}]]"
    )
