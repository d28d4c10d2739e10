"""Snapshots and their health as data frames and small views. Pure: pandas and NumPy, no Streamlit."""
