"""Benchmarks of `kgraft.link`."""
