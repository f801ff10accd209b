import numpy as np
import pytest

from graphglass.glass.prompt.fields import FIELD_NAMES
from graphglass.glass.prompt.graphdp import GraphDP, PromptContext
from graphglass.graphs.canonical import canonical_graph_set
from graphglass.structure.profile import profile


def profile_of(nodes, edges, **extra):
    sources, targets = (list(side) for side in zip(*edges, strict=True)) if edges else ([], [])
    return profile(canonical_graph_set([nodes], sources, targets, **extra))


@pytest.fixture
def fifty_prompts():
    """Prompts with varied made-up fields."""
    fields = np.random.default_rng(0).uniform(0, 40, (50, len(FIELD_NAMES)))
    return GraphDP(fields, PromptContext(domain="mol"))


@pytest.fixture
def describe():
    return profile_of
