"""What every request and every WebSocket passes before Streamlit and the routes see it."""
