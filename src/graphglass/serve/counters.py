"""Counters for Prometheus; they hold numbers and no graph content."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Counters:
    """Counters in a registry of their own, so that several services can run in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("glass_requests", "Answered requests", ["route", "status"], registry=self.registry)
        self.graphs = Counter("glass_graphs_scored", "Graphs scored", registry=self.registry)
        self.rejected = Counter("glass_graphs_rejected", "Records that could not be read", registry=self.registry)
        self.flagged = Counter("glass_graphs_flagged", "Graphs flagged as abnormal", registry=self.registry)
        self.seconds = Histogram("glass_request_seconds", "Time to answer", ["route"], registry=self.registry)
        self.waiting = Gauge("glass_requests_waiting", "Requests in line", registry=self.registry)
        self.references = Gauge("glass_references", "Normal references in use", registry=self.registry)

    def page(self) -> bytes:
        """All counters in Prometheus' text format."""
        return bytes(generate_latest(self.registry))
