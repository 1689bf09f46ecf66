"""Names in running text: folded, found, and the entities each may mean."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
