"""Benchmarks of `kgraft.graph`."""
