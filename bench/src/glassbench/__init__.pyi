from .methods import METHODS as METHODS
from .methods import Detector as Detector
from .metrics import evaluate as evaluate
from .protocols import Split as Split
from .protocols import split as split

__version__: str
