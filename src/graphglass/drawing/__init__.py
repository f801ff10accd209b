"""Graphs, molecules and scores as SVG."""
