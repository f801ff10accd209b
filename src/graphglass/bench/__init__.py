"""The benchmark: named protocols, records that can be rebuilt into tables, every method behind one contract."""

from graphglass.bench.datasets import Datasets
from graphglass.bench.methods import METHODS, factory
from graphglass.bench.protocols import Splits, split
from graphglass.bench.records import Purpose, Results
from graphglass.bench.runner import run_jobs
from graphglass.bench.single import single_jobs
from graphglass.bench.tables import tables

__all__ = [
    "METHODS",
    "Datasets",
    "Purpose",
    "Results",
    "Splits",
    "factory",
    "run_jobs",
    "single_jobs",
    "split",
    "tables",
]
