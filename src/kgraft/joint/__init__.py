"""JAKET: a knowledge module and a language module that feed each other, pre-trained together."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
