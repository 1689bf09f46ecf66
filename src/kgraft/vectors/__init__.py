"""Entities as vectors: a trained table, encoded text, both together; also for unseen entities."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
