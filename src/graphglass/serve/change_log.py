"""The change log beside a model: every change of its references when it begins, and how it ended."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

LOG_NAME = "references-audit.log"


def record_change(model: Path, action: str, ids: Sequence[str], stage: str, references: int) -> None:
    """Append a line to the log and make it durable. Graph content is not logged.

    A change that was ``begun`` and neither ``done`` nor ``failed`` was cut off by a crash; the model may or may not
    hold it. The action is ``add`` or ``remove``, with ``-anomalies`` for known anomalies; ``references`` counts the
    graphs on that side.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    entry = {"time": now, "stage": stage, "action": action, "ids": list(ids), "references": references}
    path = model.with_name(f"{model.name}.{LOG_NAME}")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, (json.dumps(entry) + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
