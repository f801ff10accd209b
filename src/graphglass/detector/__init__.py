"""The detectors, and what both are made of."""
