"""The same pipeline on Dask, for more graphs than one machine holds."""

from graphglass.cluster.connection import connect
from graphglass.cluster.fitting import fit_parts
from graphglass.cluster.jobs import score_parts

__all__ = ["connect", "fit_parts", "score_parts"]
