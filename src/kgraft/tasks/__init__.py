"""What a model is fine-tuned and measured on; each with knowledge on, off, and the difference."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
