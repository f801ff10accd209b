"""GraphDP: the deterministic, label-free description of a graph in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError
from graphglass.glass.prompt.fields import FIELD_NAMES, field_values, scaled

if TYPE_CHECKING:
    from graphglass.graphs.graph_set import GraphSet
    from graphglass.structure.profile import StructureProfile

# Raise the number whenever one character of any prompt changes: embeddings of two templates are not
# comparable.
TEMPLATE = "graphdp-1"
PHASES = ("single-reference", "zero-shot-query", "few-shot-reference")
STYLES = ("digits", "levels")
VERSIONS = (1, 2)
INSTRUCTIONS = {
    "phase-aware": "Encode this graph description for graph-level anomaly detection.",
    "domain-invariant": (
        "Encode domain-invariant structural features of a graph. Emphasise topology, degree profiles, clustering, "
        "motifs, spectral gap, and community structure."
    ),
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


@dataclass(frozen=True)
class PromptContext:
    """What a prompt says besides numbers; one value for a whole set, so it cannot carry a graph's label."""

    domain: str = "graph"  # where the graphs come from: ``mol``, ``protein``, ``social`` or a short name of your own
    phase: str = "single-reference"  # how the embedding will be used, one of :data:`PHASES`
    # ``digits`` writes numbers as the paper's examples do, ``levels`` as whole steps on public scales.
    style: str = "digits"
    source_domain: str | None = None  # the domain the references came from, in a transfer phase
    # True for references a person vouched for, in the few-shot phase. It can never be False.
    trusted_normal: bool | None = None
    instruction: str | None = "phase-aware"  # a key of :data:`INSTRUCTIONS`, or None for the bare query
    # 1 has the fields of the paper, 2 adds what :mod:`graphglass.glass.prompt.content` says of a graph.
    version: int = field(default=1, repr=False)  # fingerprints of version 1 are older than the field

    def __post_init__(self) -> None:
        def check(name: str, ok: bool, expected: str) -> None:
            if not ok:
                raise ParameterError("graphdp", name, expected, getattr(self, name))

        def named(value: object) -> bool:
            return isinstance(value, str) and bool(_NAME.fullmatch(value))

        short = "a name of at most 40 letters, digits, '_', '.' or '-'"
        check("domain", named(self.domain), short)
        check("phase", self.phase in PHASES, f"one of {', '.join(PHASES)}")
        check("style", self.style in STYLES, f"one of {', '.join(STYLES)}")
        allowed = self.source_domain is None or (named(self.source_domain) and self.phase != "single-reference")
        check("source_domain", allowed, f"{short}, in a transfer phase only")
        check(
            "trusted_normal",
            self.trusted_normal is None or (self.trusted_normal is True and self.phase == "few-shot-reference"),
            "True in the phase few-shot-reference, otherwise None: a prompt never says whether a graph is normal",
        )
        known = self.instruction is None or self.instruction in INSTRUCTIONS
        check("version", self.version in VERSIONS, "1 or 2")
        check("instruction", known, f"one of {', '.join(INSTRUCTIONS)} or None")

    @property
    def opening(self) -> str:
        """The part of the query before the numbers."""
        parts = [f"domain={self.domain}", f"phase={self.phase}"]
        if self.source_domain is not None:
            parts.append(f"source_domain={self.source_domain}")
        if self.trusted_normal:
            parts.append("trusted_normal=true")
        return "; ".join(parts)


@dataclass(frozen=True, eq=False)
class GraphDP(Sequence[str]):
    """The prompts of a set of graphs, rendered when they are read.

    Attributes
    ----------
    fields : float64 (graphs, fields)
        The numbers behind the words, columns :data:`~graphglass.glass.prompt.fields.FIELD_NAMES`.
    context : PromptContext
    content : tuple of str
        What version 2 adds, one text per graph; empty in version 1.
    """

    fields: NDArray[np.float64]
    context: PromptContext
    content: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        view = np.asarray(self.fields, dtype=np.float64).view()
        if view.ndim != 2 or view.shape[1] != len(FIELD_NAMES):
            raise ParameterError("GraphDP", "fields", f"an array (graphs, {len(FIELD_NAMES)})", view.shape)
        if len(self.content) != (len(view) if self.context.version == 2 else 0):
            raise ParameterError(
                "GraphDP", "content", "one text per graph in version 2, none in version 1", self.content
            )
        view.flags.writeable = False
        object.__setattr__(self, "fields", view)

    def __len__(self) -> int:
        return len(self.fields)

    def __repr__(self) -> str:
        return f"GraphDP({len(self)} prompts, {self.context.opening}, style={self.context.style})"

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice | NDArray[Any]) -> GraphDP: ...
    def __getitem__(self, key: Any) -> str | GraphDP:
        """A prompt by integer; a GraphDP by slice, index array or mask."""
        if not isinstance(key, int | np.integer):
            content = tuple(np.array(self.content, dtype=object)[key]) if self.content else ()
            return GraphDP(self.fields[key], self.context, content)
        if not -len(self) <= key < len(self):
            raise IndexError(f"prompt {key} of {len(self)}")
        place = int(key) % len(self)
        return next(iter(self[place : place + 1]))

    def __iter__(self) -> Iterator[str]:
        return (with_instruction(self.instruction, query) for query in self._queries())

    @property
    def instruction(self) -> str | None:
        """The sentence an instruction-aware encoder is given before each query."""
        return INSTRUCTIONS[self.context.instruction] if self.context.instruction else None

    @property
    def queries(self) -> list[str]:
        """The prompts without their instruction."""
        return list(self._queries())

    def _queries(self) -> Iterator[str]:
        levels = self.context.style == "levels"
        rows = np.rint(scaled(self.fields)).astype(int) if levels else self.fields
        for row, more in zip(rows.tolist(), self.content or [""] * len(rows), strict=True):
            named = zip(FIELD_NAMES, row, strict=True)
            values = {name: value if levels else _digits(name, value) for name, value in named}
            yield f"{self.context.opening}; {_TEMPLATE.format(**values)}{f'; {more}' if more else ''}."


def graphdp(
    profile: StructureProfile,
    *,
    domain: str = "graph",
    phase: str = "single-reference",
    style: str = "digits",
    source_domain: str | None = None,
    trusted_normal: bool | None = None,
    instruction: str | None = "phase-aware",
    graphs: GraphSet | None = None,
) -> GraphDP:
    """Describe every graph of a profile, GraphDP(G) of eq:textencoder.

    The prompt is a function of the graph's structure and of the settings given here: it does not change with
    node order, with the other graphs of the set, or with any label. Settings are those of
    :class:`PromptContext`. With the `graphs` of the profile it is version 2, which describes their node and edge
    labels and attributes too.

    Examples
    --------
    >>> from graphglass import graphdp, load_dataset, profile
    >>> prompts = graphdp(profile(load_dataset("MUTAG")[:1]), domain="mol")
    >>> prompts[0].splitlines()[1][:51]
    'Query: domain=mol; phase=single-reference; nodes=17'
    """
    version = 1 if graphs is None else 2
    context = PromptContext(domain, phase, style, source_domain, trusted_normal, instruction, version)
    return prompts_of(profile, context, graphs)


def prompts_of(profile: StructureProfile, context: PromptContext, graphs: GraphSet | None = None) -> GraphDP:
    """The prompts of a context; version 2 needs the graphs."""
    if context.version == 1:
        return GraphDP(field_values(profile), context)
    from graphglass.glass.prompt.content import content_lines

    if graphs is None or len(graphs) != len(profile):
        found = "none" if graphs is None else len(graphs)
        raise ParameterError("graphdp", "graphs", f"the {len(profile)} graphs of the profile in version 2", found)
    return GraphDP(field_values(profile), context, content_lines(graphs, profile))


def with_instruction(instruction: str | None, query: str) -> str:
    """The input convention of instruction-aware encoders."""
    return query if instruction is None else f"Instruct: {instruction}\nQuery: {query}"


def query_of(prompt: str) -> str:
    """The query alone, for encoders that were not trained to follow instructions."""
    return prompt.split("\nQuery: ", 1)[-1] if prompt.startswith("Instruct: ") else prompt


_TEMPLATE = (
    "nodes={nodes}; edges={edges}; density={density}; components={components}; degree_mean={degree_mean}; "
    "degree_std={degree_std}; degree_q={degree_q25}/{degree_q50}/{degree_q75}; degree_entropy={degree_entropy}; "
    "clustering={clustering_mean}/{clustering_std}; transitivity={transitivity}; "
    "motifs=triangles:{triangles}, fourcycles:{four_cycles}, density:{motif_density}; core=max:{core_max}; "
    "spectral=gap:{spectral_gap}, rayleigh_q:{rayleigh_q10}/{rayleigh_q50}/{rayleigh_q90}"
)
_COUNTS = ("nodes", "edges", "components", "triangles", "four_cycles", "core_max")
_DECIMALS = {name: 0 if name in _COUNTS else 3 if name == "density" else 2 for name in FIELD_NAMES}


def _digits(name: str, value: float) -> str:
    text = f"{value:.{_DECIMALS[name]}f}"
    # Degree quantiles have at most two decimals, none where the value is whole: 2, 2.5, 2.25.
    return text.rstrip("0").rstrip(".") if name.startswith("degree_q") else text
