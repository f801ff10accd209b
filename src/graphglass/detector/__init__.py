"""The estimator people import, and what it is made of."""

from graphglass.detector.explanation import Explanation
from graphglass.detector.glass import GLASS

__all__ = ["GLASS", "Explanation"]
