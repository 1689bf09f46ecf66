"""Benchmarks of `kgraft.text`."""
