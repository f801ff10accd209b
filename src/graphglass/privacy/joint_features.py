"""The paper's joint feature: one unit vector per graph over all spherical codes of a trained model."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphglass.errors import ParameterError, SchemaError
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
DEFAULT_KERNEL = "paper"  # only models of the paper preset have codes to release
# What a summary may ask its reader to compute: a few numbers in a file must not cost gigabytes.
WIDEST_CHANNEL = 4096
MOST_FREQUENCY_VALUES = 2**24


@dataclass(frozen=True)
class JointFeatures:
    r"""The public map :math:`\Phi` from the codes of a graph to one unit vector (eq:dp_joint).

    Channels and concentrations share the norm through uniform public weights, so that one sensitivity covers
    them all. Every setting is public and fixed before private graphs are looked at.

    Attributes
    ----------
    channels : tuple of (name, dimension)
        The codes, by name such as ``graph:64``.
    frequencies : int
        Frequencies M per channel and concentration; each gives two coordinates.
    kappas : tuple of float
        Concentrations of the kernel. The paper uses one, 4; several make one kernel with a narrow peak and a wide foot.
    seed : int
        Public seed of the frequencies.
    orthogonal : bool
        Orthogonal instead of independent frequencies.
    """

    kind: ClassVar[str] = "codes"

    channels: tuple[tuple[str, int], ...] = MAIN_CHANNELS
    frequencies: int = 128
    kappas: tuple[float, ...] = (4.0,)
    seed: int = PUBLIC_SEED
    orthogonal: bool = False

    def __post_init__(self) -> None:
        names, widths = self.part_names(), [width for _, width in self.channels]
        values = sum(widths) * self.frequencies * len(self.kappas)
        distinct = names and len(set(names)) == len(names) and all(1 <= width <= WIDEST_CHANNEL for width in widths)
        positive = self.kappas and all(math.isfinite(kappa) and kappa > 0 for kappa in self.kappas)
        few = f"positive, and at most {MOST_FREQUENCY_VALUES} values in all"
        for setting, expected, holds in (
            ("channels", f"distinct names with widths of 1 to {WIDEST_CHANNEL}", distinct),
            ("kappas", "positive numbers", positive),
            ("frequencies", few, self.frequencies >= 1 and values <= MOST_FREQUENCY_VALUES),
        ):
            if not holds:
                raise ParameterError("JointFeatures", setting, expected, getattr(self, setting))

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

    def part_names(self) -> list[str]:
        """The channels."""
        return [name for name, _ in self.channels]

    def contributions(
        self, rows: NDArray[np.float64], mean: NDArray[np.float64], sigma: float
    ) -> dict[str, NDArray[np.float64]]:
        """Minus the kernel density of feature rows (eq:dp_score), split by channel; ``sigma`` does not enter."""
        width = self.dimension // len(self.channels)
        parts = {name: slice(i * width, (i + 1) * width) for i, (name, _) in enumerate(self.channels)}
        return {name: -(rows[:, part] @ mean[part]) for name, part in parts.items()}

    def __call__(self, codes: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Features of graphs, float64 (n, P); row norms are one in real arithmetic."""
        self.check(codes)
        parts = [
            paired_features(np.asarray(codes[name], np.float64), math.sqrt(kappa) * frequencies)
            for name, kappa, frequencies in self._frequencies()
        ]
        return np.concatenate(parts, axis=1) / math.sqrt(len(parts))

    def _frequencies(self) -> Iterator[tuple[str, float, NDArray[np.float64]]]:
        """Every channel and concentration with its frequencies."""
        for name, width in self.channels:
            for i, kappa in enumerate(self.kappas):
                settings = f"{name}|{i}", width, self.frequencies, self.orthogonal
                yield name, kappa, standard_frequencies(self.seed, *settings)

    def check(self, codes: Mapping[str, NDArray[Any]]) -> None:
        """Refuse codes that lack a channel or have another width."""
        shapes = {name: np.shape(codes[name]) if name in codes else None for name, _ in self.channels}
        for name, width in self.channels:
            shape = shapes[name]
            if shape is None or len(shape) != 2 or shape[1] != width:
                raise SchemaError(
                    f"The private summary needs channel {name!r} with {width} columns; "
                    f"found {'no such channel' if shape is None else f'shape {shape}'}. "
                    "Use the model it was released with."
                )
        counts = {shape[0] for shape in shapes.values() if shape}
        if len(counts) != 1:
            raise SchemaError(f"All channels must describe the same graphs; found {sorted(counts)} rows.")

    def to_json(self) -> dict[str, Any]:
        """Settings as plain values."""
        return asdict(self) | {"channels": [list(channel) for channel in self.channels], "kappas": list(self.kappas)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> JointFeatures:
        """Rebuild from :meth:`to_json`."""
        return cls(
            channels=tuple((str(name), int(width)) for name, width in value["channels"]),
            frequencies=int(value["frequencies"]),
            kappas=tuple(float(kappa) for kappa in value["kappas"]),
            seed=int(value["seed"]),
            orthogonal=bool(value["orthogonal"]),
        )

    def digest(self) -> str:
        """sha256 of everything the map depends on, frequencies included; equal digests mean comparable summaries."""
        sha = hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode())
        for _, _, frequencies in self._frequencies():
            sha.update(np.ascontiguousarray(frequencies, "<f8").tobytes())
        return sha.hexdigest()
