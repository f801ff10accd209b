"""One unit vector per graph that stands for all its channels at once."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ArtifactError, ParameterError, SchemaError
from graphglass.privacy.public_map import PublicMap
from graphglass.sphere.fourier import paired_features, standard_frequencies

MAIN_CHANNELS = (("graph:64", 64), ("graph:128", 128), ("text:64", 64), ("text:128", 128))
PUBLIC_SEED = 20260
# Kernel settings that share the paper's 1024 coordinates over four channels: (frequencies, kappas, orthogonal). `fine`
# ranks most like nearest neighbours at the noise of epsilon 4, among many settings compared on public source graphs
# without a label (benchmarks/private_kernel.py). `wide` puts the frequencies on a ladder of concentrations.
KERNELS: dict[str, tuple[int, tuple[float, ...], bool]] = {
    "paper": (128, (4.0,), False),
    "wide": (32, (64.0, 256.0, 1024.0, 4096.0), True),
    "fine": (128, (1024.0,), True),
}
DEFAULT_KERNEL = "fine"


@dataclass(frozen=True)
class JointFeatures:
    r"""The public map :math:`\Phi` from the embeddings of a graph to one unit vector (eq:dp_joint).

    Channels and concentrations share the norm through uniform public weights, so that one sensitivity covers
    them all. Every setting is public and fixed before private graphs are looked at.

    Attributes
    ----------
    channels : tuple of (name, dimension)
    frequencies : int
        Frequencies M per channel and concentration; each gives two coordinates.
    kappas : tuple of float
        Concentrations of the kernel. The paper uses one, 4; several make one kernel with a narrow peak and a wide foot.
    seed : int
        Public seed of the frequencies.
    orthogonal : bool
        Orthogonal instead of independent frequencies.
    maps : mapping of channel name to PublicMap
        Transformations learned from public source graphs, applied to a channel before the features.
    """

    channels: tuple[tuple[str, int], ...] = MAIN_CHANNELS
    frequencies: int = 128
    kappas: tuple[float, ...] = (4.0,)
    seed: int = PUBLIC_SEED
    orthogonal: bool = False
    maps: Mapping[str, PublicMap] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [name for name, _ in self.channels]
        if not names or len(set(names)) != len(names) or any(width < 1 for _, width in self.channels):
            raise ParameterError("JointFeatures", "channels", "distinct names with positive widths", self.channels)
        if self.frequencies < 1:
            raise ParameterError("JointFeatures", "frequencies", "a positive integer", self.frequencies)
        if not self.kappas or any(not math.isfinite(kappa) or kappa <= 0 for kappa in self.kappas):
            raise ParameterError("JointFeatures", "kappas", "positive numbers", self.kappas)
        for name, mapping in self.maps.items():
            if name not in names or mapping.width != dict(self.channels)[name]:
                raise ParameterError("JointFeatures", "maps", "keyed by channel, each of its channel's width", name)

    @classmethod
    def of_kernel(cls, kernel: str, channels: tuple[tuple[str, int], ...] = MAIN_CHANNELS) -> JointFeatures:
        """The map of a named kernel setting (:data:`KERNELS`)."""
        if kernel not in KERNELS:
            raise ParameterError("JointFeatures", "kernel", f"one of {', '.join(KERNELS)}", kernel)
        frequencies, kappas, orthogonal = KERNELS[kernel]
        return cls(channels, frequencies, kappas, orthogonal=orthogonal)

    @property
    def dimension(self) -> int:
        """Coordinates P of a feature."""
        return 2 * self.frequencies * len(self.kappas) * len(self.channels)

    def __call__(self, embeddings: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Features of graphs, float64 (n, P); row norms are one in real arithmetic."""
        self.check(embeddings)
        parts = [part for name, _ in self.channels for part in self._channel(name, embeddings[name])]
        return np.concatenate(parts, axis=1) / math.sqrt(len(parts))

    def by_channel(
        self, embeddings: Mapping[str, NDArray[Any]], mean: NDArray[np.float64]
    ) -> dict[str, NDArray[np.float64]]:
        """Inner products of the features with ``mean``, split by channel; the parts add up to the whole,
        each (n,).
        """
        features, width = self(embeddings), self.dimension // len(self.channels)
        return {
            name: features[:, i * width : (i + 1) * width] @ mean[i * width : (i + 1) * width]
            for i, (name, _) in enumerate(self.channels)
        }

    def _channel(self, name: str, rows: NDArray[Any]) -> list[NDArray[np.float64]]:
        mapped = self.maps[name](rows) if name in self.maps else np.asarray(rows, np.float64)
        return [
            paired_features(
                mapped,
                math.sqrt(kappa)
                * standard_frequencies(self.seed, f"{name}|{i}", mapped.shape[1], self.frequencies, self.orthogonal),
            )
            for i, kappa in enumerate(self.kappas)
        ]

    def check(self, embeddings: Mapping[str, NDArray[Any]]) -> int:
        """Refuse embeddings that lack a channel or have another width; return the number of graphs."""
        counts = set()
        for name, width in self.channels:
            shape = np.shape(embeddings[name]) if name in embeddings else None
            if shape is None or len(shape) != 2 or shape[1] != width:
                raise SchemaError(
                    f"The private summary needs channel {name!r} with {width} columns; "
                    f"found {'no such channel' if shape is None else f'shape {shape}'}. "
                    "Use the model it was released with."
                )
            counts.add(shape[0])
        if len(counts) != 1:
            raise SchemaError(f"All channels must describe the same graphs; found {sorted(counts)} rows.")
        return int(counts.pop())

    def to_json(self) -> dict[str, Any]:
        """Settings as plain values; the arrays of ``maps`` travel separately (:meth:`arrays`)."""
        return {
            "channels": [list(channel) for channel in self.channels],
            "frequencies": self.frequencies,
            "kappas": list(self.kappas),
            "seed": self.seed,
            "orthogonal": self.orthogonal,
            "maps": sorted(self.maps),
        }

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The arrays of the public maps under stable names."""
        return {
            f"map/{name}/{key}": value for name in sorted(self.maps) for key, value in self.maps[name].arrays().items()
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> JointFeatures:
        """Rebuild from :meth:`to_json` and :meth:`arrays`."""
        try:
            return cls(
                channels=tuple((str(name), int(width)) for name, width in value["channels"]),
                frequencies=int(value["frequencies"]),
                kappas=tuple(float(kappa) for kappa in value["kappas"]),
                seed=int(value["seed"]),
                orthogonal=bool(value["orthogonal"]),
                maps={
                    name: PublicMap.from_arrays(
                        {
                            key.removeprefix(f"map/{name}/"): a
                            for key, a in arrays.items()
                            if key.startswith(f"map/{name}/")
                        }
                    )
                    for name in value["maps"]
                },
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"The feature settings of the summary cannot be read: {error}") from error

    def digest(self) -> str:
        """sha256 of everything the map depends on, frequencies included; equal digests mean comparable
        summaries.
        """
        sha = hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode())
        for name, value in sorted(self.arrays().items()):
            sha.update(name.encode() + np.ascontiguousarray(value, "<f8").tobytes())
        for name, width in self.channels:
            mapped = self.maps[name].rank if name in self.maps else width
            for i in range(len(self.kappas)):
                rows = standard_frequencies(self.seed, f"{name}|{i}", mapped, self.frequencies, self.orthogonal)
                sha.update(np.ascontiguousarray(rows, "<f8").tobytes())
        return sha.hexdigest()
