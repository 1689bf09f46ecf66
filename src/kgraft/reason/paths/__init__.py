"""Reasoning by paths: Bellman-Ford over relations, on any graph."""
