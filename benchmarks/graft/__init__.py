"""Benchmarks of `kgraft.graft`."""
