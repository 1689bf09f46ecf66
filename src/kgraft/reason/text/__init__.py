"""Completion by texts: what the words for an entity and a relation ask for (SimKGC)."""
