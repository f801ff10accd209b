"""Graphs to numbers: compiled kernels over a whole GraphSet."""
