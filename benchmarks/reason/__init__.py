"""Benchmarks of `kgraft.reason`."""
