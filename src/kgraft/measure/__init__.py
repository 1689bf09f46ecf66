"""How good it is: ranking of answers, calibration of probabilities, differences in pairs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
