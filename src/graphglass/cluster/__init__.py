"""The same pipeline on Dask, for more graphs than one machine holds."""

from graphglass.cluster.connection import connect
from graphglass.cluster.fitting import fit_parts
from graphglass.cluster.jobs import describe_parts, score, score_parts

__all__ = ["connect", "describe_parts", "fit_parts", "score", "score_parts"]
