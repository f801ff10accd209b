"""The paper's joint feature: one unit vector per graph over all spherical codes of a trained model."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphglass.channels.fourier import standard_frequencies
from graphglass.errors import ArtifactError, ParameterError, SchemaError

MAIN_CHANNELS = (("graph:64", 64), ("graph:128", 128), ("text:64", 64), ("text:128", 128))
PUBLIC_SEED = 20260
# What a summary may ask its reader to compute: a few numbers in a file must not cost gigabytes.
WIDEST_CHANNEL = 4096
MOST_FREQUENCY_VALUES = 2**24


@dataclass(frozen=True)
class JointFeatures:
    r"""The public map :math:`\Phi` from the codes of a graph to one unit vector (eq:dp_joint).

    Channels share the norm through uniform public weights, so one sensitivity covers them all. Every setting is
    public and fixed before private graphs are looked at. The defaults are the paper's.
    """

    kind: ClassVar[str] = "codes"

    channels: tuple[tuple[str, int], ...] = MAIN_CHANNELS  # the codes, by name such as ``graph:64``
    frequencies: int = 128  # frequencies M per channel; each gives two coordinates
    kappa: float = 4.0  # concentration of the kernel
    seed: int = PUBLIC_SEED  # public seed of the frequencies

    def __post_init__(self) -> None:
        names, widths = self.part_names(), [width for _, width in self.channels]
        values = sum(widths) * self.frequencies
        distinct = names and len(set(names)) == len(names) and all(1 <= width <= WIDEST_CHANNEL for width in widths)
        positive = math.isfinite(self.kappa) and self.kappa > 0
        few = f"positive, and at most {MOST_FREQUENCY_VALUES} values in all"
        for setting, expected, holds in (
            ("channels", f"distinct names with widths of 1 to {WIDEST_CHANNEL}", distinct),
            ("kappa", "a positive number", positive),
            ("frequencies", few, self.frequencies >= 1 and values <= MOST_FREQUENCY_VALUES),
        ):
            if not holds:
                raise ParameterError("JointFeatures", setting, expected, getattr(self, setting))

    @property
    def dimension(self) -> int:
        """Coordinates P of a feature."""
        return 2 * self.frequencies * len(self.channels)

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
            paired_features(np.asarray(codes[name], np.float64), math.sqrt(self.kappa) * frequencies)
            for name, frequencies in self._frequencies()
        ]
        return np.concatenate(parts, axis=1) / math.sqrt(len(parts))

    def _frequencies(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Every channel with its frequencies."""
        for name, width in self.channels:
            yield name, standard_frequencies(self.seed, f"{name}|0", width, self.frequencies)

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
        """Settings as plain values, in the form of release 0.1.0, so the digests of its summaries stay valid."""
        channels = [list(channel) for channel in self.channels]
        return {
            "channels": channels, "frequencies": self.frequencies, "kappas": [self.kappa], "seed": self.seed,
            "orthogonal": False,
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> JointFeatures:
        """Rebuild from :meth:`to_json`."""
        if len(value["kappas"]) != 1 or value["orthogonal"]:
            raise ArtifactError(
                "The summary uses a kernel with orthogonal frequencies, which only release 0.1.0 has. Score it there."
            )
        return cls(
            channels=tuple((str(name), int(width)) for name, width in value["channels"]),
            frequencies=int(value["frequencies"]),
            kappa=float(value["kappas"][0]),
            seed=int(value["seed"]),
        )

    def digest(self) -> str:
        """sha256 of everything the map depends on, frequencies included; equal digests mean comparable summaries."""
        sha = hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode())
        for _, frequencies in self._frequencies():
            sha.update(np.ascontiguousarray(frequencies, "<f8").tobytes())
        return sha.hexdigest()


def paired_features(rows: ArrayLike, frequencies: ArrayLike) -> NDArray[np.float64]:
    r"""Cosine and sine of every frequency, scaled to unit norm (eq:dp_rff).

    :math:`\phi(u) = M^{-1/2} [\cos(\omega_1^\top u), \ldots, \cos(\omega_M^\top u), \sin(\omega_1^\top u),
    \ldots]`. Because both halves of each pair are kept, the norm is one for every input, and with
    :math:`\omega \sim N(0, \kappa I)` the expected inner product of two features is :math:`\exp(-\kappa \|u
    - r\|^2 / 2)` (eq:dp_sphere_kernel). A row that is not finite gives a row that is not finite.

    Shapes: rows (n, dimension), frequencies (M, dimension) -> (n, 2 M).
    """
    frequencies = np.asarray(frequencies, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        angles = np.asarray(rows, np.float64) @ frequencies.T  # (n, M)
        return np.asarray(np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(len(frequencies)))
