"""The GLASS paper: prompts, text encoders, and the graph encoder that is trained against them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
