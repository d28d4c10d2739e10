"""What happened in a simulation: its tables, the recorder that fills them, and what follows from them."""
