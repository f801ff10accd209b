"""Why a graph got its score, in sentences: the causes behind the parts of a score, the largest share first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphglass.channels.patterns.count_channel import CountChannel, Sightings
from graphglass.channels.profiled_graphs import ProfiledGraphs
from graphglass.channels.tables.edge_kinds import edge_kinds
from graphglass.channels.tables.edge_values import listed_edges, signed_log, strength_table
from graphglass.channels.unmatched import ROUNDING, Nearest
from graphglass.detector.attribution import Attribution
from graphglass.detector.functional_groups import functional_groups
from graphglass.detector.known_anomalies import NAME as CLASSIFIER
from graphglass.detector.normal_facts import NormalFacts, Range
from graphglass.drawing.molecule_svg import elements
from graphglass.graphs.chemistry import DESCRIPTORS
from graphglass.graphs.graph_schema import counted_names
from graphglass.graphs.graph_set import GraphSet
from graphglass.graphs.molecules import (
    ATOM_ATTRIBUTES,
    atom_value,
    edge_label_text,
    element_name,
    has_atoms,
    node_label_text,
)
from graphglass.structure.profile import AGGREGATE_NAMES, LTD_NAMES

WARM = 0.15  # of the hottest part: cooler nodes and edges get no sentence
JOINED = 0.4  # of a node's part: warm neighbours that share its sentence
MORE = 0.1  # of the nodes: a value is told that so many more have than in the nearest references
LEAST = 1.0  # percent of the score that a sentence is worth
SENTENCES = 5
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# Numbers of whole graphs in words; molecules have names of their own for some, and no use for others.
SIZE = {"nodes": "number of {node}s", "edges": "number of {edge}s"}
STRUCTURE = {
    "components": "number of separate parts",
    "density": "density of {edge}s",
    "degree_mean": "mean number of neighbours",
    "degree_std": "spread of the numbers of neighbours",
    "triangles": "number of triangles",
    "four_cycles": "number of 4-cycles",
    "clustering_mean": "mean clustering",
    "core_max": "largest core",
}
RINGS = {"components": "number of separate parts", "triangles": "number of three-membered rings",
         "four_cycles": "number of four-membered rings"}  # fmt: skip
FAMILIES = {
    "patterns": "its mix of neighbourhoods",
    "composition": "its mix of labels, degrees and values",
    "attributes": "the attributes of its {node}s",
    "surroundings": "what surrounds its {node}s",
    "geometry": "the distances between its {node}s in the space of their attributes",
    "edges": "the values and kinds of its {edge}s",
    "structure": "its structure",
    "size": "its size",
    "chemistry": "its fragments",
    "chemistry:descriptors": "its physical chemistry",
    "graph": "the code of its structure",
    "text": "the code of its description",
}
CHEMICAL = {
    "patterns": "its mix of fragments",
    "composition": "its mix of elements and bonds",
    "attributes": "charges, hydrogens and hybridisation of its atoms",
    "geometry": "the contrasts between its atoms",
    "structure": "its branching and rings",
}
CODES = ("text", "graph")  # of GLASS, each of a whole graph
RARE = 0.05  # of the references: labels that fewer have are told as foreign
TRIANGLES, COMPONENTS = LTD_NAMES.index("triangles"), AGGREGATE_NAMES.index("components")


@dataclass(frozen=True)
class Cause:
    """One cause of a score.

    Attributes
    ----------
    words : str
        A sentence: what is observed, what is normal, and how many references say so.
    share : float
        Percent of what raises the score.
    nodes : tuple of int
        The nodes that the sentence is about, the hottest first; none where it is about the graph as a whole.
    edges : tuple of (source, target)
        The edges that it is about.
    """

    words: str
    share: float
    nodes: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Evidence:
    """What sentences about one graph are made from."""

    query: ProfiledGraphs
    near: Nearest
    facts: NormalFacts
    channels: Sequence[CountChannel]
    parts: Attribution
    distances: Mapping[str, NDArray[np.float64]]  # by channel, (1,): to the nearest references
    usual: Mapping[str, NDArray[np.float64]]  # by channel: those of the references to the others

    @property
    def graph(self) -> GraphSet:
        return self.query.graphs

    @cached_property
    def molecule(self) -> bool:
        return elements(self.graph) is not None

    @cached_property
    def nouns(self) -> dict[str, str]:
        names = ("atom", "bond", "molecule") if self.molecule else ("node", "edge", "graph")
        reading = self.facts.references.graphs.reading
        label = "label" if reading is None else reading.node_label.replace("_", " ")
        return dict(zip(("node", "edge", "graph", "label"), (*names, label), strict=True))

    @cached_property
    def ends(self) -> list[tuple[int, int]]:
        listed = self.graph.edge_list()
        return list(zip(listed.sources.tolist(), listed.targets.tolist(), strict=True))

    @cached_property
    def groups(self) -> list[tuple[str, frozenset[int]]]:
        return functional_groups(self.graph)

    @cached_property
    def normal_groups(self) -> list[Counter[str]]:
        """How often each nearest reference has each group that the graph or the nearest of all has."""
        if not has_atoms(self.near.graphs.graphs):
            return [Counter()] * len(self.near.graphs)
        nearest, *others = self.near.graphs.graphs
        first = Counter(name for name, _ in functional_groups(nearest))
        asked = {*first, *(name for name, _ in self.groups)}
        return [first, *(Counter(name for name, _ in functional_groups(graph, asked)) for graph in others)]

    def seen(self, node: int) -> list[tuple[int, NDArray[np.int64], int]]:
        """Sightings of the pattern of a node at every level, in the channel of patterns where it weighs most."""
        patterns = [channel for channel in self.channels if channel.family == "patterns"]
        if not patterns:
            return []
        weights = {name: float(part[0][node]) for name, part in self.parts.by_channel.items()}
        channel = max(patterns, key=lambda channel: weights.get(channel.name, 0.0))
        if channel.name not in self.sightings:
            self.sightings[channel.name] = list(channel.sightings(self.query, self.near))
        levels = self.sightings[channel.name]
        return [(int(own[node]), often[:, node], int(holding[node])) for own, often, holding in levels]

    @cached_property
    def sightings(self) -> dict[str, list[Sightings]]:
        """By channel, those that were asked for."""
        return {}

    @cached_property
    def nearest(self) -> str:
        """The nearest references in words."""
        count = len(self.near.graphs)
        noun = self.nouns["graph"]
        return f"the {_count(count)} nearest normal {noun}s" if count > 1 else f"the nearest normal {noun}"

    @cached_property
    def none(self) -> str:
        return f"none of {self.nearest}" if len(self.near.graphs) > 1 else f"not {self.nearest}"

    @cached_property
    def normals(self) -> str:
        count, noun = len(self.facts), self.nouns["graph"]
        return f"{count:,} normal {noun if count == 1 else f'{noun}s'}"

    def backed(self, thing: str, holders: int) -> str:
        """That the nearest references lack something, and how many of all have it."""
        if holders == 0:
            return f"none of {self.normals} has {thing}"
        return f"{self.none} has {thing}, {holders:,} of {self.normals} {'does' if holders == 1 else 'do'}"

    def name(self, node: int) -> str:
        return str(node if self.graph.node_names is None else self.graph.node_names[node])

    def node(self, node: int) -> str:
        """A node as people call it: its name, and its label where that says more; an atom by element and place."""
        label = "" if self.graph.node_labels is None else node_label_text(self.graph, int(self.graph.node_labels[node]))
        if self.molecule:
            return f"{label}{node}"
        name = self.name(node)
        return f"{name} ({label})" if label and label != name else name

    def edge(self, edge: int) -> str:
        one, two = (self.node(end) for end in self.ends[edge])
        labels = self.graph.edge_list().labels
        kind = "" if labels is None or self.molecule else f" ({edge_label_text(self.graph, int(labels[edge]))})"
        return f"{one}{' -> ' if self.graph.directed else '–' if self.molecule else ' – '}{two}{kind}"

    def a(self, noun: str) -> str:
        name = self.nouns[noun]
        return f"{_article(name)} {name}"

    def title(self, family: str) -> str:
        """A family of channels in the words of the domain."""
        words = CHEMICAL if self.molecule else {}
        return words.get(family, FAMILIES.get(family, family)).format(**self.nouns)

    def whole(self, words: str) -> str:
        return f"The {self.nouns['graph']} as a whole: {words}"

    @cached_property
    def foreign(self) -> frozenset[int]:
        """Node labels that no near reference and hardly any other one has."""
        labels, near = self.graph.node_labels, self.near.graphs.graphs.node_labels
        if labels is None or near is None:
            return frozenset()
        rare = [
            code
            for code in np.setdiff1d(labels, near).tolist()
            if self.facts.label_holders.get(code, 0) <= RARE * len(self.facts)
        ]
        return frozenset(rare)


def causes(evidence: Evidence, *, most: int = SENTENCES) -> tuple[Cause, ...]:
    """Sentences by their share of the score, at most so many; the first is about the hottest node or edge.

    A cause that weighs more than the one with the hottest node is spread out: its sentence says "as a whole". Usual
    distances are told where nothing else is.
    """
    raised = evidence.parts.raised
    if raised <= 0:
        return (Cause(evidence.whole(f"as close to {evidence.normals} as these are to each other."), 0.0),)
    local = list(_local(evidence, raised))
    found = [cause for cause in (*local, *_wholes(evidence, raised)) if cause.share >= LEAST]
    found = sorted(found or _wholes(evidence, raised, usual=True), key=lambda cause: -cause.share)
    if found and local and found[0] in local[1:]:
        found[0] = replace(found[0], words=evidence.whole(found[0].words))
    return tuple(found[:most])


# Causes at nodes and edges

Told = tuple[str, set[int], set[int]]  # a sentence, and the nodes and edges it is about


def _local(evidence: Evidence, raised: float) -> Iterator[Cause]:
    """From the hottest node or edge down; what one sentence covers, no other does."""
    nodes, edges = evidence.parts.nodes.copy(), evidence.parts.edges.copy()
    hottest = evidence.parts.hottest
    for _ in range(2 * SENTENCES):
        node, edge = int(nodes.argmax()), int(edges.argmax()) if len(edges) else -1
        at_edge = edge >= 0 and edges[edge] > nodes[node]
        warmest = edges[edge] if at_edge else nodes[node]
        if warmest <= 0 or warmest < WARM * hottest:
            return
        words, covered, crossed = _edge_told(evidence, edge) if at_edge else _node_told(evidence, node, nodes, edges)
        crossed |= {i for i, pair in enumerate(evidence.ends) if covered.issuperset(pair)}
        (crossed if at_edge else covered).add(edge if at_edge else node)
        ordered = sorted(covered, key=lambda place: -evidence.parts.nodes[place])
        strongest = sorted((i for i in crossed if evidence.parts.edges[i] > 0), key=lambda i: -evidence.parts.edges[i])
        share = 100 * float(nodes[ordered].sum() + edges[strongest].sum()) / raised
        yield Cause(words, share, tuple(ordered), tuple(evidence.ends[i] for i in strongest))
        nodes[ordered], edges[strongest] = 0.0, 0.0


def _node_told(evidence: Evidence, node: int, nodes: NDArray[np.float64], edges: NDArray[np.float64]) -> Told:
    """What is strange about a node: its label, the group it is in, a value, an edge, or its neighbourhood."""
    labels = evidence.graph.node_labels
    if (told := _group_told(evidence, {node})) is not None:
        return told
    if labels is not None and int(labels[node]) in evidence.foreign:
        return _label_told(evidence, int(labels[node]))
    strengths = {name: float(part[0][node]) for name, part in evidence.parts.by_channel.items()}
    family = max(strengths, key=lambda name: strengths[name]).partition(":")[0]
    if family == "attributes":
        told = _value_told(evidence, node, nodes) or _frequent_value_told(evidence, node, nodes)
        if told is not None:
            return told
    if family == CLASSIFIER:
        near, noun = _warm_around(evidence.graph, node, nodes), evidence.nouns["node"]
        more = f" ({_several(len(near) - 1, f'more {noun}')} around it)" if len(near) > 1 else ""
        words = f"{evidence.node(node)}{more} is in surroundings that the nearest known anomaly has"
        return f"{words}; {evidence.nearest} have fewer such {noun}s.", near, set()
    around = [i for i, pair in enumerate(evidence.ends) if node in pair and edges[i] > 0]
    if family == "edges" and around:
        edge = max(around, key=lambda i: edges[i])
        return _edge_words(evidence, edge), set(evidence.ends[edge]), {edge}
    if family == "edges" and (told_of_sum := _strength_words(evidence, node)) is not None:
        return told_of_sum, {node}, set()
    return _neighbourhood_told(evidence, node, nodes)


def _edge_told(evidence: Evidence, edge: int) -> Told:
    """What is strange about an edge: the label of an end, the group it is in, its value or its kind."""
    ends, labels = set(evidence.ends[edge]), evidence.graph.node_labels
    by_heat = sorted(ends, key=lambda end: -evidence.parts.nodes[end])
    for atoms in (ends, *({end} for end in by_heat)):
        if (told := _group_told(evidence, atoms)) is not None:
            return told
    for end in sorted(ends):
        if labels is not None and int(labels[end]) in evidence.foreign:
            return _label_told(evidence, int(labels[end]))
    return _edge_words(evidence, edge), ends, {edge}


def _label_told(evidence: Evidence, label: int) -> Told:
    """A label that normal graphs lack, at all its nodes, with their edges."""
    found = np.flatnonzero(evidence.graph.node_labels == label).tolist()
    ends = [pair for pair in evidence.ends if set(pair) & set(found)]  # what is joined to the label is strange by it
    text, holders = node_label_text(evidence.graph, label), evidence.facts.label_holders.get(label, 0)
    if evidence.molecule:
        name = thing = f"{'a ' if text == '*' else ''}{element_name(text)}"
        if name == "hydrogen" and has_atoms(evidence.graph) and _isotopes(evidence.graph, found):
            name, thing = "deuterium or tritium", "explicit hydrogen"
        where = _listed([evidence.node(node) for node in found])
        words = f"Contains {name} ({where}); {evidence.backed(thing, holders)}."
    else:
        known = {node_label_text(evidence.facts.references.graphs, code) for code in evidence.facts.label_holders}
        # The text "C" is not the atom that is written the same: labels of two formats were read.
        text = f"{text} (as text)" if text in known else text
        where = _listed([evidence.name(node) for node in found])
        noun, nodes = evidence.nouns["label"], f"node{'s' if len(found) > 1 else ''}"
        words = f"{noun[0].upper()}{noun[1:]} {text} at {nodes} {where}; {evidence.backed(f'this {noun}', holders)}."
    return words, set(found).union(*ends), set()


def _isotopes(graph: GraphSet, hydrogens: Sequence[int]) -> bool:
    """Whether hydrogens are isotopes: readers fold all others into the one atom that they are bonded to."""
    assert graph.node_labels is not None
    for node in hydrogens:
        bonded = graph.neighbours[graph.neighbour_offsets[node] : graph.neighbour_offsets[node + 1]]
        if len(bonded) != 1 or graph.node_labels[bonded[0]] <= 1:  # a dummy, or hydrogen
            return False
    return True


def _group_told(evidence: Evidence, atoms: set[int]) -> Told | None:
    """The first functional group with these atoms that most of the nearest references have less often."""
    own = Counter(name for name, _ in evidence.groups)
    for name, members in evidence.groups:
        if not atoms <= members:
            continue
        normal = [counts[name] for counts in evidence.normal_groups]
        if 2 * sum(count < own[name] for count in normal) <= len(normal):
            continue
        covered = set().union(*(other for title, other in evidence.groups if title == name))
        as_many, single = sum(count >= own[name] for count in normal), own[name] == 1
        contained = f"{_article(name)} {name}" if single else f"{_count(own[name])} {name}s"
        if single:
            contained += f" ({_listed([evidence.node(atom) for atom in sorted(members)])})"
        if not any(normal):
            usual = f"{evidence.none} {'does' if single else 'has one'}"
        elif as_many:
            usual = f"{_count(as_many)} of {evidence.nearest} {'does' if as_many == 1 else 'do'}"
        else:
            usual = f"{evidence.nearest} have at most {max(normal)}"
        bonds = {place for place, pair in enumerate(evidence.ends) if not covered.isdisjoint(pair)}
        return f"Contains {contained}; {usual}.", covered, bonds
    return None


def _value_told(evidence: Evidence, node: int, nodes: NDArray[np.float64]) -> Told | None:
    """The attribute of a node farthest outside what normal nodes have, with all warm nodes of that value.

    None where all attributes lie inside.
    """
    graph, near = evidence.graph, np.asarray(evidence.near.graphs.graphs.attributes, np.float64)
    table = np.asarray(graph.attributes, np.float64)
    values = table[node]
    for (low, high), who in (
        (evidence.facts.attribute_range, evidence.normals),
        ((near.min(axis=0), near.max(axis=0)), evidence.nearest),
    ):
        past = np.maximum(values - high, low - values) / np.where(high > low, high - low, 1.0)
        column = int(past.argmax())
        name, value, usual = graph.attribute_names[column], values[column], (low[column], high[column])
        if past[column] <= 0:
            continue
        equal = np.flatnonzero((table[:, column] == value) & (nodes > 0)).tolist()
        names = _listed([evidence.node(other) for other in sorted(equal, key=lambda other: -nodes[other])])
        if graph.attribute_names != ATOM_ATTRIBUTES:
            fact = f"Node{'s' if len(equal) > 1 else ''} {names}: {name.replace('_', ' ')} {amount(value)}"
            return f"{fact}; normal nodes have {_between(*usual)} ({who}).", set(equal), set()
        if name == "formal_charge":
            bounds = " to ".join(f"{bound:+.0f}" for bound in usual)
            have = "have" if len(equal) > 1 else "has"
            return f"{names} {have} charge {value:+.0f}; atoms of {who} have {bounds}.", set(equal), set()
    return None


def _frequent_value_told(evidence: Evidence, node: int, nodes: NDArray[np.float64]) -> Told | None:
    """The attribute whose value at the node, or past it, many more nodes have than in the nearest references."""
    graph, normal = evidence.graph, evidence.near.graphs.graphs
    own, others = (np.asarray(part.attributes, np.float64) for part in (graph, normal))
    sides = {"": np.equal} if evidence.molecule else {" or more": np.greater_equal, " or less": np.less_equal}
    most = MORE
    told: Told | None = None
    for column, name in enumerate(graph.attribute_names):
        value = own[node, column]
        for side, holds in sides.items():
            have, there = holds(own[:, column], value), holds(others[:, column], value)
            usual = float(evidence.near.weights @ (np.bincount(normal.node_graph, there) / normal.sizes))
            if have.mean() - usual <= most:
                continue
            most = float(have.mean()) - usual
            words = atom_value(name, value) if evidence.molecule else f"have {name.replace('_', ' ')} {amount(value)}"
            among = "" if have.all() else f", {evidence.node(node)} among them"
            told = (
                (
                    f"{have.sum()} of {len(own)} {evidence.nouns['node']}s {words}{side}{among}; in "
                    f"{evidence.nearest} {100 * usual:.0f}%."
                ),
                set(np.flatnonzero(have & (nodes > 0)).tolist()),
                set(),
            )
    return told


def _edge_words(evidence: Evidence, edge: int) -> str:
    """An edge with a value that no normal edge has, of a kind that is rare, or with an unusual value for its kind."""
    graph, others = evidence.graph, evidence.near.graphs.graphs
    title = f"{evidence.nouns['edge'].capitalize()} {evidence.edge(edge)}"
    kinds, normal_kinds = edge_kinds(graph, graph.edge_list()), edge_kinds(others, others.edge_list())
    alike = normal_kinds == kinds[edge]
    if (words := _amount_words(evidence, edge, evidence.facts.edge_range)) is not None:
        return f"{title}: {words} ({evidence.normals})."
    if not alike.any():
        holders = evidence.facts.kind_holders.get(int(kinds[edge]), 0)
        thing = f"{evidence.a('edge')} of this kind"
        return f"{title}: {evidence.backed(thing, holders)}."
    near = listed_edges(others)
    if near is not None:
        normal = np.asarray(near.attributes)[alike]
        if (words := _amount_words(evidence, edge, (normal.min(axis=0), normal.max(axis=0)))) is not None:
            return f"{title}: {words}, those of its kind in {evidence.nearest}."
    most = int(np.bincount(others.node_graph[others.edge_list().sources[alike]]).max())
    same = f"one of {int((kinds == kinds[edge]).sum())} {evidence.nouns['edge']}s of this kind"
    return f"{title}: {same}; {evidence.nearest} have at most {most}."


def _strength_words(evidence: Evidence, node: int) -> str | None:
    """The sum over the edges of a node that is farthest outside those of the nodes of the nearest references."""
    graph, others = evidence.graph, evidence.near.graphs.graphs
    own, near = listed_edges(graph), listed_edges(others)
    if own is None or near is None:
        return None
    values, normal = strength_table(graph, own)[node], strength_table(others, near)
    low, high = normal.min(axis=0), normal.max(axis=0)
    past = np.maximum(values - high, low - values)
    column = int(past.argmax())
    if past[column] <= 0:
        return None
    flows = ("edges that leave", "edges that enter", "edges that leave less those that enter")
    sides = flows if graph.directed else ("edges of it",)
    name = counted_names(graph)[-len(past) // len(sides) :][column // len(sides)].replace("_", " ")
    value, least, most = (float(np.sign(x) * np.expm1(abs(x))) for x in (values[column], low[column], high[column]))
    return (
        f"Node {evidence.node(node)}: sum of {name} over the {sides[column % len(sides)]} is {amount(value)}; nodes "
        f"of {evidence.nearest} have {_between(least, most)}."
    )


def _amount_words(evidence: Evidence, edge: int, usual: Range) -> str | None:
    """The attribute of an edge farthest outside a range, on a logarithmic scale; None where all lie inside."""
    listed, (low, high) = listed_edges(evidence.graph), usual
    if listed is None or not len(low):
        return None
    values = np.asarray(listed.attributes)[edge]
    past = np.maximum(signed_log(values) - signed_log(high), signed_log(low) - signed_log(values))
    column = int(past.argmax())
    if past[column] <= 0:
        return None
    name = counted_names(evidence.graph)[column].replace("_", " ")
    return f"{name} {amount(values[column])}; normal edges have {_between(low[column], high[column])}"


def _neighbourhood_told(evidence: Evidence, node: int, nodes: NDArray[np.float64]) -> Told:
    """A node with more neighbours or triangles than any near it has, or in surroundings that they lack."""
    graph, near = evidence.graph, evidence.near.graphs
    covered = _warm_around(graph, node, nodes)
    name = evidence.node(node) if evidence.molecule else f"Node {evidence.node(node)}"
    noun, others = evidence.nouns["node"], len(covered) - 1
    equal = set(np.flatnonzero(np.isclose(nodes, nodes[node], rtol=1e-9, atol=0)).tolist()) - covered
    notes = [f"{_several(others, f'more {noun}')} around it"] if others else []
    notes += [f"and {_several(len(equal), noun)} of equal weight"] if equal else []
    more = f" ({' '.join(notes)})" if notes else ""
    covered |= equal
    joined = "bonded" if evidence.molecule else "joined"
    degree, triangles = (
        int(np.diff(graph.neighbour_offsets)[node]),
        int(evidence.query.profile.descriptors[node, TRIANGLES]),
    )
    most = int(np.diff(near.graphs.neighbour_offsets).max(initial=0))
    if degree > most:
        return (
            f"{name}{more} is {joined} to {degree} {noun}s; {noun}s of {evidence.nearest} to at most {most}.",
            covered,
            set(),
        )
    most = int(near.profile.descriptors[:, TRIANGLES].max(initial=0))
    if triangles > most and not evidence.molecule:
        return (
            f"{name}{more} is in {_several(triangles, 'triangle')}; nodes of {evidence.nearest} in at most {most}.",
            covered,
            set(),
        )
    seen = evidence.seen(node)
    if not seen:
        return f"{name}{more}: {evidence.nearest} have fewer such {noun}s.", covered, set()
    radius = next((level for level, (_, counts, _) in enumerate(seen) if not counts.any()), None)
    if radius == 0 and graph.node_labels is None:
        inside = f" and is in {_several(triangles, 'triangle')}" if triangles else ""
        backed = evidence.backed("such a node", seen[0][2])
        return f"{name}{more} is joined to {_several(degree, 'node')}{inside}; {backed}.", covered, set()
    if radius is not None and radius <= 1 and degree:
        neighbours = graph.neighbours[graph.neighbour_offsets[node] : graph.neighbour_offsets[node + 1]].tolist()
        to = _listed([evidence.node(other) for other in neighbours], 4)
        backed = evidence.backed(f"such {evidence.a('node')}", seen[radius][2])
        return f"{name}{more} is {joined} to {to}; {backed}.", covered, set()
    step = "bond" if evidence.molecule else "step"
    if radius is not None:
        backed = evidence.backed(f"such {evidence.a('node')}", seen[radius][2])
        return f"{name}{more} with all within {_several(radius, step)} of it: {backed}.", covered, set()
    # The nearest references have all of it, but less often.
    radius = max(range(len(seen)), key=lambda level: (seen[level][0] / max(seen[level][1].max(), 1), -level))
    own, counts, _ = seen[radius]
    single, ending = own == 1, "" if own == 1 else "s"
    if radius == 0 and graph.node_labels is not None:
        label = int(graph.node_labels[node])
        text = node_label_text(graph, label)
        what = (
            f"{element_name(text).removesuffix(' atom (*)')} atom{ending}"
            if evidence.molecule
            else f"node{ending} with {evidence.nouns['label']} {text}"
        )
        fact = f"{what}, {'' if single else 'such as '}{evidence.node(node)}"
        covered = set(np.flatnonzero(graph.node_labels == label).tolist())
    else:
        fact = f"{noun}{ending} like {evidence.node(node)}" + (f" within {_several(radius, step)}" if radius else "")
    usual = _between(counts.min(), counts.max())
    return f"{_count(own).capitalize()} {fact}; {evidence.nearest} have {usual}.", covered, set()


def _warm_around(graph: GraphSet, node: int, nodes: NDArray[np.float64]) -> set[int]:
    """The node and those that can be reached from it over nodes nearly as warm."""
    reached, border = {node}, [node]
    while border:
        at = border.pop()
        for other in graph.neighbours[graph.neighbour_offsets[at] : graph.neighbour_offsets[at + 1]].tolist():
            if other not in reached and nodes[other] >= JOINED * nodes[node]:
                reached.add(other)
                border.append(other)
    return reached


# Causes of the graph as a whole


def _wholes(evidence: Evidence, raised: float, *, usual: bool = False) -> Iterator[Cause]:
    """What no node shows: one sentence for every family of channels with a rest, and for what is missing.

    Families in which the graph lies no farther from its nearest references than is usual are told where asked for.
    """
    rest: dict[str, float] = {}
    for name, value in evidence.parts.rest.items():
        family = name if name in FAMILIES else name.partition(":")[0]
        if name != CLASSIFIER:  # told with the nearest known anomaly
            rest[family] = rest.get(family, 0.0) + max(value, 0.0)
    of_missing = ("patterns", "composition", "chemistry")
    lost = 100 * sum(rest.get(family, 0.0) for family in of_missing) / raised
    if lost >= LEAST and (words := _missing(evidence)) is not None:
        rest = {family: value for family, value in rest.items() if family not in of_missing}
        yield Cause(evidence.whole(words), lost)
    structure = RINGS if evidence.molecule else STRUCTURE
    tables = {
        "size": SIZE,
        "structure": structure,
        "chemistry:descriptors": dict(zip(DESCRIPTORS, DESCRIPTORS, strict=True)),
    }
    for family, value in rest.items():
        if 100 * value < LEAST * raised:
            continue
        found = _field_words(evidence, tables[family]) if family in tables else None
        if found is None:
            found = _distance_words(evidence, family, usual)
            told = family == next((code for code in CODES if rest.get(code, 0.0) > 0), None)
            if told and (fact := _field_words(evidence, SIZE | structure)) is not None:
                fact = f" code shows no {evidence.nouns['node']}s; unusual in the {evidence.nouns['graph']}: {fact}"
                found = f"a{fact}" if found is None else f"{found} A{fact}"
        if found is not None:
            yield Cause(evidence.whole(found), 100 * value / raised)


def _distance_words(evidence: Evidence, family: str, usual: bool) -> str | None:
    """How far the graph lies from the nearest references in the channel of a family that adds most.

    A distance that is not above the range of the references is told, as such, where what is usual is asked for.
    """
    title, parts = evidence.title(family), evidence.parts.rest
    names = [name for name in evidence.distances if family in (name, name.partition(":")[0])]
    name = max(names, key=lambda name: parts.get(name, 0.0))
    own, normal = float(evidence.distances[name][0]), evidence.usual[name]
    cuts = np.percentile(normal, (5, 95))
    common = own <= cuts[1] * (1 + ROUNDING)
    if common and not usual:
        return None
    extent = " to ".join(dict.fromkeys(f"{cut:.3g}" for cut in cuts))
    beyond = int((normal >= own).sum())
    return (
        f"in {title} its nearest normal {evidence.nouns['graph']}s are {own:.3g} away"
        f"{', no farther than usual' if common else ''}; nine in ten of "
        f"{evidence.normals} have theirs {extent} away, "
        f"{_count(beyond) if beyond else 'none'} as far or farther."
    )


def _field_words(evidence: Evidence, names: Mapping[str, str]) -> str | None:
    """The number farthest from those of the references, in deviations, if it lies outside nine in ten of them."""
    own, best, words = NormalFacts(evidence.query).fields, 0.0, None
    for name, text in names.items():
        if name not in own or name not in evidence.facts.fields:
            continue
        value, normal = float(own[name][0]), evidence.facts.fields[name]
        low, high, unit = evidence.facts.usual[name]
        off = max(value - high, low - value) / unit
        if off > best:
            best, above = off, value > high
            beyond = int((normal >= value).sum() if above else (normal <= value).sum())
            side = f"{_count(beyond) if beyond else 'none'} as {'high or higher' if above else 'low or lower'}"
            fact = f"{text.format(**evidence.nouns)} {amount(value)}"
            words = f"{fact}; nine in ten of {evidence.normals} have {_between(low, high)}, {side}."
    return words


def _missing(evidence: Evidence) -> str | None:
    """Something that all nearest references have and the graph lacks, with one of them that shows it."""
    near, graph = evidence.near.graphs.graphs, evidence.graph
    if len(near) < 2:
        return None
    noun = evidence.nouns["graph"]
    shown = f"all {_count(len(near))} nearest normal {noun}s have one, such as {near.ids[0]}"
    if evidence.molecule:
        if (_rings(evidence.near.graphs) > 0).all() and _rings(evidence.query)[0] <= 0:
            return f"no ring; {shown}."
        have = {name for name, _ in evidence.groups}
        for name in evidence.normal_groups[0]:
            if name not in have and all(counts[name] for counts in evidence.normal_groups):
                return f"no {name}; {shown}."
    if graph.node_labels is None or near.node_labels is None:
        return None
    for label in np.setdiff1d(near.node_labels, graph.node_labels).tolist():
        if len(np.unique(near.node_graph[near.node_labels == label])) == len(near):
            text, holders = node_label_text(near, label), evidence.facts.label_holders.get(label, 0)
            if evidence.molecule:
                what, shown = f"no {element_name(text)}", shown.replace("have one", "contain it")
            else:
                what = f"no node with {evidence.nouns['label']} {text}"
            return f"{what}; {shown}, as do {holders:,} of {evidence.normals}."
    return None


def _rings(graphs: ProfiledGraphs) -> NDArray[np.float64]:
    """Independent cycles of every graph."""
    return graphs.graphs.edge_counts - graphs.graphs.sizes + graphs.profile.aggregates[:, COMPONENTS]


def resemblance(
    evidence: Evidence, known: str, family: str, similar: tuple[float, float], shared: Sequence[int], share: float
) -> Cause:
    """Why a graph resembles a known anomaly: the family that separates it from the normals, and what both share."""
    title = evidence.title(family)
    normal = f"to the nearest normal {evidence.nouns['graph']} {similar[1]:.2f}"
    words = f"Resembles known anomaly {known} by {title}: similarity {similar[0]:.2f}, {normal}"
    if shared:
        words += (
            f"; both have {_listed([evidence.node(node) for node in shared])} in surroundings that {evidence.none} has"
        )
    else:
        words = evidence.whole(words)
    return Cause(f"{words}.", share, tuple(shared))


# Words


def amount(value: float) -> str:
    """A number as people write it: integers whole, large ones with commas, others by four digits."""
    whole = value == round(value) or abs(value) >= 1000
    return f"{value:,.0f}" if whole and abs(value) < 1e15 else f"{value:,.4g}"


def _between(low: float, high: float) -> str:
    return " to ".join(dict.fromkeys((amount(float(low)), amount(float(high)))))


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _count(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"


def _several(number: int, noun: str) -> str:
    return f"{_count(number)} {noun}{'' if number == 1 else 's'}"


def _article(noun: str) -> str:
    return "an" if noun[0].lower() in "aeio" or noun.startswith("N-") else "a"
