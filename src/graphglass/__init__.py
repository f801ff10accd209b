"""Graph-level anomaly detection: rank any graph against a set of normal graphs, and say why."""

import lazy_loader

__version__ = "0.3.0"

# The public names and their modules are in __init__.pyi, where type checkers find them too.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
