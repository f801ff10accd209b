"""The benchmark: named protocols, records that can be rebuilt into tables, every method behind one contract."""

import lazy_loader

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
