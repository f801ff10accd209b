"""What a graph is, and how graphs come in."""
