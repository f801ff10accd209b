"""Store the small model that later versions must read: ``python tests/models/make_model.py``.

Run it only after the format version was raised, and keep the models of earlier versions.
"""

import json
from pathlib import Path

from graphglass.detector.saved_form import KIND

from graphglass import GraphGlass, load_dataset
from graphglass.files.manifest import format_version

VERSION = format_version(KIND)

if __name__ == "__main__":
    molecules = load_dataset("MUTAG").without_labels()
    detector = GraphGlass().fit(molecules[:12], anomalies=molecules[20:22])
    folder = Path(__file__).with_name(f"version-{VERSION}")
    detector.save(folder)
    scores = detector.decision_function(molecules[30:36]).tolist()
    (folder.parent / f"version-{VERSION}-scores.json").write_text(json.dumps(scores) + "\n")
