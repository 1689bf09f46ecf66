"""Graph embeddings: vectors of entities and relations, learnt from the triples alone."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
