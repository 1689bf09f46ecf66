"""Reasoning: rules, paths and facts that complete a graph, each answer with its reasons."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
