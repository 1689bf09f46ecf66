"""Other libraries on the same tasks, to compare kgraft with."""
