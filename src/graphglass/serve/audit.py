"""The audit log: one line per change of the references, written before the change is answered."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

AUDIT = "references-audit.log"


def record_change(model: Path, action: str, ids: Sequence[str], references: int) -> None:
    """Append who-changed-what to the log beside the model, and make it durable. Graph content is not logged."""
    entry = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "action": action,
        "ids": list(ids),
        "references": references,
    }
    path = model.with_name(f"{model.name}.{AUDIT}")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, (json.dumps(entry) + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
