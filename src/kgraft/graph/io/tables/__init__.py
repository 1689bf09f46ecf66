"""Tables, in files or in memory: what their columns mean, and their rows as batches."""
