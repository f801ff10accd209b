"""Other detectors behind the same contract: fit on normal graphs, one score per graph, higher is more anomalous.

Names are loaded on first use: torch comes with the first deep method asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
