"""Texts for models: encoders, windows of tokens, batches by length, masked tokens, adapters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
