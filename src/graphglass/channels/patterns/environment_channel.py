"""Atom environments of molecules: Morgan count fingerprints compared by Tanimoto similarity."""

from __future__ import annotations

from graphglass.channels.patterns.count_channel import CountChannel, PatternRows
from graphglass.channels.patterns.counts import count_keys
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.graphs.chemistry import NO_ENVIRONMENT
from graphglass.graphs.ragged import offsets


class EnvironmentChannel(CountChannel):
    """Distance 1 - T, where T is the Tanimoto similarity of count fingerprints of radius 2.

    Tanimoto similarity of counts is their weighted Jaccard similarity. No data for graphs that were not read as
    molecules.
    """

    def learn(self, references: ProfiledGraphs) -> PatternRows | None:
        return None if references.graphs.atom_environments is None else self.encode(references)

    def encode(self, graphs: ProfiledGraphs) -> PatternRows:
        rows = graphs.graphs.atom_environments
        assert rows is not None  # queries without them are refused
        given = rows != NO_ENVIRONMENT
        ends = offsets(given.sum(axis=1))  # per atom
        return PatternRows((count_keys(ends[graphs.graphs.node_offsets], rows[given]),))
