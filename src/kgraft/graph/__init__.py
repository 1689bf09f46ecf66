"""Knowledge graphs on disk: imported, opened, looked up, sampled, found in text, changed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
