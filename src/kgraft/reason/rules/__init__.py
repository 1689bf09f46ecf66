"""Horn rules: mined from a graph, applied to it, read and written."""
