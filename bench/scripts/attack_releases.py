"""The private release attacked through files: how far one record moves the sum, and what epsilon releases betray.

Files and odd records are those of `tests/privacy/release/neighbouring_files.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/privacy/release"))
import neighbouring_files as files

from graphglass.privacy.release.publish import GraphFeatures, exact_sum
from graphglass.privacy.release.records import read_records
from graphglass.privacy.sketch_features import SketchFeatures

DRAWS, EPSILON = 30, 1.0


def neighbour_rows(share: float, folder: Path) -> list[dict[str, Any]]:
    """One row per layout: how far the exact sum moves when an odd record takes the place of another; 2 is promised."""
    from attack import row

    features, found = GraphFeatures(SketchFeatures(dimension=64), None), []
    for name, (write, _) in files.FORMATS.items():
        moved = []
        for kind in files.KINDS_OF.get(name, files.KINDS):
            records = files.odd_records(name)
            sums = []
            for number, odd in enumerate([None, *records[: max(2, round(len(records) * share))]]):
                place = folder / f"{name} {kind} {number}"
                place.mkdir()
                source = write(place, files.KINDS[kind], *([] if odd is None else [odd]))
                sums.append(exact_sum(features, read_records(source, whole=False)))
            moved += [float(np.linalg.norm((other - sums[0]).astype(float))) / 2**30 for other in sums[1:]]
        measured = f"the sum moves by {max(moved):.2f} at most, of 2"
        found.append(row(f"odd records: {name}", len(moved), sum(value > 2 for value in moved), measured))
    return found


def release_rows(share: float, folder: Path) -> list[dict[str, Any]]:
    """One row per layout: the epsilon proven by the best test between many releases of two neighbouring files."""
    from attack import row

    draws, found = max(4, round(DRAWS * share)), []
    for name in files.FORMATS:
        place = folder / name
        place.mkdir()
        alarms, misses = files.attacked_releases(name, place, draws, EPSILON)
        proven = files.epsilon_proven(alarms, misses, draws)
        possible = files.epsilon_proven(0, 0, draws)
        measured = f"{alarms + misses} errors; epsilon >= {max(proven, 0):.2f} of {EPSILON:g} (at best {possible:.2f})"
        found.append(row(f"releases: {name}", 2 * draws, int(proven > EPSILON), measured))
    return found
