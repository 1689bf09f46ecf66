"""The one training loop and the one way to save: `fit`, `TrainingTask` and `Pretrained`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
