"""KnowBERT: knowledge attention, plugged into any encoder between two of its layers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
