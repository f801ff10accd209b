"""The estimator people import, and what it is made of."""

from graphglass.detector.estimator import GLASS
from graphglass.detector.explanation import Explanation

__all__ = ["GLASS", "Explanation"]
