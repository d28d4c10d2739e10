"""Findings of configuration advice, as several pages show them."""

import streamlit as st

from app.ui import formats
from assignors.advice import Finding, Severity

BADGES = {Severity.ERROR: ":red-badge[■ Error]", Severity.WARNING: ":orange-badge[▲ Warning]"}
SOURCES = "Sources are classes of Kafka 4.3.1, and KIPs."


def finding(its: Finding, where: str) -> None:
    """One finding; `where` says where its setting stands."""
    better = f"Better: {formats.code(its.better)} · " if its.better else ""
    st.markdown(
        f"{BADGES[its.severity]} **{formats.code(its.key)}** :small[:gray[{where}]]  \n"
        f"{formats.md(its.reason)}  \n:small[{better}:gray[Source: {formats.md(its.source)}]]"
    )
