"""Benchmarks of linking: one file per question, data and baselines beside them."""
