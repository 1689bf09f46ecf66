"""Benchmarks of `kgraft.joint`."""
