"""Benchmarks of `kgraft.embed`."""
