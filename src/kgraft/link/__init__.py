"""Which entities a text speaks of: its mentions, their candidates, and the best of each."""

from kgraft.link.linker import Link, Linker, Scored

__all__ = ["Link", "Linker", "Scored"]
