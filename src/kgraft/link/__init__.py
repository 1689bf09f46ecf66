"""Which entities a text speaks of: its mentions, their candidates, and the best of each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
