"""Facts as memory: what a graph knows, recalled by what a text says."""
